import Contract
import Control
import FoundationEssentials

/// The commands of the whole library.
enum LibraryPipes {
    /// Reads the list of the store into the region.
    ///
    /// A change that lands while the list is being read may be shown before it: the newer version
    /// of each slideshow wins, and what was added or removed meanwhile stays so.
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

    /// The newer of what was fetched and what is shown; `before` was shown when it was fetched.
    static func merge(
        _ fetched: [SlideshowSummary], into present: [SlideshowSummary],
        from before: [SlideshowSummary]
    ) -> [SlideshowSummary] {
        let old = Set(before.map(\.id))
        let shown = Dictionary(present.map { ($0.id, $0) }) { $1 }
        var merged = fetched.compactMap { entry -> SlideshowSummary? in
            guard let other = shown[entry.id] else { return old.contains(entry.id) ? nil : entry }
            return other.version > entry.version ? other : entry
        }
        let known = Set(fetched.map(\.id))
        merged += present.filter { !known.contains($0.id) && !old.contains($0.id) }
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

    /// Takes in an entry, in its place, instead of an older one.
    mutating func show(_ summary: SlideshowSummary) {
        if let place = slideshows.firstIndex(where: { $0.id == summary.id }) {
            guard slideshows[place].version < summary.version else { return }
            slideshows.remove(at: place)
        }
        let place = slideshows.firstIndex { Self.order(summary, $0) } ?? slideshows.endIndex
        slideshows.insert(summary, at: place)
    }
}
