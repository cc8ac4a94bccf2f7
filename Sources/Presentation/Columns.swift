/// A column of a list: what it shows of each item.
struct Column<Item> {
    let head: String
    let width: Int
    var isRight = false
    let text: (Item) -> String
}

/// The columns of a list for which there is room, and the names of the items before them, which
/// have the rest.
struct Columns<Item> {
    /// Cells between two columns.
    private static var gap: Int { 2 }

    let shown: [Column<Item>]
    private let start: Int
    private let nameWidth: Int

    /// - Parameters:
    ///   - columns: from the most to the least important.
    ///   - start: the cell at which the names begin.
    ///   - width: the cells of a whole row.
    ///   - name: the cells that the name keeps before the first column is shown, and before each
    ///     other one.
    init(_ columns: [Column<Item>], from start: Int, width: Int, name: (first: Int, other: Int)) {
        var shown: [Column<Item>] = []
        var left = width
        for column in columns {
            let least = shown.isEmpty ? name.first : name.other
            guard left - Self.gap - column.width >= least else { break }
            left -= Self.gap + column.width
            shown.append(column)
        }
        self.shown = shown
        self.start = start
        nameWidth = left
    }

    /// The row above all items.
    func drawHeads(row: Int, into frame: inout Frame) {
        draw(row, "name", .heads, into: &frame) { $0.head }
    }

    /// The row of an item.
    ///
    /// - Parameter first: how the first column looks; nil: like the others.
    func draw(
        _ item: Item, name: String, row: Int, style: Style, first: Style? = nil,
        into frame: inout Frame
    ) {
        draw(row, name, style, first: first, into: &frame) { $0.text(item) }
    }

    private func draw(
        _ row: Int, _ name: String, _ style: Style, first: Style? = nil, into frame: inout Frame,
        _ text: (Column<Item>) -> String
    ) {
        frame.put(name, row: row, column: start, width: nameWidth, style: style)
        var place = start + nameWidth
        for (index, column) in shown.enumerated() {
            place += Self.gap
            let style = index == 0 ? first ?? style : style
            if column.isRight {
                frame.put(
                    text(column), row: row, endingAt: place + column.width, width: column.width,
                    style: style)
            } else {
                frame.put(text(column), row: row, column: place, width: column.width, style: style)
            }
            place += column.width
        }
    }
}
