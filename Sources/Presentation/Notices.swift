/// What has to be said above the devices: errors, and that the kernel is away.
struct Notices {
    struct Line: Equatable {
        let text: String
        let aside: String
        let style: Style
    }

    /// From here on the key that dismisses an error has its word beside it.
    private static let columnsWithWords = 50

    static func lines(of model: Model) -> [Line] {
        error(of: model) + travel(of: model) + connection(of: model)
    }

    private static func error(of model: Model) -> [Line] {
        guard let notice = model.notice else { return [] }
        let more = model.noticeCount > 1 ? "+\(model.noticeCount - 1)  " : ""
        let isNarrow = model.size.columns < columnsWithWords
        let aside = isNarrow ? "x" : "\(more)x dismiss"
        let place = notice.symbol.map { " (\($0))" } ?? ""
        let text = "✗ \(notice.code): \(notice.message)\(place)"
        // The first row leaves room for what stands at its right.
        let width = max(model.size.columns - aside.count - 3, model.size.columns / 2)
        let rows = SafeText.wrap(text, columns: width, lines: Layout.noticeRows(in: model.size))
        return rows.enumerated().map { index, row in
            Line(text: row, aside: index == 0 ? aside : "", style: .alarm)
        }
    }

    private static func travel(of model: Model) -> [Line] {
        guard let travel = model.travel else { return [] }
        guard let moment = travel.moment else {
            return [Line(text: "◷ going to the past…", aside: "", style: .past)]
        }
        let ends = (moment.isOldest ? ["oldest"] : []) + (moment.isLatest ? ["latest"] : [])
        let end = ends.isEmpty ? "" : " (\(ends.joined(separator: ", ")))"
        var words = ["◷ revision \(moment.revision)\(end)"]
        if let at = moment.at {
            words.append(DateText.seconds(at, offset: model.settings.utcOffset))
        }
        // The closures of a pipe are numbered; people know the pipe.
        if let symbol = moment.symbol?.split(separator: "#").first {
            words.append("\(symbol)\(moment.device.map { " (\($0))" } ?? "")")
        }
        return [
            Line(text: words.joined(separator: " · "), aside: "esc present", style: .past)
        ]
    }

    private static func connection(of model: Model) -> [Line] {
        switch model.connection {
        case .connected where model.isSilent:
            [
                Line(
                    text: "the kernel does not answer: is it stopped?", aside: "", style: .warning)
            ]
        case .connected, .connecting: []
        case .away(let reason): away(reason ?? "", model.size)
        case .refused(let reason):
            [Line(text: "✗ no connection: \(reason)", aside: "", style: .alarm)]
        }
    }

    /// The reason begins with what to do: it has a row of its own where it would be cut.
    private static func away(_ reason: String, _ size: Size) -> [Line] {
        let text = "kernel away, reconnecting…"
        let room = size.columns - SafeText(text).width - 3
        guard SafeText(reason).width > room else {
            return [Line(text: text, aside: reason, style: .warning)]
        }
        let rows = SafeText.wrap(
            reason, columns: size.columns - 2, lines: Layout.noticeRows(in: size))
        return [Line(text: text, aside: "", style: .warning)]
            + rows.map { Line(text: $0, aside: "", style: .warning) }
    }

    static func draw(_ lines: [Line], into frame: inout Frame, rows: Range<Int>) {
        // What was told last counts most where not all fits.
        for (row, line) in zip(rows, lines.suffix(rows.count)) {
            let columns = frame.size.columns
            frame.fill(row: row, column: 0, width: columns, style: line.style)
            let used = frame.put(
                line.text, row: row, column: 1, width: columns - 2, style: line.style)
            let room = columns - used - 3
            if !line.aside.isEmpty, room >= min(SafeText(line.aside).width, 11) {
                frame.put(
                    line.aside, row: row, endingAt: columns - 1, width: room, style: line.style)
            }
        }
    }
}
