/// Turns frames into escape codes: only the cells that differ from the frame before are written,
/// each run with the cheapest cursor move that leads to it.
///
/// Invariant: after the bytes of a frame were written, the terminal shows `shown`, its pen has
/// `pen`, and its cursor is at `place`, or anywhere when that is nil. The bytes must be written in
/// full and in order; when they were not, `invalidate()` makes the next frame a full repaint.
package struct Renderer: Sendable {
    private let usesColor: Bool
    private var shown: Frame?
    private var pen = Style.plain
    private var place: Position?
    private var showsCursor = false
    private var bytes: [UInt8] = []

    /// Unchanged cells that are written again rather than jumped over.
    private static let shortGap = 3

    /// - Parameter usesColor: false writes bold, dim and reverse only, as NO_COLOR asks.
    package init(usesColor: Bool = true) {
        self.usesColor = usesColor
    }

    /// Forgets what the terminal shows: the next frame is painted in full.
    package mutating func invalidate() { shown = nil }

    /// The bytes that turn the screen into `frame`; none when nothing changed.
    package mutating func bytes(for frame: Frame) -> [UInt8] {
        if let shown, shown == frame { return [] }
        bytes.removeAll(keepingCapacity: true)
        bytes += TerminalSession.beginUpdate
        let opening = bytes.count
        let old = begin(frame)
        for row in 0..<frame.size.rows { paint(row, of: frame, over: old) }
        let isPainted = bytes.count > opening
        end(frame, isPainted: isPainted)
        let isEmpty = bytes.count == opening
        shown = frame
        if isEmpty { return [] }
        bytes += TerminalSession.endUpdate
        defer { bytes = [] }
        return bytes
    }

    /// Hides the cursor where it would flicker, and clears a screen that cannot be compared.
    private mutating func begin(_ frame: Frame) -> Frame {
        if let shown, shown.size == frame.size {
            if showsCursor, shown.cells != frame.cells { hideCursor() }
            return shown
        }
        hideCursor()
        bytes += TerminalSession.clear
        pen = .plain
        place = Position(row: 0, column: 0)
        return Frame(size: frame.size)
    }

    private mutating func hideCursor() {
        bytes += TerminalSession.hideCursor
        showsCursor = false
    }

    private mutating func end(_ frame: Frame, isPainted: Bool) {
        guard let cursor = frame.cursor, cursor.row < frame.size.rows,
            cursor.column < frame.size.columns, cursor.row >= 0, cursor.column >= 0
        else {
            if showsCursor { hideCursor() }
            return
        }
        move(to: cursor)
        if !showsCursor { bytes += TerminalSession.showCursor }
        showsCursor = true
    }

    // MARK: - Cells

    private mutating func paint(_ row: Int, of frame: Frame, over old: Frame) {
        let start = row * frame.size.columns
        let end = start + frame.size.columns
        let blanksFrom = trailingBlanks(frame, start, end)
        let clears = changes(frame, old, blanksFrom, end) > TerminalSession.clearToEnd.count
        var index = start
        let last = clears ? blanksFrom : end
        while index < last {
            let cell = frame.cells[index]
            guard cell.width > 0, differs(frame, old, index) else {
                index += 1
                continue
            }
            approach(Position(row: row, column: index - start), frame)
            write(cell, columns: frame.size.columns)
            index += cell.width
        }
        if clears {
            move(to: Position(row: row, column: blanksFrom - start))
            set(.plain)
            bytes += TerminalSession.clearToEnd
        }
    }

    /// A wide cell differs when either half does: something else may have been written over one.
    private func differs(_ frame: Frame, _ old: Frame, _ index: Int) -> Bool {
        if frame.cells[index] != old.cells[index] { return true }
        return frame.cells[index].width == 2 && frame.cells[index + 1] != old.cells[index + 1]
    }

    private func trailingBlanks(_ frame: Frame, _ start: Int, _ end: Int) -> Int {
        var index = end
        while index > start, frame.cells[index - 1] == .blank { index -= 1 }
        return index
    }

    private func changes(_ frame: Frame, _ old: Frame, _ start: Int, _ end: Int) -> Int {
        var count = 0
        for index in start..<end where frame.cells[index] != old.cells[index] { count += 1 }
        return count
    }

    private mutating func write(_ cell: Cell, columns: Int) {
        set(cell.style)
        bytes += cell.text.utf8
        guard let at = place else { return }
        let next = at.column + cell.width
        // At the right edge terminals differ in where the cursor waits.
        place = cell.isDisputed || next >= columns ? nil : Position(row: at.row, column: next)
    }

    // MARK: - Cursor

    /// Moves over a short gap of plain cells by writing them again, else by a move.
    private mutating func approach(_ target: Position, _ frame: Frame) {
        if let at = place, at.row == target.row, at.column < target.column,
            target.column - at.column <= Self.shortGap
        {
            let between = (at.column..<target.column).map { frame[target.row, $0] }
            if between.allSatisfy({ $0.style == pen && $0.text.utf8.count == 1 }) {
                for cell in between { bytes += cell.text.utf8 }
                place = target
                return
            }
        }
        move(to: target)
    }

    private mutating func move(to target: Position) {
        if place == target { return }
        var best = Self.sequence("H", target.row + 1, target.column + 1)
        if target.row == 0, target.column == 0 { best = Array("\u{1B}[H".utf8) }
        if let at = place {
            if at.row == target.row {
                let distance = target.column - at.column
                let relative = Self.sequence(distance > 0 ? "C" : "D", abs(distance))
                if relative.count < best.count { best = relative }
                if target.column == 0 { best = [0x0D] }
            } else if target.row == at.row + 1, target.column == 0 {
                best = [0x0D, 0x0A]
            }
        }
        bytes += best
        place = target
    }

    private static func sequence(_ final: Character, _ numbers: Int...) -> [UInt8] {
        // One is what a terminal takes when no number is given.
        let isShort = numbers.count == 1 && numbers[0] == 1
        let text = isShort ? "" : numbers.map(String.init).joined(separator: ";")
        return Array("\u{1B}[\(text)\(final)".utf8)
    }

    // MARK: - Pen

    private mutating func set(_ style: Style) {
        let style = usesColor ? style : style.colourless
        if style == pen { return }
        var codes: [Int] = []
        if style.attributes != pen.attributes {
            codes.append(0)
            pen = .plain
            if style.attributes.contains(.bold) { codes.append(1) }
            if style.attributes.contains(.dim) { codes.append(2) }
            if style.attributes.contains(.reverse) { codes.append(7) }
        }
        if style.foreground != pen.foreground {
            codes.append(Self.code(style.foreground, base: 30))
        }
        if style.background != pen.background {
            codes.append(Self.code(style.background, base: 40))
        }
        pen = style
        let text = codes == [0] ? "" : codes.map(String.init).joined(separator: ";")
        bytes += "\u{1B}[\(text)m".utf8
    }

    private static func code(_ color: Color, base: Int) -> Int {
        if color == .normal { return base + 9 }
        let index = Int(color.rawValue)
        return index < 8 ? base + index : base + 60 + index - 8
    }
}
