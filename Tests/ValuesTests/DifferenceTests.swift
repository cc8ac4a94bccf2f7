import Glibc
import Testing
import Values

struct DifferenceTests {
    static func row(_ id: Int, _ name: String = "a slideshow of the summer") -> Value {
        ["id": .int(Int64(id)), "name": .text(name), "loop": true]
    }

    static let rows: [Value] = (0..<50).map { row($0) }

    static func edited(_ edit: (inout [Value]) -> Void) -> [Value] {
        var copy = rows
        edit(&copy)
        return copy
    }

    static let moved = edited { $0.insert($0.remove(at: 40), at: 3) }

    static let small: [(old: Value, new: Value, expected: [Patch.Operation])] = [
        (["a": 1, "b": 2], ["a": 1, "b": 2], []),
        (
            ["a": "12345678901234567890", "b": 2], ["a": "12345678901234567890", "b": 3],
            [.replace(["b"], 3)]
        ),
        (.array(rows), .array(rows + [row(50)]), [.add(["50"], row(50))]),
        (.array(rows), .array(edited { $0.insert(row(99), at: 7) }), [.add(["7"], row(99))]),
        (.array(rows), .array(edited { $0.remove(at: 7) }), [.remove(["7"])]),
        (.array(rows), .array(edited { $0[9] = row(9, "b") }), [.replace(["9", "name"], "b")]),
        (.array(rows), .array(moved), [.move(from: ["40"], to: ["3"])]),
        (
            .array(rows), .array(edited { $0.append($0.remove(at: 0)) }),
            [.move(from: ["0"], to: ["49"])]
        ),
        (
            .array(rows),
            .array(
                edited { rows in
                    rows.remove(at: 48)
                    rows[20] = row(20, "x")
                    rows.insert(row(77), at: 1)
                }),
            [.remove(["48"]), .add(["1"], row(77)), .replace(["21", "name"], "x")]
        ),
        (
            ["a", "bbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccc", "dddddddddddd"],
            ["bbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccc", "dddddddddddd", "a"],
            [.move(from: ["0"], to: ["3"])]
        ),
        ([1, 2, 3], [4, 5, 6], [.replace([], [4, 5, 6])]),
        (["a": 1], 5, [.replace([], 5)]),
        (1, 1.0, [.replace([], 1.0)]),
        (0.0, -0.0, [.replace([], -0.0)]),
        ("é", "e\u{301}", [.replace([], "e\u{301}")]),
    ]

    @Test(arguments: small.indices)
    func `the usual changes are small patches`(index: Int) throws {
        let (old, new, expected) = Self.small[index]
        let patch = Patch.difference(from: old, to: new)
        #expect(patch.operations == expected)
        #expect(try patch.apply(to: old) == new)
    }

    /// The usual changes of a list, and how many operations each takes.
    static let usual: [(name: String, operations: Int, edit: @Sendable (inout [Value]) -> Void)] = [
        ("append", 1, { $0.append(row(99_999)) }),
        ("insert at the start", 1, { $0.insert(row(99_999), at: 0) }),
        ("insert", 1, { $0.insert(row(99_999), at: $0.count / 2) }),
        ("remove the first", 1, { $0.removeFirst() }),
        ("remove", 1, { $0.remove(at: $0.count / 2) }),
        ("remove the last", 1, { $0.removeLast() }),
        ("move up", 1, { $0.insert($0.removeLast(), at: 1) }),
        ("move down", 1, { $0.append($0.remove(at: 2)) }),
        ("swap neighbours", 1, { $0.swapAt(7, 8) }),
        ("swap two", 2, { $0.swapAt(3, $0.count - 3) }),
        ("one field", 1, { $0[9] = row(9, "b") }),
        (
            "one field of three", 3,
            { rows in for place in [1, 20, 41] { rows[place] = row(place, "b") } }
        ),
        ("nothing", 0, { _ in }),
    ]

