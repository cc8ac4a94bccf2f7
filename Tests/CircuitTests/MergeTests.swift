import Contract
import Control
import FoundationEssentials
import Testing

@testable import Circuit

/// A list that was read while others changed the region: whose entry stays.
@Suite struct MergeTests {
    private static func entry(_ id: UInt8, _ name: String, at seconds: Double = 0)
        -> SlideshowSummary
    {
        SlideshowSummary(
            id: UUID(uuid: (id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), name: name,
            slideCount: 0, config: Config(), createdAt: Date(timeIntervalSince1970: seconds))
    }

    /// One slideshow: its name at the beginning, as it was fetched, as it stands now; nil where it
    /// is not. The last is what must stay.
    static let table: [(before: String?, fetched: String?, present: String?, stays: String?)] = [
        (nil, nil, nil, nil),
        // Only the store knows it.
        (nil, "f", nil, "f"),
        // Made meanwhile, and fetched or not yet.
        (nil, nil, "p", "p"), (nil, "f", "p", "p"),
        // Nobody touched it meanwhile.
        ("b", "b", "b", "b"), ("b", "f", "b", "f"),
        // Gone from the store while nobody touched it here.
        ("b", nil, "b", nil),
        // Changed meanwhile: what is here is newer, fetched or not.
        ("b", "b", "p", "p"), ("b", "f", "p", "p"), ("b", nil, "p", "p"),
        // Deleted meanwhile: it stays deleted.
        ("b", "b", nil, nil), ("b", "f", nil, nil), ("b", nil, nil, nil),
    ]

    @Test(arguments: 0..<table.count)
    func `a change that landed meanwhile wins over what was read`(_ index: Int) {
        let (before, fetched, present, stays) = Self.table[index]
        func list(_ name: String?) -> [SlideshowSummary] { name.map { [Self.entry(1, $0)] } ?? [] }
        let merged = LibraryPipes.merge(list(fetched), into: list(present), from: list(before))
        #expect(merged.map(\.name) == [stays].compactMap { $0 })
    }

    @Test func `the whole table at once is the table of each`() {
        func list(_ pick: (Int) -> String?) -> [SlideshowSummary] {
            Self.table.indices.compactMap { index in
                pick(index).map { Self.entry(UInt8(index), "\($0)\(index)") }
            }
        }
        let merged = LibraryPipes.merge(
            list { Self.table[$0].fetched }, into: list { Self.table[$0].present },
            from: list { Self.table[$0].before })
        #expect(merged == list { Self.table[$0].stays }.sorted(by: LibraryState.order))
        #expect(merged.count == 8)
    }

    @Test func `entries stand by time, then name, then id`() {
        let sorted = [
            Self.entry(9, "z", at: 1), Self.entry(1, "a", at: 2), Self.entry(2, "b", at: 2),
            Self.entry(3, "b", at: 2),
        ]
        let merged = LibraryPipes.merge(sorted.reversed(), into: [], from: [])
        #expect(merged == sorted)
        var state = LibraryState(slideshows: [], isLoading: false)
        for entry in [sorted[2], sorted[0], sorted[3], sorted[1]] { state.put(entry) }
        #expect(state.slideshows == sorted)
    }

    @Test func `an entry with the id of another takes its place`() {
        var state = LibraryState(
            slideshows: [Self.entry(1, "a", at: 1), Self.entry(2, "b", at: 2)], isLoading: true)
        state.put(Self.entry(1, "c", at: 3))
        #expect(state.slideshows.map(\.name) == ["b", "c"])
        state.put(Self.entry(2, "d", at: 2))
        #expect(state.slideshows.map(\.name) == ["d", "c"])
        #expect(state.isLoading)
    }

    @Test func `the library's pipes end their isLoading on every way out`() {
        #expect(LibraryPipes.fetchAll.last != nil)
        #expect(LibraryPipes.fetchAll.route.descriptor.closures(of: "F") == ["F#0", "F#finally"])
        #expect(LibraryPipes.saveConfig.stages.map(\.descriptor.kind) == [.tap])
    }
}
