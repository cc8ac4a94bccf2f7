extension Patch {
    /// The value after all changes.
    ///
    /// - Throws: ``PatchError`` of the first change that cannot be made; nothing has changed then.
    /// - Complexity: one copy of each array and map on the way to a change, once a patch.
    public func apply(to value: Value) throws(PatchError) -> Value {
        var undo: [Operation]? = nil
        return try run(on: value, undo: &undo, effort: .max)
    }

    /// The patch that leads back from the value after this patch to the value before it.
    ///
    /// - Throws: ``PatchError`` if this patch does not apply to the value.
    public func inverse(on value: Value) throws(PatchError) -> Patch {
        try applying(to: value).inverse
    }

    /// The value after all changes, and the patch that leads back.
    ///
    /// The inverse is made while the patch is applied, of what each change takes away. So it costs
    /// what the patch costs, whatever the size of the value, it is exact where a difference may
    /// take another way, and it leads back for patches that no difference has made.
    ///
    /// - Throws: ``PatchError`` of the first change that cannot be made; nothing has changed then.
    public func applying(to value: Value) throws(PatchError) -> (value: Value, inverse: Patch) {
        try applying(to: value, effort: .max)
    }

    /// As ``applying(to:)``, for a patch of somebody who is not trusted: it is refused when it
    /// takes more than this effort (see ``effortLimit``).
    package func applying(
        to value: Value, effort: Int
    ) throws(PatchError) -> (value: Value, inverse: Patch) {
        var undo: [Operation]? = []
        let result = try run(on: value, undo: &undo, effort: effort)
        return (result, Patch((undo ?? []).reversed()))
    }

    /// `undo` collects what takes each change back, in the order of the changes.
    private func run(
        on value: Value, undo: inout [Operation]?, effort: Int
    ) throws(PatchError) -> Value {
        var editor = PatchEditor(value: value, undo: undo, effortLimit: effort)
        for (index, operation) in operations.enumerated() {
            do throws(PatchError) {
                try editor.perform(operation)
            } catch {
                var error = error
                error.operation = index
                throw error
            }
        }
        undo = editor.undo
        return editor.value
    }
}

extension Value {
    /// The value after all changes of a patch.
    ///
    /// - Throws: ``PatchError`` of the first change that cannot be made.
    public func applying(_ patch: Patch) throws(PatchError) -> Value {
        try patch.apply(to: self)
    }
}

/// A value in the middle of a patch. It works on a copy, so that a refused patch leaves no trace.
private struct PatchEditor {
    var value: Value
    var undo: [Patch.Operation]?
    let effortLimit: Int
    private var effort = 0
    private var copied = 0

    init(value: Value, undo: [Patch.Operation]?, effortLimit: Int) {
        self.value = value
        self.undo = undo
        self.effortLimit = effortLimit
    }

    mutating func perform(_ operation: Patch.Operation) throws(PatchError) {
        switch operation {
        case .add(let path, let new):
            let added = try add(new, at: path)
            undo?.append(added.undone)
        case .remove(let path):
            let old = try remove(at: path)
            undo?.append(.add(path, old))
        case .replace(let path, let new):
            try checkDepth(new, at: path)
            let old = try replace(at: path, with: new)
            undo?.append(.replace(path, old))
        case .move(let from, let target):
            try move(from: from, to: target)
        case .copy(let from, let target):
            let new = try find(from)
            copied += new.weight(limit: Patch.copyLimit)
            guard copied <= Patch.copyLimit else {
                throw PatchError(.tooLarge, at: from, "the copies of this patch are too large")
            }
            let added = try add(new, at: target)
            undo?.append(added.undone)
        case .test(let path, let expected):
            let found = try find(path)
            guard found.matches(expected) else {
                throw PatchError(.testFailed, at: path, "the value is not the expected one")
            }
        }
    }

    private mutating func move(from: Pointer, to target: Pointer) throws(PatchError) {
        let moved = try find(from)
        if from == target { return }
        if effortLimit < .max { try spend(moved.weight(limit: effortLimit), at: from) }
        guard !target.isWithin(from) else {
            throw PatchError(.impossible, at: target, "nothing moves into itself")
        }
        let whole = target.isRoot ? value : nil
        _ = try remove(at: from)
        let added = try add(moved, at: target)
        guard undo != nil else { return }
        if let whole {
            undo?.append(.replace(target, whole))
        } else if added.old != nil {
            // Taken back in the reverse order: first what was overwritten, then what was moved.
            undo?.append(.add(from, moved))
            undo?.append(added.undone)
        } else {
            undo?.append(.move(from: added.place, to: from))
        }
    }

    private func find(_ path: Pointer) throws(PatchError) -> Value {
        guard let found = path.resolve(in: value) else {
            throw PatchError(.notFound, at: path, "nothing is there")
        }
        return found
    }

    private mutating func spend(_ amount: Int, at path: Pointer) throws(PatchError) {
        effort += amount
        guard effort <= effortLimit else {
            throw PatchError(
                .tooLarge, at: path,
                "the patch moves too much: send the array anew, or change it in smaller steps")
        }
    }

