/// All devices with what the kernel knows of them, over the screen.
struct DevicePanel {
    let devices: [DeviceStatus]
    let cursor: ListCursor<String>

    private static let widest = 96

    private struct Column: Sendable {
        let head: String
        let width: Int
        var isRight = true
        let text: @Sendable (DeviceStatus) -> String
    }

    private static let columns = [
        Column(head: "state", width: 12, isRight: false) { "\($0.state.mark) \($0.state.name)" },
        Column(head: "restarts", width: 8) { "\($0.restarts)" },
        Column(head: "pid", width: 8) { $0.pid.map(String.init) ?? "–" },
        Column(head: "incarnation", width: 11) { "\($0.incarnation)" },
        Column(head: "last exit", width: 24, isRight: false) { $0.lastExit ?? "–" },
    ]

    /// The devices that are on a screen of this size.
    static func rows(in size: Size) -> Int { max(size.rows - 4, 1) }

    func draw(into frame: inout Frame) {
        let box = Box(
            in: frame.size, rows: min(devices.count, Self.rows(in: frame.size)) + 2,
            columns: Self.widest)
        box.draw(into: &frame, title: "Devices")
        var shown: [Column] = []
        var nameWidth = box.columns
        for column in Self.columns where nameWidth - column.width - 2 >= 8 {
            nameWidth -= column.width + 2
            shown.append(column)
        }
        draw(box, box.row, "name", nameWidth, shown, { $0.head }, .heads, into: &frame)
        let visible = cursor.visible(rows: box.rows - 2, of: devices.count)
        for (index, place) in visible.enumerated() {
            let device = devices[place]
            let row = box.row + 1 + index
            let isSelected = place == cursor.index
            let style = isSelected ? Style.selection : .plain
            if isSelected {
                frame.fill(row: row, column: box.column, width: box.columns, style: style)
            }
            draw(box, row, device.name, nameWidth, shown, { $0.text(device) }, style, into: &frame)
            if !isSelected, let state = shown.first {
                frame.put(
                    state.text(device), row: row, column: box.column + nameWidth + 2,
                    width: state.width, style: device.state.style)
            }
        }
        frame.put(
            "R restart  esc back", row: box.row + box.rows - 1, column: box.column,
            width: box.columns, style: .dim)
    }

    private func draw(
        _ box: Box, _ row: Int, _ name: String, _ nameWidth: Int, _ columns: [Column],
        _ text: (Column) -> String, _ style: Style, into frame: inout Frame
    ) {
        frame.put(name, row: row, column: box.column, width: nameWidth, style: style)
        var place = box.column + nameWidth
        for column in columns {
            place += 2
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
