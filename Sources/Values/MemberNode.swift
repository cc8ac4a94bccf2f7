/// A node of the tree of ``Value/Members``: a leaf has members, a branch has children, and only an
/// empty tree has neither. Both are arrays, which are shared until they are changed.
///
/// All leaves are at one depth. No node has more than `capacity` entries, and but for the last of
/// each level (which grows by appending) and for the root none has less than a quarter of it.
struct MemberNode: Sendable {
    var members: [Value.Members.Element] = []
    var children: [Child] = []

    static let capacity = 32
    static let least = capacity / 4

    struct Child: Sendable {
        var node: MemberNode
        var count: Int
        /// No key of this child comes before it, and each of the child on the left does. Nothing
        /// looks at that of the first child.
        var first: String

        init(_ node: MemberNode, from first: String) {
            self.node = node
            self.count = node.count
            self.first = first
        }
    }

    var isLeaf: Bool { children.isEmpty }

    /// Members and children, of which one is empty.
    private var size: Int { members.count + children.count }

    var count: Int { isLeaf ? members.count : children.reduce(0) { $0 + $1.count } }

    /// Whether both are the same memory, hence equal.
    func isIdentical(to other: MemberNode) -> Bool {
        isLeaf
            ? other.isLeaf && Self.isSame(members, other.members)
            : Self.isSame(children, other.children)
    }

    private static func isSame<Entry>(_ left: [Entry], _ right: [Entry]) -> Bool {
        left.count == right.count
            && left.withUnsafeBufferPointer { left in
                right.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress }
            }
    }
}

extension MemberNode {
    /// The place of a key in a leaf, or where it would stand.
    private func place(of key: String) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            switch KeyOrder(key, members[middle].key) {
            case .same: return (middle, true)
            case .before: high = middle
            case .after: low = middle + 1
            }
        }
        return (low, false)
    }

    /// The child of a branch in which a key stands or would stand.
    private func child(of key: String) -> Int {
        var (low, high) = (1, children.count)
        while low < high {
            let middle = (low + high) / 2
            if KeyOrder(key, children[middle].first) == .before {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low - 1
    }

    func value(of key: String) -> Value? {
        guard isLeaf else { return children[child(of: key)].node.value(of: key) }
        let place = place(of: key)
        return place.isThere ? members[place.index].value : nil
    }

    func contains(_ key: String) -> Bool {
        isLeaf ? place(of: key).isThere : children[child(of: key)].node.contains(key)
    }

    func rank(of key: String) -> Int {
        guard !isLeaf else { return place(of: key).index }
        let child = child(of: key)
        return children[..<child].reduce(children[child].node.rank(of: key)) { $0 + $1.count }
    }

    func member(at position: Int) -> Value.Members.Element {
        guard !isLeaf else { return members[position] }
        var position = position
        var index = 0
        while position >= children[index].count, index < children.count - 1 {
            position -= children[index].count
            index += 1
        }
        return children[index].node.member(at: position)
    }
}

extension MemberNode {
    /// Sets a member. What grows by appending, as rows with rising ids do, leaves full nodes
    /// behind.
    ///
    /// - Parameter isLast: whether no node of this level stands on the right.
    /// - Returns: what no longer had room, to stand right of this node.
    mutating func set(
        _ key: String, _ value: Value, isLast: Bool, old: inout Value?
    ) -> Child? {
        if isLeaf {
            // What is read or made in its order goes behind all others.
            let isBehind = members.last.map { KeyOrder(key, $0.key) == .after } ?? true
            let place = isBehind ? (index: members.count, isThere: false) : place(of: key)
            if place.isThere {
                old = members[place.index].value
                members[place.index].value = value
                return nil
            }
            if isBehind {
                members.append((key, value))
            } else {
                members.insert((key, value), at: place.index)
            }
            guard size > Self.capacity else { return nil }
            let isAppended = isLast && place.index == members.count - 1
            return split(at: isAppended ? Self.capacity : size / 2)
        } else {
            let index = child(of: key)
            let right = children[index].node.set(
                key, value, isLast: isLast && index == children.count - 1, old: &old)
            if old == nil { children[index].count += 1 }
            guard let right else { return nil }
            children[index].count -= right.count
            children.insert(right, at: index + 1)
            guard size > Self.capacity else { return nil }
            let isAppended = isLast && index == children.count - 2
            return split(at: isAppended ? Self.capacity - 1 : size / 2)
        }
    }

    private mutating func split(at index: Int) -> Child {
        if isLeaf {
            let right = MemberNode(members: Array(members[index...]))
            members.removeSubrange(index...)
            return Child(right, from: right.members[0].key)
        }
        let right = MemberNode(children: Array(children[index...]))
        children.removeSubrange(index...)
        return Child(right, from: right.children[0].first)
    }

    /// Changes a member that is there.
    mutating func edit<Result, Failure: Error>(
        _ key: String, _ change: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard !isLeaf else {
            let place = place(of: key)
            return place.isThere ? try change(&members[place.index].value) : nil
        }
        return try children[child(of: key)].node.edit(key, change)
    }

    mutating func remove(_ key: String) -> Value? {
        guard !isLeaf else {
            let place = place(of: key)
            return place.isThere ? members.remove(at: place.index).value : nil
        }
        let index = child(of: key)
        guard let old = children[index].node.remove(key) else { return nil }
        children[index].count -= 1
        if children[index].node.size < Self.least { mend(index) }
        return old
    }

    /// A child that has become small is joined with one beside it, or shares with it.
    private mutating func mend(_ index: Int) {
        guard children.count > 1 else { return }
        let left = min(index, children.count - 2)
        var right = children.remove(at: left + 1)
        if !right.node.isLeaf { right.node.children[0].first = right.first }
        children[left].node.members += right.node.members
        children[left].node.children += right.node.children
        children[left].count += right.count
        let size = children[left].node.size
        guard size > Self.capacity else { return }
        let half = children[left].node.split(at: size / 2)
        children[left].count -= half.count
        children.insert(half, at: left + 1)
    }
}