    /// Rows that are recognised by their ids, and rows without one.
    @Test(arguments: usual.indices, [true, false])
    func `a usual change takes its own bytes, whatever the size`(index: Int, hasIDs: Bool) throws {
        let change = Self.usual[index]
        func patch(rows count: Int) throws -> Patch {
            var rows = (0..<count).map { Self.row($0) }
            let before = rows
            change.edit(&rows)
            func list(_ rows: [Value]) -> Value {
                let key = hasIDs ? "id" : "number"
                return ["rows": .array(rows.map { [key: $0["id"]!, "name": $0["name"]!] })]
            }
            let patch = Patch.difference(from: list(before), to: list(rows))
            let (result, inverse) = try patch.applying(to: list(before))
            #expect(result == list(rows))
            #expect(try inverse.apply(to: result) == list(before))
            #expect(inverse.operations.count == change.operations, "\(change.name)")
            return patch
        }
        let (small, large) = (try patch(rows: 50), try patch(rows: 3000))
        #expect(small.operations.count == change.operations, "\(change.name)")
        #expect(large.operations.count == change.operations, "\(change.name)")
        // A path, a row at most, and the words of the operation.
        let bytes = large.value.json().utf8.count
        #expect(bytes <= 2 + 120 * change.operations, "\(change.name) took \(bytes) bytes")
    }

    /// The same in each run, and some that nobody has seen yet.
    static let seeds = Array(0..<40) + (0..<10).map { _ in Int.random(in: 1000..<1_000_000_000) }

    @Test(arguments: seeds)
    func `a difference leads to the new value and its inverse back`(seed: Int) throws {
        var random = RandomValues(seed: UInt64(seed))
        for _ in 0..<100 {
            let old = random.value()
            let new = random.below(4) == 0 ? random.value() : random.changed(old)
            let patch = Patch.difference(from: old, to: new)
            let (result, inverse) = try patch.applying(to: old)
            #expect(result == new)
            #expect(try inverse.apply(to: result) == old)
        }
    }

    @Test(arguments: 0..<20)
    func `shuffled, cut and grown lists arrive`(seed: Int) throws {
        var random = RandomValues(seed: UInt64(1000 + seed))
        for _ in 0..<50 {
            let old = (0..<random.below(30)).map { Self.row($0) }
            var new = old.shuffled(using: &random).dropLast(random.below(5)) + []
            for _ in 0..<random.below(4) {
                new.insert(Self.row(random.below(40), "new"), at: random.below(new.count + 1))
            }
            // Beside a heavy element, replacing the whole never pays.
            let weight = Value.text(String(repeating: "x", count: 10_000))
            let patch = Patch.difference(from: .array(old + [weight]), to: .array(new + [weight]))
            #expect(try patch.apply(to: .array(old + [weight])) == .array(new + [weight]))
            #expect(
                !patch.operations.contains { if case .replace([], _) = $0 { true } else { false } })
        }
    }

    /// The processor's seconds of this thread, which others that run beside do not lengthen.
    private static func seconds(of work: () throws -> Void) rethrows -> Double {
        func spent() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let before = spent()
        try work()
        return spent() - before
    }

    @Test func `long lists with every row moved stay near linear`() throws {
        func spent(_ count: Int) throws -> Double {
            let old = (0..<count).map { Self.row($0) }
            var random = RandomValues(seed: 7)
            var rotated = old
            rotated.append(rotated.removeFirst())
            rotated[count / 2] = Self.row(count / 2 + 1, "b")
            let shuffled = old.shuffled(using: &random)
            var patches: [Patch] = []
            let time = Self.seconds {
                for new in [rotated, shuffled] {
                    patches.append(.difference(from: .array(old), to: .array(new)))
                }
            }
            #expect(patches[0].operations.count == 2)
            #expect(try patches[1].apply(to: .array(old)) == .array(shuffled))
            return time
        }
        // Eight times an eighth of the rows, as long as all of them at once: what disturbs the one
        // disturbs the other. Work in proportion is a ratio of 1, quadratic work one of 8.
        var few = try (0..<4).reduce(0.0) { sum, _ in try sum + spent(1_250) }
        let many = try spent(10_000)
        few += try (0..<4).reduce(0.0) { sum, _ in try sum + spent(1_250) }
        #expect(many <= 3 * few, "\(many) s to \(few) s")
    }
}
