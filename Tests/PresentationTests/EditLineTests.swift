import Presentation
import Testing

@Suite struct EditLineTests {
    /// The line with a bar for its cursor.
    private func shown(_ line: EditLine) -> String { line.before + "|" + line.after }

    private func key(_ name: String) -> Key {
        switch name {
        case "left": .left
        case "right": .right
        case "home": .home
        case "end": .end
        case "bs": .backspace
        case "del": .delete
        case "wl": .wordLeft
        case "wr": .wordRight
        case "wdel": .deleteWord
        default: name.hasPrefix("^") ? .control(name.last ?? " ") : .character(name.first ?? " ")
        }
    }

    @Test(arguments: [
        ("abc", "left X", "abX|c"), ("abc", "home X", "X|abc"), ("abc", "home end X", "abcX|"),
        ("abc", "left bs", "a|c"), ("abc", "home bs", "|abc"), ("abc", "home del", "|bc"),
        ("abc", "del", "abc|"), ("abc", "left left right", "ab|c"), ("", "left right bs del", "|"),
        ("one two  ", "^w", "one |"), ("one two", "left left ^w", "one |wo"), ("one", "^w ^w", "|"),
        ("one two", "left ^u", "|o"), ("one two", "home right ^k", "o|"),
        ("one two", "wl wl", "|one two"), ("one two", "home wr", "one| two"),
        ("one two", "home wr wr wr", "one two|"), ("/a/b c", "wdel", "/a/b |"),
        ("漢字", "left X", "漢X|字"), ("e\u{301}a", "left bs", "|a"), ("👨‍👩‍👧", "bs", "|"),
        ("abc", "^a X ^e Y", "XabcY|"), ("abc", "^b ^d", "ab|"), ("abc", "home ^f", "a|bc"),
    ])
    func `a key edits the line`(text: String, keys: String, result: String) {
        var line = EditLine(text)
        for name in keys.split(separator: " ") {
            let isKnown = line.handle(key(String(name)))
            #expect(isKnown)
        }
        #expect(shown(line) == result)
    }

    @Test(arguments: [Key.enter, .tab, .escape, .up, .function(1), .control("x"), .alt("x")])
    func `other keys mean nothing to a line`(key: Key) {
        var line = EditLine("abc")
        let isKnown = line.handle(key)
        #expect(!isKnown)
        #expect(line == EditLine("abc"))
    }

    @Test(arguments: [
        ("a b", "a b"), ("/photos/x\r", "/photos/x"), ("/photos/x\n\n", "/photos/x"),
        ("a\r\nb\nc\rd", "a b c d"), ("a\u{1B}[31mb", "a[31mb"), ("\u{3}\u{0}x\u{7F}", "x"),
        ("tab\there", "tab here"), ("漢😀", "漢😀"),
    ])
    func `a paste becomes one line`(text: String, line: String) {
        var edited = EditLine()
        _ = edited.handle(.paste(text))
        #expect(edited.text == line)
    }

    @Test func `a line has an end`() {
        var line = EditLine(String(repeating: "漢", count: 3_000))
        #expect(line.text.utf8.count <= EditLine.mostBytes)
        let count = line.text.count
        _ = line.handle(.character("漢"))
        #expect(line.text.count == count)
    }

    @Test(arguments: [1, 2, 3, 9, 10, 30])
    func `the cursor is on the screen wherever it is in the line`(columns: Int) {
        var model = connected([], columns: 20 + columns, rows: 9)
        _ = model.press(.character("n"))
        for text in [
            "abc", "漢字漢字漢字漢字漢字", "e\u{301}e\u{301}", String(repeating: "long ", count: 40),
        ] {
            model.type(text)
            for _ in 0..<text.count + 2 {
                let cursor = model.render().cursor
                #expect(cursor != nil && (cursor?.column ?? 0) < 20 + columns - 2)
                _ = model.press(.left)
            }
        }
    }

    @Test func `a long line shows the part around its cursor`() {
        var model = connected([], columns: 30, rows: 9)
        _ = model.press(.character("n"))
        model.type("0123456789abcdefghijklmnop")
        #expect(model.render().lines[3] == "│ Name    …abcdefghijklmnop  │")
        _ = model.press(.home)
        #expect(model.render().lines[3] == "│ Name    0123456789abcdefg… │")
    }
}
