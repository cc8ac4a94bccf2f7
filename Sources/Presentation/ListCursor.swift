/// Which row of a list is selected and which one is the first on the screen. It holds on to the
/// selected row's id: when the list changes, the selection stays on the same thing and the same
/// row of the screen, and moves to a neighbour only when the thing is gone.
package struct ListCursor<ID: Equatable & Sendable>: Sendable, Equatable {
    package private(set) var id: ID?
    /// The row of `id`; 0 in an empty list.
    package private(set) var index = 0
    /// The first row on the screen.
    package private(set) var top = 0

    package init() {}

    /// The list has changed.
    mutating func follow(_ ids: some RandomAccessCollection<ID>) {
        let old = index
        if let id, let found = place(of: id, in: ids, near: old) {
            index = found
            top = max(0, top + index - old)
        } else {
            select(old, in: ids)
        }
    }

    private func place(
        of id: ID, in ids: some RandomAccessCollection<ID>, near old: Int
    ) -> Int? {
        if old < ids.count, ids[ids.index(ids.startIndex, offsetBy: old)] == id { return old }
        return ids.firstIndex(of: id).map { ids.distance(from: ids.startIndex, to: $0) }
    }

    /// Selects a row, or the nearest one that there is.
    mutating func select(_ row: Int, in ids: some RandomAccessCollection<ID>) {
        index = min(max(row, 0), max(ids.count - 1, 0))
        id = ids.isEmpty ? nil : ids[ids.index(ids.startIndex, offsetBy: index)]
    }

    mutating func select(id: ID, in ids: some RandomAccessCollection<ID>) {
        if let row = place(of: id, in: ids, near: index) { select(row, in: ids) }
    }

    /// Moves as a key says; false when the key moves nothing.
    mutating func handle(
        _ key: Key, in ids: some RandomAccessCollection<ID>, page: Int
    ) -> Bool {
        let page = max(page, 1)
        switch key {
        case .up, .character("k"), .control("p"): select(index - 1, in: ids)
        case .down, .character("j"), .control("n"): select(index + 1, in: ids)
        case .pageUp, .control("b"): select(index - page, in: ids)
        case .pageDown, .control("f"), .character(" "): select(index + page, in: ids)
        case .control("u"): select(index - max(page / 2, 1), in: ids)
        case .control("d"): select(index + max(page / 2, 1), in: ids)
        case .home, .character("g"): select(0, in: ids)
        case .end, .character("G"): select(ids.count - 1, in: ids)
        default: return false
        }
        return true
    }

    /// Scrolls so that the selection is among the `rows` that are shown and no row is wasted.
    mutating func reveal(rows: Int, of count: Int) {
        let rows = max(rows, 1)
        top = min(top, max(count - rows, 0))
        if index < top { top = index }
        if index >= top + rows { top = index - rows + 1 }
    }

    /// The rows of the list that are on a screen of `rows`.
    func visible(rows: Int, of count: Int) -> Range<Int> {
        let start = min(top, count)
        return start..<min(start + max(rows, 0), count)
    }
}
