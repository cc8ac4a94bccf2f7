import Presentation
import Testing

@Suite struct SafeTextTests {
    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("カ", 2), ("ｶ", 1), ("한", 2),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("😀", 2), ("❤", 1), ("❤\u{FE0F}", 1), ("⌚", 2),
        ("👍🏽", 2), ("👨\u{200D}👩\u{200D}👧", 6), ("🇩🇪", 2), ("…", 1), ("─", 1), ("●", 1),
        ("\u{303F}", 1),
        ("Ａ", 2), ("\u{1F3FD}", 2), ("ก\u{0E31}", 1), ("\u{20AC}", 1), ("\u{2000B}", 2), ("", 0),
    ])
    func `text has the width of its cells`(text: String, width: Int) {
        #expect(SafeText(text).width == width)
    }

    @Test(arguments: [
        (0x00, 0), (0x1B, 0), (0x7F, 0), (0x9B, 0), (0x41, 1), (0xAD, 0), (0x301, 0), (0x1160, 0),
        (0x200B, 0), (0x3000, 2), (0x1F600, 2), (0x1F3FB, 2), (0x10FFFF, 1),
    ])
    func `a scalar has the width that terminals give it`(value: Int, width: Int) throws {
        let scalar = try #require(Unicode.Scalar(UInt32(value)))
        #expect(TextWidth.of(scalar) == width)
    }

    @Test(arguments: [
        ("a\u{1B}[31mb", "a\u{FFFD}[31mb"), ("\u{1B}]0;x\u{07}", "\u{FFFD}]0;x\u{FFFD}"),
        ("\u{9B}2J", "\u{FFFD}2J"), ("a\nb\tc\r", "a\u{FFFD}b\u{FFFD}c\u{FFFD}"),
        ("\u{7F}\u{0}", "\u{FFFD}\u{FFFD}"), ("a\u{202E}gpj.exe", "a\u{FFFD}gpj.exe"),
        ("\u{2066}x\u{200F}", "\u{FFFD}x\u{FFFD}"), ("a\u{2028}b", "a\u{FFFD}b"),
        ("\u{301}a", "a"), ("a\u{200B}\u{FEFF}\u{AD}b", "ab"), ("\u{FFFF}", "\u{FFFD}"),
        ("e\u{301}\u{301}\u{301}\u{301}\u{301}x", "e\u{301}\u{301}\u{301}x"), ("plain", "plain"),
    ])
    func `nothing that a terminal obeys is left`(text: String, shown: String) {
        #expect(Array(SafeText(text).text.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test func `no scalar at all reaches a terminal as a control`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = SafeText("a\(String(scalar))b").text.unicodeScalars
            let isSafe = text.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            #expect(isSafe, "U+\(String(value, radix: 16))")
        }
    }

    @Test(arguments: [
        ("holiday", 7, "holiday"), ("holiday", 6, "holid…"), ("holiday", 1, "…"),
        ("holiday", 0, ""), ("holiday", -3, ""), ("漢字", 4, "漢字"), ("漢字", 3, "漢…"),
        ("漢字", 2, "…"), ("a漢", 2, "a…"), ("e\u{301}e\u{301}", 1, "…"), ("", 5, ""),
    ])
    func `what does not fit ends in an ellipsis`(text: String, columns: Int, shown: String) {
        let safe = SafeText(text, fitting: columns)
        #expect(safe.text == shown)
        #expect(safe.width <= max(columns, 0))
    }

    @Test func `a huge text costs no more than its part that is shown`() {
        let marks = "a" + String(repeating: "\u{301}", count: 2_000_000)
        #expect(SafeText(marks, fitting: 10).width <= 10)
        #expect(SafeText(String(repeating: "x", count: 2_000_000), fitting: 10).width == 10)
        #expect(SafeText(String(repeating: "x", count: 5_000)).width == Size.mostColumns)
    }

    @Test(arguments: [
        ("one two three", 7, 3, ["one two", "three"]), ("one two three", 5, 2, ["one", "two …"]),
        ("abcdefgh", 3, 3, ["abc", "def", "gh"]), ("漢字", 1, 3, ["漢", "字"]), ("", 5, 2, []),
        ("word", 0, 2, []), ("word", 4, 0, []),
    ])
    func `text is wrapped at spaces`(text: String, columns: Int, lines: Int, wrapped: [String]) {
        #expect(SafeText.wrap(text, columns: columns, lines: lines) == wrapped)
    }
}
