/// A framed box in the middle of the screen, and the place inside of it.
struct Box {
    let row: Int
    let column: Int
    let rows: Int
    let columns: Int

    /// The box around `rows` and `columns` of content; smaller where the screen is.
    init(in size: Size, rows: Int, columns: Int) {
        self.rows = min(rows, max(size.rows - 2, 0))
        self.columns = min(columns, max(size.columns - 4, 0))
        row = (size.rows - self.rows) / 2
        column = (size.columns - self.columns) / 2
    }

    func draw(into frame: inout Frame, title: String, style: Style = Style(.cyan)) {
        let left = column - 2
        let width = columns + 4
        let rule = String(repeating: "─", count: max(width - 2, 0))
        frame.put("┌\(rule)┐", row: row - 1, column: left, style: style)
        for place in row..<row + rows {
            frame.fill(row: place, column: left, width: width, style: .plain)
            frame.put("│", row: place, column: left, style: style)
            frame.put("│", row: place, column: left + width - 1, style: style)
        }
        frame.put("└\(rule)┘", row: row + rows, column: left, style: style)
        let safe = SafeText(title, fitting: max(columns - 2, 0))
        frame.put(" ", row: row - 1, column: column)
        frame.put(safe, row: row - 1, column: column + 1, style: .bold)
        frame.put(" ", row: row - 1, column: column + 1 + safe.width)
    }
}
