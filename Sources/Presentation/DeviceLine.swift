/// The bottom row: every device, its state and how often it was started again.
enum DeviceLine {
    private struct Item {
        let device: DeviceStatus
        let name: SafeText
        let word: String

        init(_ device: DeviceStatus) {
            self.device = device
            name = SafeText(device.name, fitting: 20)
            let isPlain = device.state == .ready || device.state == .unseen
            let state = isPlain ? "" : " \(device.state.name)"
            word = state + (device.restarts > 0 ? " ↻\(device.restarts)" : "")
        }

        var width: Int { 2 + name.width + SafeText(word).width }
    }

    static func draw(
        _ devices: [DeviceStatus], isStale: Bool, into frame: inout Frame, row: Int
    ) {
        let room = frame.size.columns - 2
        var items = devices.map(Item.init)
        let needed = items.reduce(0) { $0 + $1.width + 2 } - 2
        if needed > room {
            // Where not all fit, the ones in trouble come first.
            items =
                items.filter { $0.device.state != .ready }
                + items.filter { $0.device.state == .ready }
        }
        var column = 1
        for (index, item) in items.enumerated() {
            let isLast = index == items.count - 1
            let left = room + 1 - column
            if item.width > left - (isLast ? 0 : 3), index > 0 {
                frame.put("…", row: row, column: column, style: .dim)
                break
            }
            column += draw(item, into: &frame, row: row, column: column) + 2
        }
        if devices.isEmpty { frame.put("no devices known", row: row, column: 1, style: .dim) }
        if isStale { frame.restyle(rows: row..<row + 1, \.dimmed) }
    }

    private static func draw(
        _ item: Item, into frame: inout Frame, row: Int, column: Int
    ) -> Int {
        let style = item.device.state.style
        var place = column
        place += frame.put(item.device.state.mark, row: row, column: place, style: style) + 1
        place += frame.put(item.name, row: row, column: place)
        let wordStyle = item.device.state == .ready ? .dim : style
        place += frame.put(item.word, row: row, column: place, style: wordStyle)
        return place - column
    }
}
