import Testing
import Values

@testable import Kernel

/// Of the parts of a region that are followed, a change finds those that it changes.
@Suite struct FeedsTests {
    private let slot = RegionSlot(name: "r", id: 0, initial: .null, owned: false, depth: 8)

    private func feeds(_ pointers: [Pointer?]) -> (Feeds, [Feed]) {
        let feeds = Feeds()
        let all = pointers.enumerated().map { index, pointer in
            Feed(name: "r", id: index, slot: slot, pointer: pointer)
        }
        for feed in all { feeds.insert(feed) }
        return (feeds, all)
    }

    @Test func `whatever a patch changes is found`() {
        var source = PartPatchTests.Source(state: 11)
        let (feeds, all) = feeds([nil] + PartPatchTests.pointers + [["1"], ["0", "0"], ["2"]])
        var (changed, passed) = (0, 0)
        for _ in 0..<4_000 {
            let (before, after, patch) = source.change()
            let found = feeds.touched(by: patch)
            #expect(found.map(\.id) == found.map(\.id).sorted())
            #expect(Set(found.map(\.id)).count == found.count)
            for feed in all where !found.contains(where: { $0 === feed }) {
                passed += 1
                #expect(
                    feed.content(of: before) == feed.content(of: after),
                    "\(feed.pointer ?? []) of \(before.json()) by \(patch.value.json())")
            }
            changed += found.count { $0.content(of: before) != $0.content(of: after) }
        }
        #expect(changed > 1_000 && passed > 1_000, "\(changed), \(passed)")
    }

    static let ways: [(Patch.Operation, Int)] = [
        (.replace(["rows", "500"], .int(1)), 2), (.replace(["rows", "500", "name"], .int(1)), 2),
        (.replace(["other"], .int(1)), 1), (.add(["rows", "9999"], .int(1)), 2),
        (.add(["rows", "10000"], .int(1)), 1), (.remove(["rows", "9990"]), 11),
        (.add(["rows", "name"], .int(1)), 1), (.replace(["rows"], .array([])), 10_001),
        (.add(["rows", "-"], .int(1)), 10_001), (.test(["rows"], .null), 1),
        (.move(from: ["rows", "9998"], to: ["rows", "9999"]), 3),
        (.copy(from: ["rows", "3"], to: ["other"]), 1),
    ]

    @Test(arguments: ways)
    func `of ten thousand parts those that do not change are not looked at`(
        _ operation: Patch.Operation, _ count: Int
    ) {
        let (feeds, _) = feeds([nil] + (0..<10_000).map { ["rows", "\($0)"] })
        #expect(feeds.touched(by: Patch([operation])).count == count)
    }

    @Test func `one that is gone is not found, and leaves the others`() {
        let (feeds, all) = feeds([nil, [], ["a"], ["a", "b"], ["a", "b", "c"]])
        let patch = Patch([.replace([], .null)])
        #expect(feeds.all.map(\.id) == [0, 1, 2, 3, 4])
        var left = Set(all.map(\.id))
        for feed in [all[3], all[0], all[4], all[1], all[2]] {
            feeds.remove(feed)
            feeds.remove(feed)
            left.remove(feed.id)
            #expect(feeds[feed.pointer] == nil)
            #expect(Set(feeds.touched(by: patch).map(\.id)) == left)
            #expect(feeds.count == left.count)
        }
        #expect(feeds.isEmpty)
    }
}
