import Testing

@testable import Values

struct MembersTests {
    /// What every tree keeps to, whatever was done to it.
    static func check(_ members: Value.Members, isRightmostSmall: Bool = true) {
        func walk(_ node: MemberNode, isRoot: Bool, isLast: Bool) -> (depth: Int, count: Int) {
            let size = node.members.count + node.children.count
            #expect(node.members.isEmpty || node.children.isEmpty)
            #expect(size <= MemberNode.capacity)
            #expect(isRoot || size >= (isLast ? 1 : MemberNode.least))
            #expect(node.isLeaf || size >= 2)
            guard !node.isLeaf else { return (1, node.members.count) }
            var depths: Set<Int> = []
            var count = 0
            for (index, child) in node.children.enumerated() {
                let found = walk(
                    child.node, isRoot: false, isLast: isLast && index == node.children.count - 1)
                depths.insert(found.depth)
                count += found.count
                #expect(found.count == child.count)
            }
            #expect(depths.count == 1)
            return ((depths.first ?? 0) + 1, count)
        }
        let found = walk(members.root, isRoot: true, isLast: true)
        #expect(found.count == members.count)
        let keys = Array(members.keys)
        #expect(keys.count == members.count)
        for (key, next) in zip(keys, keys.dropFirst()) {
            #expect(KeyOrder(key, next) == .before)
        }
    }

