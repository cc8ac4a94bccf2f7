/// Splits Swift text into tokens and comments. It knows just what can hide a quote or a slash:
/// comments, string literals of every form with their interpolations, and regular expressions.
struct SwiftLexer {
    private(set) var tokens: [SwiftSource.Token] = []
    private(set) var comments: [Int: String] = [:]
    private let bytes: [UInt8]
    private var at = 0
    private var line = 1

    init(_ text: String) { bytes = Array(text.utf8) }

    private func peek(_ ahead: Int = 0) -> UInt8 {
        at + ahead < bytes.count ? bytes[at + ahead] : 0
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where at < bytes.count {
            if bytes[at] == UInt8(ascii: "\n") { line += 1 }
            at += 1
        }
    }

    private func startsWith(_ text: StaticString, _ ahead: Int = 0) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard at + ahead + wanted.count <= bytes.count else { return false }
        return wanted.indices.allSatisfy { bytes[at + ahead + $0] == wanted[$0] }
    }

    private func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private mutating func add(from start: Int, line: Int) {
        tokens.append(.init(text: String(decoding: bytes[start..<at], as: UTF8.self), line: line))
    }

    /// Reads to the end, or behind the parenthesis that closes an interpolation.
    mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while at < bytes.count {
            let byte = peek()
            switch byte {
            case 0...UInt8(ascii: " "):
                advance()
            case UInt8(ascii: "`"):
                readName()
            case _ where isWord(byte):
                let start = at
                while isWord(peek()) { at += 1 }
                add(from: start, line: line)
            case UInt8(ascii: "/") where startsWith("//") || startsWith("/*"):
                readComment()
            case UInt8(ascii: "/") where startsRegularExpression(),
                UInt8(ascii: "#") where startsWith("#/"):
                readRegularExpression()
            case UInt8(ascii: "\"") where readString(), UInt8(ascii: "#") where readString():
                break
            default:
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                if untilParenthesis, depth < 0 { return advance() }
                at += 1
                add(from: at - 1, line: line)
            }
        }
    }

    private mutating func readName() {
        let start = at
        let from = line
        advance()
        while at < bytes.count, peek() != UInt8(ascii: "`") { advance() }
        advance()
        add(from: start, line: from)
    }

    private mutating func readComment() {
        let isBlock = startsWith("/*")
        var depth = 0
        var start = at
        while at < bytes.count {
            if peek() == UInt8(ascii: "\n") {
                comment(from: start)
                if !isBlock { return }
                start = at + 1
            }
            if isBlock, startsWith("/*") {
                depth += 1
                advance(2)
            } else if isBlock, startsWith("*/") {
                depth -= 1
                advance(2)
                if depth == 0 { return comment(from: start) }
            } else {
                advance()
            }
        }
        comment(from: start)
    }

    private mutating func comment(from start: Int) {
        let marks = "/* \t"
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        comments[line, default: ""] += text.drop { marks.contains($0) }
    }

    /// Reads a string literal; false, with nothing read, where none begins.
    private mutating func readString() -> Bool {
        var hashes = 0
        while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
        guard peek(hashes) == UInt8(ascii: "\"") else { return false }
        advance(hashes)
        let quotes = startsWith("\"\"\"") ? 3 : 1
        advance(quotes)
        while at < bytes.count {
            let byte = peek()
            if byte == UInt8(ascii: "\\"), isRun(of: "#", hashes, from: 1) {
                advance(1 + hashes)
                let interpolates = peek() == UInt8(ascii: "(")
                advance()
                if interpolates { readCode(untilParenthesis: true) }
            } else if byte == UInt8(ascii: "\""), isRun(of: "\"", quotes, from: 0),
                isRun(of: "#", hashes, from: quotes)
            {
                advance(quotes + hashes)
                return true
            } else if quotes == 1, byte == UInt8(ascii: "\n") {
                return true  // An open literal: the compiler says so.
            } else {
                advance()
            }
        }
        return true
    }

    private func isRun(of character: Unicode.Scalar, _ count: Int, from start: Int) -> Bool {
        for ahead in 0..<count where peek(start + ahead) != UInt8(ascii: character) {
            return false
        }
        return true
    }

    private func startsRegularExpression() -> Bool {
        let openers: Set<String> = ["(", ",", "=", ":", "[", "{", "}", "!", "&", "|", "return"]
        guard peek(1) > UInt8(ascii: " "), openers.contains(tokens.last?.text ?? "{") else {
            return false
        }
        let rest = bytes[(at + 1)...].prefix { $0 != UInt8(ascii: "\n") }
        return rest.contains(UInt8(ascii: "/"))
    }

    private mutating func readRegularExpression() {
        let extended = peek() == UInt8(ascii: "#")
        advance(extended ? 2 : 1)
        while at < bytes.count {
            if peek() == UInt8(ascii: "\\") {
                advance(2)
            } else if extended ? startsWith("/#") : peek() == UInt8(ascii: "/") {
                return advance(extended ? 2 : 1)
            } else {
                advance()
            }
        }
    }
}
