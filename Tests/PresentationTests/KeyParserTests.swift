import Presentation
import Testing

@Suite struct KeyParserTests {
    static let table: [(text: String, keys: [Key])] = [
        ("a", [.character("a")]), ("é", [.character("é")]), ("漢", [.character("漢")]),
        ("😀", [.character("😀")]),
        ("aB ~", [.character("a"), .character("B"), .character(" "), .character("~")]),
        ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]), ("\u{7F}", [.backspace]),
        ("\u{8}", [.backspace]), ("\u{3}", [.control("c")]), ("\u{17}", [.control("w")]),
        ("\u{1A}", [.control("z")]), ("\u{0}", []), ("\u{1F}", []),
        ("\u{1B}[A", [.up]), ("\u{1B}[B", [.down]), ("\u{1B}[C", [.right]), ("\u{1B}[D", [.left]),
        ("\u{1B}OA", [.up]), ("\u{1B}OD", [.left]), ("\u{1B}[H", [.home]), ("\u{1B}OF", [.end]),
        ("\u{1B}[1~", [.home]), ("\u{1B}[4~", [.end]), ("\u{1B}[7~", [.home]),
        ("\u{1B}[2~", [.insert]), ("\u{1B}[3~", [.delete]), ("\u{1B}[5~", [.pageUp]),
        ("\u{1B}[6~", [.pageDown]), ("\u{1B}[1;5C", [.wordRight]), ("\u{1B}[1;3D", [.wordLeft]),
        ("\u{1B}[1;2D", [.left]), ("\u{1B}[Z", [.backTab]), ("\u{1B}OP", [.function(1)]),
        ("\u{1B}[[B", [.function(2)]), ("\u{1B}[15~", [.function(5)]),
        ("\u{1B}[24~", [.function(12)]), ("\u{1B}OM", [.enter]),
        ("\u{1B}b", [.alt("b")]), ("\u{1B}é", [.alt("é")]), ("\u{1B}\u{7F}", [.deleteWord]),
        ("\u{1B}\u{3}", [.escape, .control("c")]),
        ("\u{1B}\u{1B}[A", [.escape, .up]), ("\u{1B}[A\u{1B}[Bx", [.up, .down, .character("x")]),
        ("\u{1B}[200~a\r\nb\u{1B}[201~c", [.paste("a\r\nb"), .character("c")]),
        ("\u{1B}[200~\u{1B}[20\u{1B}[201~", [.paste("\u{1B}[20")]),
        ("\u{1B}[200~\u{1B}\u{1B}[201~", [.paste("\u{1B}")]),
        ("\u{1B}[200~漢\u{3}q\u{1B}[201~", [.paste("漢\u{3}q")]), ("\u{1B}[200~\u{1B}[201~", []),
        ("\u{1B}]11;rgb:0/0/0\u{7}x", [.character("x")]),
        ("\u{1B}]0;q\u{1B}\\x", [.character("x")]), ("\u{1B}P1$rq\u{1B}\\x", [.character("x")]),
        ("\u{1B}[?62;c", []), ("\u{1B}[I", []),
        ("\u{1B}[999999999999999999999999~x", [.character("x")]),
        ("\u{1B}[99~", []), ("\u{1B}[1;1R", []), ("\u{1B}[\u{3}", [.control("c")]),
    ]

    @Test(arguments: table.indices)
    func `bytes become keys wherever they are cut`(row: Int) {
        let (text, keys) = Self.table[row]
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var parser = KeyParser()
            let found = parser.feed(bytes[..<cut]) + parser.feed(bytes[cut...])
            #expect(found == keys, "cut at \(cut)")
            #expect(parser.patience == nil, "cut at \(cut)")
        }
        var parser = KeyParser()
        #expect(bytes.flatMap { parser.feed([$0]) } == keys)
    }

    @Test(arguments: [
        ("\u{1B}", [Key.escape]), ("\u{1B}[", [.alt("[")]), ("\u{1B}O", [.alt("O")]),
        ("\u{1B}[1;", []), ("\u{1B}]0;", []), ("x\u{1B}", [.character("x"), .escape]),
        ("\u{1B}[200~ab\u{1B}[2", [.paste("ab\u{1B}[2")]), ("", []),
    ])
    func `silence ends what was begun`(text: String, keys: [Key]) {
        var parser = KeyParser()
        let found = parser.feed(text.utf8)
        #expect((parser.patience == nil) == text.isEmpty)
        #expect(found + parser.flush() == keys)
        #expect(parser.patience == nil)
        #expect(parser.feed("a".utf8) == [.character("a")])
    }

    @Test func `a paste is given more patience than a sequence`() {
        var parser = KeyParser()
        _ = parser.feed("\u{1B}".utf8)
        #expect(parser.patience == KeyParser.sequencePatience)
        _ = parser.feed("[200~".utf8)
        #expect(parser.patience == KeyParser.pastePatience)
    }

    @Test(
        arguments: [
            [0xFF], [0x80], [0xC0, 0xAF], [0xC3], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xE9], [0xE0, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80],
            [0xE9, 0xE8], [0xF0, 0x80, 0x80], [0xC3, 0xC3, 0xA9],
        ] as [[UInt8]])
    func `bytes that are no text are seen as often as the language's own text shows them`(
        bytes: [UInt8]
    ) {
        let shown = String(decoding: bytes, as: UTF8.self).map { Key.character($0) }
        #expect(shown.contains(.character("\u{FFFD}")))
        for cut in 0...bytes.count {
            var parser = KeyParser()
            let found = parser.feed(bytes[..<cut]) + parser.feed(bytes[cut...] + [0x61])
            #expect(found == shown + [.character("a")], "cut at \(cut)")
            #expect(parser.patience == nil)
        }
        var parser = KeyParser()
        #expect(parser.feed(bytes) + parser.flush() == shown, "silence ends what was begun")
    }

    @Test func `a control character of two bytes is no key`() {
        var parser = KeyParser()
        #expect(parser.feed([0xC2, 0x9B, 0x61]) == [.character("a")])
    }

    @Test func `a paste keeps what it may and drops the rest`() {
        var parser = KeyParser()
        let much = Array(repeating: UInt8(0x61), count: KeyParser.mostPasted + 5_000)
        let keys = parser.feed(Array("\u{1B}[200~".utf8) + much + Array("\u{1B}[201~x".utf8))
        #expect(keys.count == 2)
        #expect(keys.first == .paste(String(repeating: "a", count: KeyParser.mostPasted)))
        #expect(keys.last == .character("x"))
    }

    @Test(arguments: [11, 12, 13, 14])
    func `random bytes never trap and never give a control as a character`(seed: UInt64) {
        var random = SplitMix(state: seed)
        let likely = Array("\u{1B}[O;~0123456789ABCM<200~201~?P]\\\u{7}漢😀".utf8)
        var parser = KeyParser()
        var count = 0
        for _ in 0..<4_000 {
            let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? likely.randomElement(using: &random) ?? 0
                    : UInt8.random(in: 0...255, using: &random)
            }
            var keys = parser.feed(bytes)
            if Int.random(in: 0..<5, using: &random) == 0 { keys += parser.flush() }
            count += keys.count
            for case .character(let character) in keys {
                let scalar = character.unicodeScalars.first?.value ?? 0
                #expect(scalar >= 0x20 && !(0x7F..<0xA0).contains(scalar))
            }
        }
        #expect(count > 1_000)
    }
}