    static func sorted(_ model: [String: Value]) -> [String] {
        model.keys.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    @Test(arguments: [40, 300, 5000])
    func `members behave like a dictionary, and copies stay as they were`(range: Int) {
        var random = RandomValues(seed: UInt64(range))
        var members = Value.Members()
        var model: [String: Value] = [:]
        var kept: [(Value.Members, [String: Value])] = []
        // Grows, shrinks to nothing and grows again.
        for turn in 0..<12_000 {
            let key = "\(random.below(range))"
            let isGrowing = (turn / 3000).isMultiple(of: 2)
            if random.below(10) < (isGrowing ? 7 : 2) {
                let value = Value.int(Int64(turn))
                let old = members.updateValue(value, forKey: key)
                #expect(old == model[key])
                model[key] = value
            } else {
                let old = members.removeValue(forKey: key)
                #expect(old == model.removeValue(forKey: key))
            }
            if turn.isMultiple(of: 997) {
                kept.append((members, model))
                Self.check(members)
            }
        }
        for key in Self.sorted(model) { members[key] = nil }
        #expect(members.isEmpty && members.root.isLeaf)
        for (members, model) in kept {
            #expect(members.count == model.count)
            #expect(Array(members.keys) == Self.sorted(model))
            #expect(members.allSatisfy { model[$0.key] == $0.value })
            for (place, key) in Self.sorted(model).enumerated() {
                #expect(members[place].key == key)
                #expect(members.rank(of: key) == place)
            }
        }
    }

    enum Order: CaseIterable { case rising, falling, shuffled }

    @Test(arguments: Order.allCases)
    func `a tree that grows in any order keeps its shape`(order: Order) {
        var keys = (0..<20_000).map { "\($0)" }
        var random = RandomValues(seed: 3)
        switch order {
        case .rising: break
        case .falling: keys.reverse()
        case .shuffled: keys.shuffle(using: &random)
        }
        var members = Value.Members()
        for key in keys { members[key] = .text(key) }
        Self.check(members)
        #expect(Array(members.keys) == (0..<20_000).map { "\($0)" })
        // Rising keys leave full nodes, others nodes that are half full at least.
        let leaves = members.root.leafCount
        #expect(leaves <= (order == .rising ? 20_000 / 32 + 1 : 20_000 / 16 + 1))
        for key in keys where key.hasSuffix("7") { members[key] = nil }
        Self.check(members)
        #expect(members.count == 18_000)
    }

    @Test func `keys are compared byte by byte, shorter ones first`() {
        let members: Value.Members = [
            "é": 1, "e\u{301}": 2, "b": 3, "a": 4, "aa": 5, "": 6, "id": 7, "日": 8,
        ]
        #expect(Array(members.keys) == ["", "a", "b", "aa", "id", "é", "e\u{301}", "日"])
        #expect(members["é"] == 1)
        #expect(members["e\u{301}"] == 2)
        #expect(members["c"] == nil)
        let long = (0..<40).map { String(repeating: "x", count: $0) + "a" + "yyyyyyyyy" }
        for (left, right) in zip(long, long.dropFirst()) {
            #expect(KeyOrder(left, right) == .before)
            #expect(KeyOrder(right, left) == .after)
        }
        for place in 0..<40 {
            var (low, high) = (Array(repeating: UInt8(97), count: 40), [UInt8]())
            high = low
            high[place] = 98
            low[39] = place == 39 ? 97 : 122
            let (left, right) = (
                String(decoding: low, as: UTF8.self), String(decoding: high, as: UTF8.self)
            )
            #expect(KeyOrder(left, right) == .before)
            #expect(KeyOrder(right, left) == .after)
            #expect(KeyOrder(left, left + "") == .same)
        }
    }

    @Test(arguments: 0..<20)
    func `a walk over two trees finds what differs and nothing else`(seed: Int) throws {
        var random = RandomValues(seed: UInt64(500 + seed))
        var model: [String: Value] = [:]
        for _ in 0..<random.below(4000) { model["\(random.below(6000))"] = random.leaf() }
        let old = Value.Members(model)
        var new = random.below(4) == 0 ? Value.Members(model.filter { $0.key < "5" }) : old
        for _ in 0..<random.below(200) {
            let key = "\(random.below(6000))"
            new[key] = random.below(2) == 0 ? nil : random.leaf()
        }
        var expected: [String] = []
        for key in Set(old.keys).union(new.keys) where old[key] != new[key] {
            expected.append(key)
        }
        var walk = MemberWalk(from: old.root, to: new.root)
        var found: [String] = []
        while let step = walk.next() {
            #expect(step.old == old[step.key] && step.new == new[step.key])
            found.append(step.key)
        }
        #expect(found == expected.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) })
        #expect((old == new) == expected.isEmpty)
        let patch = Patch.difference(from: .map(old), to: .map(new))
        let (result, inverse) = try patch.applying(to: .map(old))
        #expect(result == .map(new))
        #expect(try inverse.apply(to: result) == .map(old))
    }

    @Test func `equal members are equal and hash alike however they came about`() {
        var random = RandomValues(seed: 8)
        let keys = (0..<1000).map { "\($0)" }
        var (one, other) = (Value.Members(), Value.Members())
        for key in keys { one[key] = .text(key) }
        for key in keys.shuffled(using: &random) { other[key] = .text(key) }
        for key in keys where key.hasPrefix("9") {
            other[key] = nil
            other[key] = .text(key)
        }
        #expect(!one.isIdentical(to: other))
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        other["500"] = "else"
        #expect(one != other)
        other["500"] = nil
        #expect(one != other)
        #expect(Value.Members() == [:])
    }

    @Test func `what nobody else holds is changed in place`() throws {
        var members = Value.Members()
        for number in 0..<1000 { members["\(number)"] = ["count": 0] }
        let before = members.root.nodes
        for number in 0..<1000 {
            members["\(number)"] = ["count": 1]
            _ = members.edit("\(number)") { $0 = ["count": 2] }
        }
        #expect(members.root.nodes == before)
        let copy = members
        members["nothing"] = nil
        _ = members.edit("nothing") { $0 = 1 }
        #expect(members.isIdentical(to: copy))
        members["500"] = nil
        #expect(copy.count == 1000)
        // The root and one leaf.
        #expect(members.root.nodes.subtracting(copy.root.nodes).count == 2)
    }
}

extension MemberNode {
    var leafCount: Int { isLeaf ? 1 : children.reduce(0) { $0 + $1.node.leafCount } }

    /// Where the nodes lie in memory.
    var nodes: Set<UInt> {
        func address<Entry>(_ entries: [Entry]) -> UInt {
            entries.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        guard !isLeaf else { return [address(members)] }
        return children.reduce(into: [address(children)]) { $0.formUnion($1.node.nodes) }
    }
}
