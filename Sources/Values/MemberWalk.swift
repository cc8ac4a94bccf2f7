/// The members of a tree in their order.
public struct MemberIterator: IteratorProtocol {
    private var leaf: [Value.Members.Element]
    private var index = 0
    /// The branches above the leaf, each with the child that comes next.
    private var above: [(branch: MemberNode, next: Int)] = []

    init(_ root: MemberNode) {
        leaf = root.members
        if !root.isLeaf {
            above = [(root, 0)]
            descend()
        }
    }

    /// The next member.
    public mutating func next() -> Value.Members.Element? {
        if index == leaf.count {
            descend()
            guard index < leaf.count else { return nil }
        }
        defer { index += 1 }
        return leaf[index]
    }

    /// Goes to the leaf that comes next.
    private mutating func descend() {
        while let (branch, child) = above.popLast() {
            guard child < branch.children.count else { continue }
            above.append((branch, child + 1))
            let node = branch.children[child].node
            if node.isLeaf {
                leaf = node.members
                index = 0
                return
            }
            above.append((node, 0))
        }
    }
}

/// Two trees side by side, in the order of the keys: every member that stands in only one of them
/// or may be another one in both. Nodes and members that both trees share are stepped over.
///
/// A side stands before a node or before a member. Where both stand before the same node, both step
/// over it. Where one of the nodes is larger, its side goes into it; where both are as large, both
/// do. Where a member has been added on the left, one side stands inside of a node when the other
/// comes to it: that costs at most one node a level.
struct MemberWalk {
    private var left: Side
    private var right: Side
    /// How many nodes and members were looked at.
    private(set) var steps = 0

    struct Step {
        let key: String
        let old: Value?
        let new: Value?
    }

    init(from old: MemberNode, to new: MemberNode) {
        left = Side(old)
        right = Side(new)
        guard old.isIdentical(to: new) else { return }
        left.end()
        right.end()
    }

    mutating func next() -> Step? {
        while true {
            steps += 1
            switch (left.height, right.height) {
            case (nil, nil): return nil
            case (0, nil): return left.take { Step(key: $0.key, old: $0.value, new: nil) }
            case (nil, 0): return right.take { Step(key: $0.key, old: nil, new: $0.value) }
            case (0, 0):
                if let step = takeMember() { return step }
            case (let old?, let new?) where old == new && left.isBeforeSameNode(as: right):
                left.skip()
                right.skip()
            case (let old, let new):
                let (old, new) = (old ?? 0, new ?? 0)
                if old >= new { left.enter() }
                if new >= old { right.enter() }
            }
        }
    }

    /// The first of the two members; nil where both are the same.
    private mutating func takeMember() -> Step? {
        let (old, new) = (left.member, right.member)
        switch KeyOrder(old.key, new.key) {
        case .before: return left.take { Step(key: $0.key, old: $0.value, new: nil) }
        case .after: return right.take { Step(key: $0.key, old: nil, new: $0.value) }
        case .same:
            left.skip()
            right.skip()
            if old.value.isIdentical(to: new.value) { return nil }
            return Step(key: old.key, old: old.value, new: new.value)
        }
    }

    /// A place in one tree: before an entry of a node. Nothing is allocated for a tree of one leaf.
    private struct Side {
        private var node: MemberNode
        private var next = 0
        private var above: [(node: MemberNode, next: Int)] = []
        /// Of what stands next: 0 for a member, 1 for a leaf, nil at the end.
        private(set) var height: Int?

        init(_ root: MemberNode) {
            node = root
            var (node, height) = (root, 0)
            while let first = node.children.first {
                node = first.node
                height += 1
            }
            self.height = height
            leave()
        }

        var member: Value.Members.Element { node.members[next] }

        func isBeforeSameNode(as other: Side) -> Bool {
            node.children[next].node.isIdentical(to: other.node.children[other.next].node)
        }

        mutating func take(_ step: (Value.Members.Element) -> Step) -> Step {
            defer { skip() }
            return step(member)
        }

        mutating func enter() {
            above.append((node, next + 1))
            node = node.children[next].node
            next = 0
            height = height.map { $0 - 1 }
            leave()
        }

        mutating func skip() {
            next += 1
            leave()
        }

        mutating func end() {
            above = []
            height = nil
        }

        /// Leaves every node that has come to its end.
        private mutating func leave() {
            while next >= node.members.count + node.children.count {
                guard let up = above.popLast() else {
                    height = nil
                    return
                }
                (node, next) = up
                height = height.map { $0 + 1 }
            }
        }
    }
}

extension Value {
    /// Whether both are equal for sure, at no cost: a container is only if it is the same memory.
    func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.map(let left), .map(let right)): left.isIdentical(to: right)
        case (.array(let left), .array(let right)):
            left.count == right.count
                && left.withUnsafeBufferPointer { left in
                    right.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress }
                }
        case (.map, _), (.array, _): false
        default: self == other
        }
    }
}
