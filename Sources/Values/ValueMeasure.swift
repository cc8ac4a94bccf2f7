extension Value {
    /// How many arrays and maps stand inside each other; 0 for a leaf.
    public var depth: Int {
        switch self {
        case .array(let items): 1 + items.reduce(0) { max($0, $1.depth) }
        case .map(let members): 1 + members.root.depth
        default: 0
        }
    }

    /// About how many bytes this takes in CBOR.
    ///
    /// - Parameter limit: where counting ends; a result above it says "more than that".
    /// - Complexity: proportional to the result.
    public func weight(limit: Int = .max) -> Int {
        var sum = 0
        addWeight(to: &sum, limit: limit)
        return sum
    }

    fileprivate func addWeight(to sum: inout Int, limit: Int) {
        guard sum <= limit else { return }
        switch self {
        case .null, .bool: sum += 1
        case .int(let value): sum += (-24...23).contains(value) ? 1 : 5
        case .double: sum += 9
        case .text(let text): sum += 1 + text.utf8.count
        case .bytes(let bytes): sum += 1 + bytes.count
        case .date: sum += 10
        case .uuid: sum += 19
        case .array(let items):
            sum += 1
            for item in items {
                guard sum <= limit else { return }
                item.addWeight(to: &sum, limit: limit)
            }
        case .map(let members):
            sum += 1
            members.root.addWeight(to: &sum, limit: limit)
        }
    }

    /// Equality as RFC 6902 §4.6 wants it of `test`: numbers are equal by value, whatever their
    /// kind.
    func matches(_ other: Value) -> Bool {
        switch (self, other) {
        case (.int(let int), .double(let double)), (.double(let double), .int(let int)):
            return Int64(exactly: double) == int
        case (.double(let left), .double(let right)):
            return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.matches($1) }
        case (.map(let left), .map(let right)):
            return left.count == right.count
                && left.allSatisfy { key, value in right[key].map { value.matches($0) } ?? false }
        default:
            return self == other
        }
    }
}

// A node is looked at in place: to take its members out one by one copies each.
extension MemberNode {
    /// How deep the deepest member is.
    fileprivate var depth: Int {
        var most = 0
        for index in members.indices { most = max(most, members[index].value.depth) }
        for index in children.indices { most = max(most, children[index].node.depth) }
        return most
    }

    fileprivate func addWeight(to sum: inout Int, limit: Int) {
        for index in members.indices {
            guard sum <= limit else { return }
            sum += 1 + members[index].key.utf8.count
            members[index].value.addWeight(to: &sum, limit: limit)
        }
        for index in children.indices {
            guard sum <= limit else { return }
            children[index].node.addWeight(to: &sum, limit: limit)
        }
    }
}
