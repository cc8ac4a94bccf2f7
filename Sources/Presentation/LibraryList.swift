package import Contract
package import FoundationEssentials

/// The library as it was last known, and how much that is worth.
///
/// A kernel that has just started has an empty region until the store was read. Rows that were
/// known before stay on the screen until then: an empty library is only believed when it was read.
package struct LibraryList: Sendable, Equatable {
    package enum Freshness: Sendable, Equatable {
        /// Nothing was heard since the connection was made; becomes `loaded` or `failed`.
        case awaited
        /// The rows are the library's; becomes `awaited` when the connection is lost.
        case loaded
        /// Reading it failed; becomes `loaded`, or `awaited` when it is tried again.
        case failed
    }

    package private(set) var rows: [SlideshowSummary] = []
    package private(set) var isLoading = false
    package private(set) var freshness = Freshness.awaited
    package var cursor = ListCursor<UUID>()
    /// A slideshow that this client makes, to be selected when it appears.
    private var expected: UUID?
    private var received: [SlideshowSummary] = []

    package init() {}

    package var selected: SlideshowSummary? {
        rows.indices.contains(cursor.index) ? rows[cursor.index] : nil
    }

    package subscript(id: UUID) -> SlideshowSummary? { rows.first { $0.id == id } }

    mutating func apply(_ slideshows: [SlideshowSummary], isLoading next: Bool) {
        let wasLoading = isLoading
        received = slideshows
        isLoading = next
        if !slideshows.isEmpty || (wasLoading && !next) { freshness = .loaded }
        if freshness == .loaded { show() }
    }

    private mutating func show() {
        rows = received
        let ids = rows.lazy.map(\.id)
        cursor.follow(ids)
        if let id = expected, ids.contains(id) {
            cursor.select(id: id, in: ids)
            expected = nil
        }
    }

    mutating func connectionChanged() {
        freshness = .awaited
        isLoading = false
    }

    mutating func refreshStarted() {
        if freshness == .failed { freshness = .awaited }
    }

    mutating func refreshFinished(failed: Bool) {
        guard freshness != .loaded else { return }
        freshness = failed ? .failed : .loaded
        if !failed { show() }
    }

    /// The user is back from elsewhere: what was selected is again, if it is still there.
    mutating func resume(_ cursor: ListCursor<UUID>) {
        self.cursor = cursor
        self.cursor.follow(rows.lazy.map(\.id))
    }

    mutating func expect(_ id: UUID) {
        expected = id
    }

    /// Moves the selection; a user who moves it is not called away by what appears.
    mutating func handle(_ key: Key, page: Int) -> Bool {
        let isMoved = cursor.handle(key, in: rows.lazy.map(\.id), page: page)
        if isMoved { expected = nil }
        return isMoved
    }
}
