import Contract

/// The list of slideshows. Only the rows on the screen are laid out.
struct LibraryView {
    let model: Model

    /// Cells that the name keeps before the first column is shown, and before each other one.
    private static let narrowNames = (first: 10, other: 18)

    /// From the most to the least important.
    private var columns: [Column<SlideshowSummary>] {
        let offset = model.settings.utcOffset
        return [
            Column(head: "slides", width: 6, isRight: true) { "\($0.slideCount)" },
            Column(head: "duration", width: 8) { ConfigText.duration($0.config.duration) },
            Column(head: "transition", width: 10) { $0.config.transition.rawValue },
            Column(head: "loop", width: 4) { ConfigText.loop($0.config.loop) },
            Column(head: "created", width: 16) { DateText.minutes($0.createdAt, offset: offset) },
        ]
    }

    func draw(into frame: inout Frame, _ layout: Layout) {
        guard !model.library.rows.isEmpty else {
            drawEmpty(into: &frame, rows: layout.list)
            return
        }
        let columns = Columns(
            self.columns, from: 2, width: frame.size.columns - 2, name: Self.narrowNames)
        if let row = layout.heads { columns.drawHeads(row: row, into: &frame) }
        let rows = model.library.rows
        let visible = model.library.cursor.visible(rows: layout.list.count, of: rows.count)
        for (row, index) in zip(layout.list, visible) {
            let summary = rows[index]
            let isSelected = index == model.library.cursor.index
            let style = isSelected ? Style.selection : .plain
            if isSelected {
                frame.fill(row: row, column: 0, width: frame.size.columns, style: style)
                frame.put("›", row: row, column: 0, style: style)
            }
            columns.draw(summary, name: summary.name, row: row, style: style, into: &frame)
        }
    }

    private func drawEmpty(into frame: inout Frame, rows: Range<Int>) {
        let lines: [(String, Style)]
        switch (model.connection, model.library.freshness) {
        case (.connecting, _): lines = [("connecting to the kernel…", .dim)]
        case (.connected, .loaded):
            lines = [
                ("No slideshows yet", .bold),
                ("Press n to make one from a folder of photos.", .plain),
            ]
        case (.connected, .failed):
            lines = [
                ("The library could not be read", .bold), ("Press r to try again.", .plain),
            ]
        case (.connected, .awaited): lines = [("loading…", .dim)]
        default: lines = []
        }
        let columns = frame.size.columns
        var row = rows.lowerBound + max((rows.count - lines.count) / 2, 0)
        for (text, style) in lines where row < rows.upperBound {
            let safe = SafeText(text, fitting: columns)
            frame.put(safe, row: row, column: (columns - safe.width) / 2, style: style)
            row += 1
        }
    }
}
