import Contract

/// The open slideshow: how it is shown, and its slides.
struct SlideshowView {
    let open: OpenSlideshow

    /// From here on the folder of a slide is shown beside its name.
    private static let columnsWithFolder = 50
    private static let durationWidth = 8

    func draw(into frame: inout Frame, _ layout: Layout) {
        if let row = layout.config, let config = open.config {
            draw(config, into: &frame, row: row)
        }
        guard let slides = open.content?.slides else {
            drawMiddle("opening…", into: &frame, rows: layout.list)
            return
        }
        guard !slides.isEmpty else {
            drawMiddle("No slides. Press a to add photos.", into: &frame, rows: layout.list)
            return
        }
        let numberWidth = max("\(slides.count)".count, 2)
        if let row = layout.heads {
            draw(
                row, number: "#", "title", folder: "folder", "duration", numberWidth,
                .heads, .heads, into: &frame)
        }
        let visible = open.cursor.visible(rows: layout.list.count, of: slides.count)
        for (row, index) in zip(layout.list, visible) {
            let slide = slides[index]
            let isSelected = index == open.cursor.index
            let style = isSelected ? Style.selection : .plain
            if isSelected {
                frame.fill(row: row, column: 0, width: frame.size.columns, style: style)
                frame.put("›", row: row, column: 0, style: style)
            }
            let (folder, file) = Self.parts(of: slide.photo)
            draw(
                row, number: "\(index + 1)", slide.title ?? file, folder: folder,
                ConfigText.duration(slide.duration), numberWidth, style,
                isSelected ? style : .dim, into: &frame)
        }
    }

    private func draw(_ config: Config, into frame: inout Frame, row: Int) {
        if case .elsewhere(let name) = open.phase {
            let text = "“\(name)” was opened on another screen. Enter opens this one again."
            frame.put(text, row: row, column: 1, style: Style(.yellow))
            return
        }
        var column = 1
        for (key, name, value) in [
            ("d", "duration", ConfigText.duration(config.duration)),
            ("t", "transition", config.transition.rawValue),
            ("l", "loop", config.loop ? "on" : "off"),
        ] {
            let isNarrow = frame.size.columns < Self.columnsWithFolder
            column += frame.put(key, row: row, column: column, style: .heads) + 1
            if !isNarrow {
                column += frame.put(name, row: row, column: column, style: .dim) + 1
            }
            column += frame.put(value, row: row, column: column, style: .bold) + 2
        }
    }

    private func draw(
        _ row: Int, number: String, _ name: String, folder: String, _ duration: String,
        _ numberWidth: Int, _ style: Style, _ folderStyle: Style, into frame: inout Frame
    ) {
        let columns = frame.size.columns
        let start = 2 + numberWidth + 2
        frame.put(
            number, row: row, endingAt: start - 2, width: numberWidth, style: style)
        let end = columns - Self.durationWidth - 2
        frame.put(
            duration, row: row, column: end + 2, width: Self.durationWidth, style: style)
        guard columns >= Self.columnsWithFolder else {
            frame.put(name, row: row, column: start, width: end - start, style: style)
            return
        }
        let nameWidth = (end - start) * 3 / 5 - 2
        frame.put(name, row: row, column: start, width: nameWidth, style: style)
        let place = start + nameWidth + 2
        frame.put(folder, row: row, column: place, width: end - place, style: folderStyle)
    }

    private func drawMiddle(_ text: String, into frame: inout Frame, rows: Range<Int>) {
        let safe = SafeText(text, fitting: frame.size.columns)
        frame.put(
            safe, row: rows.lowerBound + rows.count / 2,
            column: (frame.size.columns - safe.width) / 2, style: .dim)
    }

    /// The folder and the file name of a path.
    static func parts(of path: String) -> (folder: String, file: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }
}
