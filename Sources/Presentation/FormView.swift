import Contract

/// A form over the screen.
struct FormView {
    let form: Form

    private static let widest = 66

    func draw(into frame: inout Frame) {
        let labelWidth = (form.fields.map(\.label.count).max() ?? 0) + 2
        let message = form.message.map {
            SafeText.wrap(
                $0, columns: min(Self.widest, frame.size.columns - 4),
                lines: max(frame.size.rows - 2 - form.fields.count, 0))
        }
        let below = message ?? [hints]
        let box = Box(
            in: frame.size, rows: form.fields.count + below.count,
            columns: Self.widest)
        box.draw(into: &frame, title: form.title)
        for (index, field) in form.fields.enumerated() {
            let row = box.row + index
            let hasFocus = index == form.focus
            frame.put(
                field.label, row: row, column: box.column, width: labelWidth,
                style: hasFocus ? .heads : .dim)
            let start = box.column + labelWidth
            let width = box.columns - labelWidth
            let cursor = field.line.draw(into: &frame, row: row, column: start, width: width)
            if hasFocus { frame.cursor = Position(row: row, column: start + cursor) }
        }
        for (index, line) in below.enumerated() {
            let row = box.row + form.fields.count + index
            guard row < box.row + box.rows else { break }
            frame.put(
                line, row: row, column: box.column, width: box.columns,
                style: message == nil ? .dim : Style(.red, .bold))
        }
    }

    private var hints: String {
        form.fields.count > 1 ? "enter create  esc cancel  tab next" : "enter accept  esc cancel"
    }
}

/// A question before something that cannot be undone.
struct ConfirmView {
    let summary: SlideshowSummary

    private static let widest = 60

    func draw(into frame: inout Frame) {
        let slides = summary.slideCount == 1 ? "slide" : "slides"
        let question =
            "Delete “\(summary.name)” with \(summary.slideCount) \(slides)? The files stay."
        let columns = min(Self.widest, frame.size.columns - 4)
        let lines = SafeText.wrap(question, columns: columns, lines: max(frame.size.rows - 3, 1))
        let box = Box(in: frame.size, rows: lines.count + 1, columns: columns)
        box.draw(into: &frame, title: "Delete", style: Style(.red))
        for (index, line) in lines.enumerated() where index < box.rows - 1 {
            frame.put(line, row: box.row + index, column: box.column, width: box.columns)
        }
        let last = box.row + box.rows - 1
        frame.put(
            "y delete  n keep", row: last, column: box.column, width: box.columns, style: .bold)
    }
}
