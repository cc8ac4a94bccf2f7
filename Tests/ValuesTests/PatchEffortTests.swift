import Testing
import Values

/// A short patch may be much work: what a peer sends is bounded by the work, not by its bytes.
struct PatchEffortTests {
    static let list: Value = ["a": ["x", "y", "z"], "b": [], "text": "0123456789"]

    /// Each with what it counts: the elements that are shifted and the bytes that are moved.
    static let cases: [(operations: [Patch.Operation], effort: Int)] = [
        ([.add(["a", "0"], 1)], 3), ([.add(["a", "3"], 1)], 0), ([.add(["a", "-"], 1)], 0),
        ([.remove(["a", "0"])], 2), ([.remove(["a", "2"])], 0),
        ([.replace(["a", "0"], 1), .add(["c"], 1), .remove(["text"])], 0),
        ([.add(["a", "0"], 1), .add(["a", "0"], 2), .remove(["a", "0"])], 11),
        ([.move(from: ["a", "0"], to: ["a", "2"])], 2 + 2),
        ([.move(from: ["text"], to: ["other"])], 11),
        ([.move(from: ["text"], to: ["b", "0"]), .move(from: ["b", "0"], to: ["text"])], 22),
    ]

    @Test(arguments: cases)
    func `a patch is refused from what it counts on`(
        _ operations: [Patch.Operation], _ effort: Int
    ) throws {
        let patch = Patch(operations)
        let whole = try patch.applying(to: Self.list)
        let within = try patch.applying(to: Self.list, effort: effort)
        #expect(within == whole)
        guard effort > 0 else { return }
        let error = #expect(throws: PatchError.self) {
            try patch.applying(to: Self.list, effort: effort - 1)
        }
        #expect(error?.code == .tooLarge)
    }

    static func rows(_ numbers: Range<Int>) -> [Value] {
        numbers.map { .text("row \($0) of a list that has far too many of them, one by one") }
    }

    @Test(arguments: [(1_000, true), (9_000, false)])
    func `a difference that would be too much work replaces the array`(
        _ count: Int, _ isSmall: Bool
    ) throws {
        let tail = Self.rows(0..<count)
        let longer = Value.array(Self.rows(count..<(2 * count)) + tail)
        let shorter = Value.array(tail)
        for (old, new) in [(shorter, longer), (longer, shorter)] {
            let patch = Patch.difference(from: ["list": old, "n": 1], to: ["list": new, "n": 1])
            if isSmall {
                #expect(patch.operations.count == count)
            } else {
                let isReplaced = patch.operations == [.replace(["list"], new)]
                #expect(isReplaced, "it has \(patch.operations.count) operations")
            }
            let value = try patch.applying(to: ["list": old, "n": 1], effort: Patch.effortLimit)
            let isNew = value.value["list"] == new
            #expect(isNew)
        }
    }
}
