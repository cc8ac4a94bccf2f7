/// One line of text with a cursor in it. Characters are moved over and deleted as people see them.
package struct EditLine: Sendable, Equatable {
    /// Bytes that a line takes; more is not inserted. The longest path of Linux is as long.
    package static let mostBytes = 4_096

    /// What stands before the cursor, and after it. Kept apart, so that a mark typed at the cursor
    /// joins the character before it and never swallows one after it.
    package private(set) var before: String
    package private(set) var after = ""
    /// What was inserted last did not fit whole.
    package private(set) var isCut = false

    package init(_ text: String = "") {
        before = ""
        insert(text)
    }

    package var text: String { before + after }

    /// Inserts text; line breaks and tabs become spaces, other control characters vanish.
    package mutating func insert(_ text: String) {
        isCut = false
        var room = Self.mostBytes - before.utf8.count - after.utf8.count
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            defer { last = scalar }
            var next = scalar
            if scalar.properties.generalCategory == .control {
                let isBreak = scalar == "\r" || (scalar == "\n" && last != "\r")
                guard isBreak || scalar == "\t" else { continue }
                next = " "
            }
            room -= UTF8.width(next)
            if room < 0 {
                isCut = true
                return
            }
            before.unicodeScalars.append(next)
        }
    }

    /// Does what a key means in a line; false when it means nothing there.
    package mutating func handle(_ key: Key) -> Bool {
        isCut = false
        switch key {
        case .character(let character): insert(String(character))
        case .paste(let text): insert(Self.trimmed(text))
        case .left, .control("b"): if let last = before.popLast() { after = "\(last)\(after)" }
        case .right, .control("f"): if !after.isEmpty { before.append(after.removeFirst()) }
        case .home, .control("a"):
            after = text
            before = ""
        case .end, .control("e"):
            before = text
            after = ""
        case .wordLeft, .alt("b"): moveWordLeft()
        case .wordRight, .alt("f"): moveWordRight()
        case .backspace: _ = before.popLast()
        case .delete, .control("d"): if !after.isEmpty { after.removeFirst() }
        case .deleteWord, .control("w"): deleteWord()
        case .control("u"): before = ""
        case .control("k"): after = ""
        default: return false
        }
        return true
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }

    /// The part of the text before the cursor that a word deletion takes: the word and the blanks
    /// between it and the cursor.
    private var wordBefore: Substring {
        let kept = before.reversed().drop { $0 == " " }.drop { $0 != " " }
        return before.dropFirst(kept.count)
    }

    private mutating func deleteWord() { before.removeLast(wordBefore.count) }

    private mutating func moveWordLeft() {
        let word = String(wordBefore)
        deleteWord()
        after = word + after
    }

    private mutating func moveWordRight() {
        let rest = after.drop { $0 == " " }.drop { $0 != " " }
        before += after.prefix(after.count - rest.count)
        after = String(rest)
    }

    /// Draws the part of the line around the cursor.
    ///
    /// - Returns: the cells between `column` and the cursor.
    func draw(
        into frame: inout Frame, row: Int, column: Int, width: Int, style: Style = .plain
    ) -> Int {
        guard width > 0 else { return 0 }
        frame.fill(row: row, column: column, width: width, style: style)
        // Only what is near the cursor can be seen.
        let near = String(before.suffix(width))
        var shown = SafeText(near).glyphs[...]
        var cells = shown.reduce(0) { $0 + $1.width }
        let isCut = cells >= width || near.utf8.count < before.utf8.count
        while cells >= max(width - (isCut ? 1 : 0), 1), let first = shown.popFirst() {
            cells -= first.width
        }
        var place = column
        if isCut, width > 1 { place += frame.put("…", row: row, column: place, style: .dim) }
        for glyph in shown {
            place += frame.put(glyph.text, row: row, column: place, style: style)
        }
        let cursor = place - column
        frame.put(after, row: row, column: place, width: width - cursor, style: style)
        return cursor
    }
}
