import Presentation

/// A terminal that knows what the renderer writes, and remembers everything else as a fault.
struct TinyTerminal {
    let columns: Int
    let rows: Int
    var cells: [Cell]
    var row = 0
    var column = 0
    var style = Style.plain
    var showsCursor = false
    var isUpdating = false
    var faults: [String] = []

    init(_ size: Size) {
        columns = size.columns
        rows = size.rows
        cells = Array(repeating: .blank, count: columns * rows)
    }

    mutating func feed(_ bytes: [UInt8]) {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\u{1B}":
                guard scalars.popFirst() == "[" else {
                    faults.append("escape")
                    continue
                }
                let text = scalars.prefix { (0x20...0x3F).contains($0.value) }
                scalars = scalars.dropFirst(text.count)
                guard let final = scalars.popFirst() else { return faults.append("cut off") }
                obey(String(String.UnicodeScalarView(text)), Character(final))
            case "\r": column = 0
            case "\n":
                if row + 1 < rows { row += 1 } else { faults.append("scroll") }
            default: print(scalar)
            }
        }
    }

    private mutating func print(_ scalar: Unicode.Scalar) {
        let width = TextWidth.of(scalar)
        if width == 0 {
            if scalar.value < 0x20 { return faults.append("control \(scalar.value)") }
            guard column > 0 else { return faults.append("mark at the edge") }
            var index = row * columns + column - 1
            if cells[index].width == 0 { index -= 1 }
            cells[index].text.unicodeScalars.append(scalar)
            return
        }
        guard column + width <= columns else { return faults.append("over the edge") }
        for place in column..<column + width { split(row * columns + place) }
        cells[row * columns + column] = Cell(String(scalar), width: width, style: style)
        if width == 2 { cells[row * columns + column + 1] = Cell("", width: 0, style: style) }
        column += width
    }

    private mutating func split(_ index: Int) {
        if cells[index].width == 0 { cells[index - 1] = .blank }
        if cells[index].width == 2 { cells[index + 1] = .blank }
    }

    private mutating func obey(_ text: String, _ final: Character) {
        let numbers = text.split(separator: ";").map { Int($0) ?? -1 }
        switch (final, text) {
        case ("h", "?2026"): isUpdating = true
        case ("l", "?2026"): isUpdating = false
        case ("h", "?25"): showsCursor = true
        case ("l", "?25"): showsCursor = false
        case ("J", "2"): cells = Array(repeating: .blank, count: columns * rows)
        case ("K", ""):
            if style != .plain { faults.append("clearing with a pen") }
            split(row * columns + column)
            for place in column..<columns { cells[row * columns + place] = .blank }
        case ("H", _): move((numbers.first ?? 1) - 1, (numbers.last ?? 1) - 1)
        case ("C", _): move(row, column + (numbers.first ?? 1))
        case ("D", _): move(row, column - (numbers.first ?? 1))
        case ("m", _): for number in numbers.isEmpty ? [0] : numbers { paint(number) }
        default: faults.append("CSI \(text)\(final)")
        }
    }

    private mutating func move(_ row: Int, _ column: Int) {
        guard (0..<rows).contains(row), (0..<columns).contains(column) else {
            return faults.append("move to \(row) \(column)")
        }
        self.row = row
        self.column = column
    }

    private mutating func paint(_ code: Int) {
        switch code {
        case 0: style = .plain
        case 1: style.attributes.insert(.bold)
        case 2: style.attributes.insert(.dim)
        case 7: style.attributes.insert(.reverse)
        case 39: style.foreground = .normal
        case 49: style.background = .normal
        case 30...37: style.foreground = Color(rawValue: UInt8(code - 30)) ?? .normal
        case 40...47: style.background = Color(rawValue: UInt8(code - 40)) ?? .normal
        case 90...97: style.foreground = Color(rawValue: UInt8(code - 82)) ?? .normal
        case 100...107: style.background = Color(rawValue: UInt8(code - 92)) ?? .normal
        default: faults.append("pen \(code)")
        }
    }

    /// What differs from a frame, in words; nothing when it is shown as it should be.
    func difference(from frame: Frame, usesColor: Bool = true) -> [String] {
        var found = faults
        for index in cells.indices {
            var (own, other) = (cells[index], frame.cells[index])
            own.isDisputed = false
            other.isDisputed = false
            if !usesColor { other.style = Style(.normal, other.style.attributes) }
            if own != other {
                found.append("\(index / columns),\(index % columns): \(own) for \(other)")
            }
        }
        if showsCursor != (frame.cursor != nil) { found.append("cursor \(showsCursor)") }
        if let cursor = frame.cursor, cursor != Position(row: row, column: column) {
            found.append("cursor at \(row) \(column)")
        }
        if isUpdating { found.append("update not ended") }
        return found
    }
}
