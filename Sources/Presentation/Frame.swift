/// How large a screen is. What a terminal claims is brought into bounds: its answer is a word from
/// outside and decides how much memory a frame takes.
package struct Size: Sendable, Equatable {
    package static let mostColumns = 1_000
    package static let mostRows = 500

    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 0), Self.mostColumns)
        self.rows = min(max(rows, 0), Self.mostRows)
    }
}

/// A cell of the screen, from 0.
package struct Position: Sendable, Equatable {
    package var row: Int
    package var column: Int

    package init(row: Int, column: Int) {
        self.row = row
        self.column = column
    }
}

/// One cell of a frame.
package struct Cell: Sendable, Equatable {
    /// One base character with its marks; empty in the right half of a wide one.
    package var text: String
    /// 1, 2, or 0 in the right half of a wide character.
    package var width: Int
    package var style: Style
    /// Whether a terminal may have moved its cursor by another width.
    package var isDisputed: Bool

    package init(_ text: String, width: Int = 1, style: Style = .plain, isDisputed: Bool = false) {
        self.text = text
        self.width = width
        self.style = style
        self.isDisputed = isDisputed
    }

    package static let blank = Cell(" ")
}

/// Everything that one screen shows: a grid of cells and the cursor. Writing outside of the grid
/// does nothing, so that a view may be drawn in any size.
package struct Frame: Sendable, Equatable {
    package let size: Size
    /// Row by row.
    package private(set) var cells: [Cell]
    /// Where the cursor is shown; hidden when nil.
    package var cursor: Position?

    package init(size: Size) {
        self.size = size
        cells = Array(repeating: .blank, count: size.columns * size.rows)
    }

    /// The cell at a place; a blank one outside of the grid.
    package subscript(row: Int, column: Int) -> Cell {
        contains(row, column) ? cells[row * size.columns + column] : .blank
    }

    private func contains(_ row: Int, _ column: Int) -> Bool {
        row >= 0 && row < size.rows && column >= 0 && column < size.columns
    }

    /// Writes text from outside or from here; both are made safe.
    ///
    /// - Parameter width: the cells that the text may take; all up to the right edge when nil.
    /// - Returns: the cells that it took.
    @discardableResult
    package mutating func put(
        _ text: String, row: Int, column: Int, width: Int? = nil, style: Style = .plain
    ) -> Int {
        guard row >= 0, row < size.rows, column >= 0, column < size.columns else { return 0 }
        let room = min(width ?? size.columns, size.columns - column)
        return put(SafeText(text, fitting: room), row: row, column: column, style: style)
    }

    /// Writes text that is laid out already; what reaches over the right edge is left out.
    @discardableResult
    package mutating func put(
        _ text: SafeText, row: Int, column: Int, style: Style = .plain
    ) -> Int {
        var place = column
        for glyph in text.glyphs {
            guard contains(row, place), place + glyph.width <= size.columns else { break }
            set(
                Cell(
                    glyph.text, width: glyph.width, style: style, isDisputed: glyph.isDisputed),
                row, place)
            place += glyph.width
        }
        return place - column
    }

    /// Writes text so that it ends before `end`.
    package mutating func put(
        _ text: String, row: Int, endingAt end: Int, width: Int, style: Style = .plain
    ) {
        let safe = SafeText(text, fitting: width)
        put(safe, row: row, column: end - safe.width, style: style)
    }

    /// Blanks cells in one style.
    package mutating func fill(row: Int, column: Int, width: Int, style: Style) {
        for place in max(column, 0)..<max(min(column + width, size.columns), max(column, 0))
        where contains(row, place) {
            set(Cell(" ", style: style), row, place)
        }
    }

    /// Changes the style of every cell of some rows.
    package mutating func restyle(rows: Range<Int>, _ change: (Style) -> Style) {
        let rows = rows.clamped(to: 0..<size.rows)
        for index in rows.lowerBound * size.columns..<rows.upperBound * size.columns {
            cells[index].style = change(cells[index].style)
        }
    }

    /// Sets a cell; a wide character that loses one half loses the other too.
    private mutating func set(_ cell: Cell, _ row: Int, _ column: Int) {
        let start = row * size.columns
        for place in column..<column + cell.width {
            split(start + place, in: start..<start + size.columns)
        }
        cells[start + column] = cell
        if cell.width == 2 { cells[start + column + 1] = Cell("", width: 0, style: cell.style) }
    }

    private mutating func split(_ index: Int, in row: Range<Int>) {
        let old = cells[index]
        if old.width == 0, row.contains(index - 1) {
            cells[index - 1] = Cell(" ", style: cells[index - 1].style)
        }
        if old.width == 2, row.contains(index + 1) {
            cells[index + 1] = Cell(" ", style: old.style)
        }
    }

    /// The rows as text without the blanks at their ends, for people and tests.
    package var lines: [String] {
        (0..<size.rows).map { row in
            var line = ""
            for column in 0..<size.columns { line += self[row, column].text }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
