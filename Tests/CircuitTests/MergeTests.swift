import Contract
import Control
import FoundationEssentials
import Testing

@testable import Circuit

/// A list that was read while others changed the region: whose entry stays.
@Suite struct MergeTests {
    private static func entry(
        _ id: UInt8, _ name: String, _ version: Int = 1, at seconds: Double = 0
    ) -> SlideshowSummary {
        SlideshowSummary(
            id: UUID(uuid: (id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), name: name,
            slideCount: 0, config: Config(), createdAt: Date(timeIntervalSince1970: seconds),
            version: version)
    }

    /// One slideshow: its version at the beginning, as it was fetched, as it stands now; nil where
    /// it is not. The last is what must stay.
    static let table: [(before: Int?, fetched: Int?, present: Int?, stays: Int?)] = [
        (nil, nil, nil, nil),
        // Only the store knows it.
        (nil, 4, nil, 4),
        // Made meanwhile, and fetched or not yet.
        (nil, nil, 1, 1), (nil, 1, 1, 1), (nil, 1, 2, 2), (nil, 2, 1, 2),
        // Nobody touched it meanwhile.
        (2, 2, 2, 2), (2, 3, 2, 3),
        // Gone from the store: its removal is shown later, or was.
        (2, nil, 2, nil), (2, nil, 3, nil),
        // Changed meanwhile, before or after it was fetched.
        (2, 2, 3, 3), (2, 3, 3, 3), (2, 4, 3, 4),
        // Deleted meanwhile: it stays deleted.
        (2, 2, nil, nil), (2, 3, nil, nil), (2, nil, nil, nil),
    ]

    @Test(arguments: 0..<table.count)
    func `the newer version of a list that was read and of one that is shown stays`(_ index: Int) {
        let (before, fetched, present, stays) = Self.table[index]
        func list(_ version: Int?) -> [SlideshowSummary] {
            version.map { [Self.entry(1, "a", $0)] } ?? []
        }
        let merged = LibraryPipes.merge(list(fetched), into: list(present), from: list(before))
        #expect(merged.map(\.version) == [stays].compactMap { $0 })
    }

    @Test func `the whole table at once is the table of each`() {
        func list(_ pick: (Int) -> Int?) -> [SlideshowSummary] {
            Self.table.indices.compactMap { index in
                pick(index).map { Self.entry(UInt8(index), "a", $0) }
            }
        }
        let merged = LibraryPipes.merge(
            list { Self.table[$0].fetched }, into: list { Self.table[$0].present },
            from: list { Self.table[$0].before })
        #expect(merged == list { Self.table[$0].stays }.sorted(by: LibraryState.order))
        #expect(merged.count == 10)
    }

    @Test func `entries stand by time, then name, then id`() {
        let sorted = [
            Self.entry(9, "z", at: 1), Self.entry(1, "a", at: 2), Self.entry(2, "b", at: 2),
            Self.entry(3, "b", at: 2),
        ]
        let merged = LibraryPipes.merge(sorted.reversed(), into: [], from: [])
        #expect(merged == sorted)
        var state = LibraryState(slideshows: [], isLoading: false)
        for entry in [sorted[2], sorted[0], sorted[3], sorted[1]] { state.show(entry) }
        #expect(state.slideshows == sorted)
    }

    @Test func `an entry takes the place of an older one with its id`() {
        var state = LibraryState(
            slideshows: [Self.entry(1, "a", at: 1), Self.entry(2, "b", at: 2)], isLoading: true)
        state.show(Self.entry(1, "c", 2, at: 3))
        #expect(state.slideshows.map(\.name) == ["b", "c"])
        state.show(Self.entry(2, "d", 3, at: 2))
        #expect(state.slideshows.map(\.name) == ["d", "c"])
        state.show(Self.entry(2, "e", 2, at: 2))
        #expect(state.slideshows.map(\.name) == ["d", "c"], "it is older")
        #expect(state.isLoading)
    }

    @Test func `the library's pipes end their isLoading on every way out`() {
        #expect(LibraryPipes.fetchAll.last != nil)
        #expect(LibraryPipes.fetchAll.route.descriptor.closures(of: "F") == ["F#0", "F#finally"])
        #expect(LibraryPipes.saveConfig.stages.map(\.descriptor.kind) == [.tap])
    }
}
