/// Every key, over the screen.
enum HelpView {
    /// A key and what it does; a heading when the key is empty.
    static let lines: [(key: String, text: String)] = [
        ("", "Everywhere"),
        ("↑ ↓  j k", "move"),
        ("PgUp PgDn", "move by a page"),
        ("Home End  g G", "first, last"),
        ("D", "devices"),
        ("T", "time travel: look at the past"),
        ("r", "read the library again"),
        ("x", "dismiss the error"),
        ("Ctrl-L", "paint the screen again"),
        ("Ctrl-Z", "suspend"),
        ("q  Ctrl-C", "quit; the kernel goes on"),
        ("", "Library"),
        ("Enter  →", "open"),
        ("n", "new slideshow from a folder"),
        ("e  F2", "rename"),
        ("d  Del", "delete"),
        ("", "Open slideshow"),
        ("d", "next duration"),
        ("t", "next transition"),
        ("l", "loop on or off"),
        ("a", "add photos"),
        ("e  F2", "rename"),
        ("Esc  ←", "back to the library"),
        ("", "Time travel"),
        ("← →  h l", "one change back, forward"),
        ("PgUp PgDn", "ten changes"),
        ("Home End", "the oldest that is kept, the latest"),
        ("Esc  T", "back to the present"),
        ("", "Devices"),
        ("R", "restart the selected device"),
        ("Esc", "back"),
        ("", "Forms"),
        ("Tab", "next field"),
        ("Enter", "accept"),
        ("Esc", "cancel"),
        ("Ctrl-W  Ctrl-U", "delete a word, all before"),
        ("Ctrl-A  Ctrl-E", "start, end of the line"),
    ]

    private static let widest = 46
    private static let keyWidth = 16

    /// The lines that are on a screen of this size.
    static func rows(in size: Size) -> Int { min(max(size.rows - 3, 1), lines.count) }

    static func furthestScroll(in size: Size) -> Int { lines.count - rows(in: size) }

    static func draw(into frame: inout Frame, scroll: Int) {
        let rows = rows(in: frame.size)
        let box = Box(in: frame.size, rows: rows + 1, columns: widest)
        box.draw(into: &frame, title: "Keys")
        let start = min(max(scroll, 0), furthestScroll(in: frame.size))
        for (index, line) in lines[start..<start + rows].enumerated() {
            let row = box.row + index
            guard !line.key.isEmpty else {
                frame.put(
                    line.text, row: row, column: box.column, width: box.columns, style: .heads)
                continue
            }
            let used = min(keyWidth, box.columns / 2)
            frame.put(line.key, row: row, column: box.column, width: used, style: .bold)
            frame.put(
                line.text, row: row, column: box.column + used + 1,
                width: box.columns - used - 1)
        }
        let isWhole = rows == lines.count
        frame.put(
            isWhole ? "esc back" : "↑ ↓ more  esc back", row: box.row + box.rows - 1,
            column: box.column, width: box.columns, style: .dim)
    }
}
