import Contract

/// The list of slideshows. Only the rows on the screen are laid out.
struct LibraryView {
    let model: Model

    /// What a column shows, from the most to the least important.
    private struct Column {
        let head: String
        let width: Int
        var isRight = false
        let text: (SlideshowSummary) -> String
    }

    /// Cells between two columns.
    private static let gap = 2
    /// Cells that the name keeps before the first column is shown, and before each other one.
    private static let narrowestName = 10
    private static let narrowName = 18

    private var columns: [Column] {
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
        var shown: [Column] = []
        var used = 2
        for column in columns {
            let name = shown.isEmpty ? Self.narrowestName : Self.narrowName
            guard used + Self.gap + column.width + name <= frame.size.columns else { break }
            shown.append(column)
            used += Self.gap + column.width
        }
        let nameWidth = frame.size.columns - used
        if let row = layout.heads {
            draw(row, "name", nameWidth, shown, { $0.head }, .heads, into: &frame)
        }
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
            draw(row, summary.name, nameWidth, shown, { $0.text(summary) }, style, into: &frame)
        }
    }

    private func draw(
        _ row: Int, _ name: String, _ nameWidth: Int, _ columns: [Column],
        _ text: (Column) -> String, _ style: Style, into frame: inout Frame
    ) {
        frame.put(name, row: row, column: 2, width: nameWidth, style: style)
        var place = 2 + nameWidth
        for column in columns {
            place += Self.gap
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
