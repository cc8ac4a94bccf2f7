import Contract
import Control
import FoundationEssentials

/// The commands of the whole library.
enum LibraryPipes {
    /// Reads the list of the store into the region.
    ///
    /// A change that lands while the list is being read wins over what was read: for every
    /// slideshow whose entry differs from that of the beginning, the region's entry stays.
    static let fetchAll = pipeline(Void.self)
        .pipe(to: [SlideshowSummary].self) { kernel, _ in
            let before = try await kernel.buffer.mutate(LibraryState.self) { library in
                library.isLoading = true
                return library.slideshows
            }
            let fetched = try await kernel.call(InfrastructurePort.fetchSummaries, ())
            let merged = try await kernel.buffer.mutate(LibraryState.self) { library in
                library.slideshows = merge(fetched, into: library.slideshows, from: before)
                library.isLoading = false
                return library.slideshows
            }
            return .next(merged)
        }
        .finally { kernel in
            try await kernel.buffer.mutate(LibraryState.self) { $0.isLoading = false }
        }
        .seal()

    /// Stores the configuration of new slideshows.
    static let saveConfig = pipeline(Config.self)
        .tap(InfrastructurePort.saveConfig)
        .seal()

    /// What was fetched, but for the entries that have changed in the region since `before`.
    static func merge(
        _ fetched: [SlideshowSummary], into present: [SlideshowSummary],
        from before: [SlideshowSummary]
    ) -> [SlideshowSummary] {
        let old = Dictionary(before.map { ($0.id, $0) }) { $1 }
        let new = Dictionary(present.map { ($0.id, $0) }) { $1 }
        var merged = fetched.compactMap { entry in
            new[entry.id] == old[entry.id] ? entry : new[entry.id]
        }
        let known = Set(fetched.map(\.id))
        merged += present.filter { !known.contains($0.id) && $0 != old[$0.id] }
        return merged.sorted(by: LibraryState.order)
    }
}

extension LibraryState {
    /// By time of creation, then by name, then by id.
    static func order(_ a: SlideshowSummary, _ b: SlideshowSummary) -> Bool {
        if a.createdAt != b.createdAt { return a.createdAt < b.createdAt }
        if a.name != b.name { return a.name < b.name }
        return a.id.uuidString < b.id.uuidString
    }

    /// Takes in an entry, in its place; an entry with its id is replaced.
    mutating func put(_ summary: SlideshowSummary) {
        slideshows.removeAll { $0.id == summary.id }
        let place = slideshows.firstIndex { Self.order(summary, $0) } ?? slideshows.endIndex
        slideshows.insert(summary, at: place)
    }
}
