/// All devices with what the kernel knows of them, over the screen.
struct DevicePanel {
    let devices: [DeviceStatus]
    let cursor: ListCursor<String>

    private static let widest = 96

    /// Cells that the name keeps before a column is shown.
    private static let narrowNames = (first: 8, other: 8)

    /// From the most to the least important.
    private static var columns: [Column<DeviceStatus>] {
        [
            Column(head: "state", width: 12) { "\($0.state.mark) \($0.state.name)" },
            Column(head: "restarts", width: 8, isRight: true) { "\($0.restarts)" },
            Column(head: "pid", width: 8, isRight: true) { $0.pid.map(String.init) ?? "–" },
            Column(head: "incarnation", width: 11, isRight: true) { "\($0.incarnation)" },
            Column(head: "last exit", width: 24) { $0.lastExit ?? "–" },
        ]
    }

    /// The devices that are on a screen of this size.
    static func rows(in size: Size) -> Int { max(size.rows - 4, 1) }

    func draw(into frame: inout Frame) {
        let box = Box(
            in: frame.size, rows: min(devices.count, Self.rows(in: frame.size)) + 2,
            columns: Self.widest)
        box.draw(into: &frame, title: "Devices")
        let columns = Columns(
            Self.columns, from: box.column, width: box.columns, name: Self.narrowNames)
        columns.drawHeads(row: box.row, into: &frame)
        let visible = cursor.visible(rows: box.rows - 2, of: devices.count)
        for (index, place) in visible.enumerated() {
            let device = devices[place]
            let row = box.row + 1 + index
            let isSelected = place == cursor.index
            if isSelected {
                frame.fill(row: row, column: box.column, width: box.columns, style: .selection)
            }
            columns.draw(
                device, name: device.name, row: row, style: isSelected ? .selection : .plain,
                first: isSelected ? nil : device.state.style, into: &frame)
        }
        frame.put(
            "R restart  esc back", row: box.row + box.rows - 1, column: box.column,
            width: box.columns, style: .dim)
    }
}