    private func checkDepth(_ new: Value, at path: Pointer) throws(PatchError) {
        guard path.tokens.count + new.depth <= Value.depthLimit else {
            throw PatchError(.tooLarge, at: path, "the value would be too deep")
        }
    }

    /// What an `add` did: where the value is now, and what it took the place of.
    private struct Added {
        var place: Pointer
        var old: Value?
        /// How many elements were shifted.
        var shifted = 0

        var undone: Patch.Operation {
            if let old { .replace(place, old) } else { .remove(place) }
        }
    }

    private mutating func add(_ new: Value, at path: Pointer) throws(PatchError) -> Added {
        try checkDepth(new, at: path)
        guard let last = path.tokens.last else {
            defer { value = new }
            return Added(place: path, old: value)
        }
        let added = try edit(parentOf: path) { parent throws(PatchError) in
            if let count = parent.itemCount {
                let index = last == "-" ? count : try Self.index(last, below: count + 1, at: path)
                parent.changeItems { $0.insert(new, at: index) }
                return Added(
                    place: Pointer(path.tokens.dropLast() + ["\(index)"]), old: nil,
                    shifted: count - index)
            }
            guard var members = parent.takeMembers() else {
                throw PatchError(.notFound, at: path, "a \(parent.kind) has no members")
            }
            let old = members.updateValue(new, forKey: last)
            parent = .map(members)
            return Added(place: path, old: old)
        }
        try spend(added.shifted, at: path)
        return added
    }

    private mutating func remove(at path: Pointer) throws(PatchError) -> Value {
        guard let last = path.tokens.last else {
            throw PatchError(.impossible, at: path, "the whole value cannot be removed")
        }
        let (old, shifted) = try edit(parentOf: path) {
            parent throws(PatchError) -> (Value, Int) in
            if let count = parent.itemCount {
                let index = try Self.index(last, below: count, at: path)
                return (parent.changeItems { $0.remove(at: index) }, count - 1 - index)
            }
            guard var members = parent.takeMembers() else {
                throw PatchError(.notFound, at: path, "a \(parent.kind) has no members")
            }
            let old = members.removeValue(forKey: last)
            parent = .map(members)
            guard let old else { throw PatchError(.notFound, at: path, "nothing is there") }
            return (old, 0)
        }
        try spend(shifted, at: path)
        return old
    }

    private mutating func replace(at path: Pointer, with new: Value) throws(PatchError) -> Value {
        try Self.descend(&value, path, path.tokens[...]) { place throws(PatchError) in
            let old = place
            place = new
            return old
        }
    }

    private mutating func edit<Result>(
        parentOf path: Pointer, _ body: (inout Value) throws(PatchError) -> Result
    ) throws(PatchError) -> Result {
        try Self.descend(&value, path, path.tokens.dropLast(), body)
    }

    /// Walks in place: each container is taken out of its value while its child changes, so that no
    /// second reference forces a copy.
    private static func descend<Result>(
        _ value: inout Value, _ path: Pointer, _ tokens: ArraySlice<String>,
        _ body: (inout Value) throws(PatchError) -> Result
    ) throws(PatchError) -> Result {
        guard let token = tokens.first else { return try body(&value) }
        if let count = value.itemCount {
            let index = try index(token, below: count, at: path)
            var items = value.takeItems()
            defer { value = .array(items) }
            return try descend(&items[index], path, tokens.dropFirst(), body)
        }
        guard var members = value.takeMembers() else {
            throw PatchError(.notFound, at: path, "a \(value.kind) has no members")
        }
        defer { value = .map(members) }
        let result = try members.edit(token) { member throws(PatchError) in
            try descend(&member, path, tokens.dropFirst(), body)
        }
        guard let result else {
            throw PatchError(.notFound, at: path, "there is no \"\(token)\"")
        }
        return result
    }

    private static func index(
        _ token: String, below end: Int, at path: Pointer
    ) throws(PatchError) -> Int {
        guard let index = Pointer.index(token) else {
            throw PatchError(.badIndex, at: path, "\"\(token)\" is no index")
        }
        guard index < end else {
            throw PatchError(.notFound, at: path, "index \(index) is beyond the end")
        }
        return index
    }
}

// A `switch` over a place keeps a second reference to what stands there until it ends, although the
// case has put null in its place: each change of an array copied the whole of it. So what is to be
// changed is taken out by functions that the optimizer leaves alone, outside of any `switch`.
extension Value {
    /// How many items an array has.
    @inline(never)
    fileprivate var itemCount: Int? {
        guard case .array(let items) = self else { return nil }
        return items.count
    }

    /// The items of an array, in whose place stands null.
    @inline(never)
    fileprivate mutating func takeItems() -> [Value] {
        guard case .array(let items) = self else { return [] }
        self = .null
        return items
    }

    /// The members of a map, in whose place stands null.
    @inline(never)
    fileprivate mutating func takeMembers() -> Members? {
        guard case .map(let members) = self else { return nil }
        self = .null
        return members
    }

    fileprivate mutating func changeItems<Result>(_ change: (inout [Value]) -> Result) -> Result {
        var items = takeItems()
        defer { self = .array(items) }
        return change(&items)
    }
}
