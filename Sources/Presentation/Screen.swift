import Contract

/// State becomes cells.
extension Model {
    var layout: Layout {
        Layout(size: size, hasConfig: open != nil, notices: Notices.lines(of: self).count)
    }

    /// What the screen shows now.
    package func render() -> Frame { render(size) }

    /// What a screen of another size would show.
    package func render(_ size: Size) -> Frame {
        guard size == self.size else {
            var other = self
            other.apply(.resize(size))
            return other.render(size)
        }
        var frame = Frame(size: size)
        let layout = layout
        guard !layout.isTooSmall else {
            drawTooSmall(into: &frame)
            return frame
        }
        if let open {
            SlideshowView(open: open).draw(into: &frame, layout)
        } else {
            LibraryView(model: self).draw(into: &frame, layout)
        }
        if isStale { frame.restyle(rows: 1..<layout.list.upperBound, \.dimmed) }
        drawTitle(into: &frame)
        Notices.draw(Notices.lines(of: self), into: &frame, rows: layout.notices)
        if let row = layout.hints { Hints.draw(for: self, into: &frame, row: row) }
        DeviceLine.draw(shownDevices, isStale: !isConnected, into: &frame, row: layout.devices)
        drawOverlay(into: &frame)
        return frame
    }

    private func drawTooSmall(into frame: inout Frame) {
        let text = "needs \(Layout.fewestColumns)x\(Layout.fewestRows)"
        let rows = SafeText.wrap(text, columns: frame.size.columns, lines: frame.size.rows)
        for (row, line) in rows.enumerated() { frame.put(line, row: row, column: 0) }
    }

    private func drawTitle(into frame: inout Frame) {
        let columns = frame.size.columns
        frame.fill(row: 0, column: 0, width: columns, style: .title)
        let aside = activity ?? titleAside
        let asideWidth = min(SafeText(aside).width, columns / 2)
        let used = frame.put(
            titleText, row: 0, column: 1, width: columns - asideWidth - 4, style: .title)
        frame.put(
            aside, row: 0, endingAt: columns - 1,
            width: min(SafeText(aside).width, columns - used - 4),
            style: activity == nil ? .title : Style(.yellow, .reverse))
    }

    private var titleText: String { open.map { "‹ \($0.name)" } ?? "Slideshows" }

    private var titleAside: String {
        if let open {
            switch open.phase {
            case .opening: return "opening…"
            case .elsewhere: return "not current"
            case .current: return count(open.content?.slides.count ?? 0, "slide")
            }
        }
        if library.isLoading { return "loading…" }
        return library.rows.isEmpty ? "" : count(library.rows.count, "slideshow")
    }

    private func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    private func drawOverlay(into frame: inout Frame) {
        switch overlay {
        case .form(let form): FormView(form: form).draw(into: &frame)
        case .confirmDelete(let summary): ConfirmView(summary: summary).draw(into: &frame)
        case .help(let scroll): HelpView.draw(into: &frame, scroll: scroll)
        case .devices:
            DevicePanel(devices: shownDevices, cursor: deviceCursor).draw(into: &frame)
        case nil: break
        }
    }
}
