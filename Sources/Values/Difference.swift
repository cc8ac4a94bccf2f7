extension Patch {
    /// A patch that leads from one value to another.
    ///
    /// It is small for what usually changes: a field, elements that are appended, inserted, removed
    /// or moved. Elements of arrays that are maps with a member `id` are recognised by it, others
    /// by their whole content. Wherever changes would take more bytes than the new value, the value
    /// is replaced.
    ///
    /// - Complexity: near linear in the size of both values, even where every element has moved.
    public static func difference(from old: Value, to new: Value) -> Patch {
        var comparison = Comparison()
        comparison.compare(old, new)
        return Patch(comparison.operations)
    }
}

/// A patch while it is made.
struct Comparison {
    private(set) var operations: [Patch.Operation] = []
    /// About how many bytes the operations take.
    private var cost = 0
    private var path = Pointer()
    private var pathCost = 0
    /// The effort of the changes of arrays so far.
    private var effort = 0

    /// What an operation takes beside its path and its value.
    private static let operationCost = 12

    mutating func compare(_ old: Value, _ new: Value) {
        // Most of a region is what it was, in the same memory.
        if old.isIdentical(to: new) { return }
        let mark = (count: operations.count, cost: cost)
        switch (old, new) {
        case (.map(let old), .map(let new)): compareMembers(old, new)
        case (.array(let old), .array(let new)): compareItems(old, new)
        default:
            append(.replace(path, new), new)
            return
        }
        let spent = cost - mark.cost
        let whole = Self.operationCost + pathCost
        if spent > whole, new.weight(limit: spent - whole) < spent - whole {
            operations.removeSubrange(mark.count...)
            cost = mark.cost
            append(.replace(path, new), new)
        }
    }

    mutating func append(_ operation: Patch.Operation, _ value: Value? = nil) {
        operations.append(operation)
        cost += Self.operationCost + pathCost + (value?.weight() ?? 0)
    }

    /// Works one step further in.
    mutating func within<Result>(
        _ token: String, _ body: (inout Comparison) -> Result
    ) -> Result {
        let width = token.utf8.count + 1
        path.tokens.append(token)
        pathCost += width
        defer {
            path.tokens.removeLast()
            pathCost -= width
        }
        return body(&self)
    }

    mutating func add(_ value: Value, at token: String) {
        within(token) { $0.append(.add($0.path, value), value) }
    }

    mutating func remove(at token: String) {
        within(token) { $0.append(.remove($0.path)) }
    }

    mutating func move(from: Int, to target: Int) {
        let source = path.appending("\(from)")
        within("\(target)") { $0.append(.move(from: source, to: $0.path)) }
    }

    private mutating func compareMembers(_ old: Value.Members, _ new: Value.Members) {
        var walk = MemberWalk(from: old.root, to: new.root)
        while let change = walk.next() {
            switch (change.old, change.new) {
            case (let old?, let new?): within(change.key) { $0.compare(old, new) }
            case (nil, let new?): add(new, at: change.key)
            default: remove(at: change.key)
            }
        }
    }

    private mutating func compareItems(_ old: [Value], _ new: [Value]) {
        let shorter = min(old.count, new.count)
        var start = 0
        while start < shorter, old[start] == new[start] { start += 1 }
        var tail = 0
        while tail < shorter - start, old[old.count - 1 - tail] == new[new.count - 1 - tail] {
            tail += 1
        }
        let plan = ArrayPlan(
            old: old[start..<(old.count - tail)], new: new[start..<(new.count - tail)])
        effort += plan.effort(in: old.count - start)
        guard effort <= Patch.effortLimit else {
            append(.replace(path, .array(new)), .array(new))
            return
        }
        for index in plan.removals { remove(at: "\(start + index)") }
        for (from, target) in plan.moves { move(from: start + from, to: start + target) }
        for index in plan.additions {
            add(new[start + index], at: "\(start + index)")
        }
        for change in plan.changes {
            let (before, after) = (old[start + change.old], new[start + change.new])
            within("\(start + change.new)") { $0.compare(before, after) }
        }
    }
}
