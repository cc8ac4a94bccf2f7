import Presentation
import Testing

@Suite struct RendererTests {
    private static let alphabet = [
        " ", " ", "a", "B", "7", "漢", "字", "é", "e\u{301}", "😀", "…", "●", "🇩🇪", "\u{1B}", "─",
    ]

    private static func style(_ random: inout SplitMix) -> Style {
        let colors: [Color] = [.normal, .normal, .red, .brightCyan, .black]
        return Style(
            colors.randomElement(using: &random) ?? .normal,
            on: colors.randomElement(using: &random) ?? .normal,
            Style.Attributes(rawValue: UInt8.random(in: 0...7, using: &random)))
    }

    /// Changes a frame here and there, as a screen changes.
    private static func scribble(_ frame: inout Frame, _ random: inout SplitMix) {
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let row = Int.random(in: 0..<frame.size.rows, using: &random)
            let column = Int.random(in: 0..<frame.size.columns, using: &random)
            let style = Bool.random(using: &random) ? .plain : Self.style(&random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                frame.fill(row: row, column: column, width: 9, style: style)
            } else {
                let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? ""
                }
                frame.put(text.joined(), row: row, column: column, style: style)
            }
        }
        let shows = Bool.random(using: &random)
        frame.cursor =
            shows
            ? Position(
                row: Int.random(in: 0..<frame.size.rows, using: &random),
                column: Int.random(in: 0..<frame.size.columns, using: &random)) : nil
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6], [true, false])
    func `a terminal that obeys shows each frame`(seed: UInt64, usesColor: Bool) {
        var random = SplitMix(state: seed)
        for _ in 0..<40 {
            let size = Size(
                columns: Int.random(in: 1...24, using: &random),
                rows: Int.random(in: 1...6, using: &random))
            var terminal = TinyTerminal(size)
            var renderer = Renderer(usesColor: usesColor)
            var frame = Frame(size: size)
            for _ in 0..<25 {
                Self.scribble(&frame, &random)
                if Int.random(in: 0..<10, using: &random) == 0 { renderer.invalidate() }
                terminal.feed(renderer.bytes(for: frame))
                let difference = terminal.difference(from: frame, usesColor: usesColor)
                #expect(difference == [])
                if !difference.isEmpty { return }
            }
        }
    }

    @Test func `an unchanged frame costs no bytes`() {
        var renderer = Renderer()
        let frame = Frame(size: Size(columns: 10, rows: 3))
        #expect(!renderer.bytes(for: frame).isEmpty)
        #expect(renderer.bytes(for: frame).isEmpty)
        renderer.invalidate()
        #expect(!renderer.bytes(for: frame).isEmpty)
    }

    /// The bytes that turn one row into another, without the brackets of the update.
    private func change(_ old: String, _ new: String) -> String {
        var renderer = Renderer()
        var frames = [old, new].map { text in
            var frame = Frame(size: Size(columns: 40, rows: 3))
            for (row, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
                .enumerated()
            {
                frame.put(String(line), row: row, column: 0)
            }
            return frame
        }
        _ = renderer.bytes(for: frames.removeFirst())
        return String(decoding: renderer.bytes(for: frames[0]), as: UTF8.self)
            .replacingEscapes().dropping("[?2026h").dropping("[?2026l")
    }

    @Test(arguments: [
        ("abc", "abX", "^[[DX"),
        ("abcdefghijklm", "Xbcdefghijklm", "\rX"),
        ("abcdefghijklm", "XbcYefghijklm", "\rXbcY"),
        ("abcdefghijklmnopqr", "Xbcdefghijklmnopqr\nY", "\rX\r\nY"),
        ("abcdefghijklmnopqr", "XbcdefghijklmnopqY", "\rX^[[16CY"),
        ("abcdefghijklmnopqr", "ab", "^[[16D^[[K"),
        ("abcd", "abc", "^[[D "),
    ])
    func `the cheapest way is taken`(old: String, new: String, bytes: String) {
        #expect(change(old, new) == bytes)
    }

    @Test func `one more row selected costs two rows at most`() {
        var model = connected((1...2_000).map { summary($0) }, columns: 80, rows: 40)
        var renderer = Renderer()
        let whole = renderer.bytes(for: model.render()).count
        _ = model.press(.down)
        let step = renderer.bytes(for: model.render()).count
        #expect(step < 300)
        #expect(step * 5 < whole)
    }

    @Test func `a session ends what it begins`() {
        let enter = String(describing: TerminalSession.enter)
        let leave = String(describing: TerminalSession.leave)
        for mode in ["?1049", "?2004"] {
            #expect(enter.contains(mode + "h"))
            #expect(leave.contains(mode + "l"))
        }
        for mode in ["?7", "?25"] {
            #expect(enter.contains(mode + "l"))
            #expect(leave.contains(mode + "h"))
        }
        #expect(leave.first == "\u{1B}")
    }
}

extension String {
    fileprivate func replacingEscapes() -> String {
        map { $0 == "\u{1B}" ? "^[" : String($0) }.joined()
    }

    fileprivate func dropping(_ sequence: String) -> String {
        let mark = "^[" + sequence
        if hasPrefix(mark) { return String(dropFirst(mark.count)) }
        return hasSuffix(mark) ? String(dropLast(mark.count)) : self
    }
}
