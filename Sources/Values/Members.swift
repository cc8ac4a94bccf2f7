// The members of a map stand in a tree whose nodes are shared between copies.
//
// A region may hold 100,000 rows, and each commit makes a new value of it while others still hold
// the one before: the writer compares both, the kernel keeps what a repeated visit must see, each
// mirror goes from one to the next. With a dictionary every such step copies the whole. Here a copy
// costs nothing, and a change of a copy makes anew only the nodes on the way from the root to the
// member: about one of 32 members for each level, and 100,000 members have four levels. What nobody
// else holds is changed in place.
//
// Two values of which one was made from the other therefore share almost all nodes, and to compare
// them is to walk both at once and to step over each node that is the same on both sides
// (`MemberWalk.swift`). So the difference costs what has changed, and nobody has to take notes of
// it: the sharing is the note. It holds for every map, a ``Table`` only makes use of it.
//
// The order is that of RFC 8949 §4.2.1, shorter keys first and keys of one length by their bytes:
// equal maps are written as equal bytes without sorting, and decimal numbers are in their order.
// Keys are compared byte by byte, so that two spellings of "é" are two keys, as they are for every
// peer in another language.
//
// Up to 32 members, which is nearly every map, the tree is one array in one piece of memory.

extension Value {
    /// The members of a map by key, in the order of the keys: shorter keys first, keys of one
    /// length by their bytes.
    ///
    /// - Complexity: a copy takes no time; finding, setting and removing are logarithmic, also in a
    ///   copy whose original is still in use.
    public struct Members: Sendable {
        var root = MemberNode()

        /// No members.
        public init() {}

        /// No members, and room for so many as one piece of memory holds.
        package init(capacity: Int) {
            root.members.reserveCapacity(Swift.min(capacity, MemberNode.capacity))
        }

        /// The members of a dictionary; of keys that are one dictionary key there is only one.
        public init(_ members: [String: Value]) {
            for (key, value) in members { self[key] = value }
        }
    }

    /// Makes a map of a dictionary.
    public static func map(_ members: [String: Value]) -> Value { .map(Members(members)) }
}

extension Value.Members {
    /// The member of a key; setting nil removes it.
    public subscript(key: String) -> Value? {
        get { root.value(of: key) }
        set {
            if let newValue {
                updateValue(newValue, forKey: key)
            } else {
                removeValue(forKey: key)
            }
        }
    }

    /// Sets a member and gives back what it was.
    @discardableResult
    public mutating func updateValue(_ value: Value, forKey key: String) -> Value? {
        var old: Value?
        if let right = root.set(key, value, isLast: true, old: &old) {
            let left = MemberNode.Child(root, from: "")
            root = MemberNode(children: [left, right])
        }
        return old
    }

    /// Removes a member and gives back what it was.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> Value? {
        // What is not there must not make a copy of the way to it.
        guard root.contains(key) else { return nil }
        let old = root.remove(key)
        while root.children.count == 1 { root = root.children[0].node }
        return old
    }

    /// These members and others; of a key that stands in both, what `combine` makes of the two
    /// values.
    public func merging(
        _ other: Value.Members, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows -> Value.Members {
        var all = self
        for (key, value) in other {
            all[key] = try all[key].map { try combine($0, value) } ?? value
        }
        return all
    }

    /// Changes a member where it stands.
    ///
    /// - Returns: what `change` returns; nil where there is no such member.
    mutating func edit<Result, Failure: Error>(
        _ key: String, _ change: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard root.contains(key) else { return nil }
        return try root.edit(key, change)
    }

    /// The keys in their order.
    public var keys: LazyMapCollection<Value.Members, String> { lazy.map(\.key) }

    /// The values in the order of their keys.
    public var values: LazyMapCollection<Value.Members, Value> { lazy.map(\.value) }

    /// How many members come before a key, whether it is there or not.
    ///
    /// - Complexity: logarithmic.
    public func rank(of key: String) -> Int { root.rank(of: key) }

    /// Whether both are one tree; if not, they may still be equal.
    func isIdentical(to other: Value.Members) -> Bool { root.isIdentical(to: other.root) }
}

extension Value.Members: RandomAccessCollection {
    /// A key and its value.
    public typealias Element = (key: String, value: Value)

    /// The place of the first member, 0.
    public var startIndex: Int { 0 }
    /// The place behind the last member.
    public var endIndex: Int { root.count }
    /// How many members there are.
    public var count: Int { root.count }

    /// The member at a place in the order.
    ///
    /// - Complexity: logarithmic.
    public subscript(position: Int) -> Element { root.member(at: position) }

    /// Goes through the members in the order of their keys.
    public func makeIterator() -> MemberIterator { MemberIterator(root) }
}

extension Value.Members: Hashable {
    /// Compares exactly, see ``Value``.
    ///
    /// - Complexity: proportional to what the two trees do not share.
    public static func == (left: Value.Members, right: Value.Members) -> Bool {
        guard left.count == right.count else { return false }
        var walk = MemberWalk(from: left.root, to: right.root)
        while let step = walk.next() {
            guard let old = step.old, let new = step.new, old == new else { return false }
        }
        return true
    }

    /// Equal maps feed equal bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (key, value) in self {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

extension Value.Members: ExpressibleByDictionaryLiteral {
    /// Makes members; of a key that stands twice the last counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        for (key, value) in elements { self[key] = value }
    }
}
