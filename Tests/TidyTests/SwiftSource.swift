/// A Swift file as the rules read it: tokens and comments with their lines.
///
/// What stands in a string literal is no token, so a rule never stumbles over its own examples;
/// what stands in an interpolation is. A name in backticks is one token that keeps them.
struct SwiftSource {
    struct Token: Equatable {
        let text: String
        let line: Int
    }

    let path: String
    let lines: [Substring]
    let tokens: [Token]
    /// The comment texts by line, without their marks.
    let comments: [Int: String]
    /// The first token of each line that has one.
    private let firstTokens: [Int: String]

    init(path: String, text: String) {
        var lexer = SwiftLexer(text)
        lexer.readCode(untilParenthesis: false)
        self.path = path
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        tokens = lexer.tokens
        comments = lexer.comments
        firstTokens = Dictionary(
            lexer.tokens.map { ($0.line, $0.text) }, uniquingKeysWith: { first, _ in first })
    }

    var isTest: Bool { path.hasPrefix("Tests/") }

    /// The folder that is the module: `Kernel` of `Sources/Kernel/Hub.swift`.
    var module: String {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : ""
    }

    /// The positions at which these tokens stand one after the other.
    func positions(of wanted: [String]) -> [Int] {
        guard let head = wanted.first, tokens.count >= wanted.count else { return [] }
        return (0...(tokens.count - wanted.count)).filter { start in
            tokens[start].text == head
                && zip(wanted, tokens[start...]).allSatisfy { $0 == $1.text }
        }
    }

    func text(at position: Int) -> String? {
        tokens.indices.contains(position) ? tokens[position].text : nil
    }

    /// The position of the bracket that closes the one at `open`, or the end.
    func closing(_ open: Int, _ opener: String, _ closer: String) -> Int {
        var depth = 0
        for position in open..<tokens.count {
            if tokens[position].text == opener { depth += 1 }
            if tokens[position].text == closer { depth -= 1 }
            if depth == 0 { return position }
        }
        return tokens.count
    }

    /// Whether a comment at the end of the line or directly before it says something. Attributes
    /// and formatter marks may stand between.
    func hasComment(at line: Int) -> Bool {
        if says(line) { return true }
        var above = line - 1
        while firstTokens[above] == "@" || isFormatterMark(above) { above -= 1 }
        return firstTokens[above] == nil && says(above)
    }

    private func says(_ line: Int) -> Bool {
        guard let comment = comments[line], !isFormatterMark(line) else { return false }
        return comment.split(separator: " ").count > 1
    }

    private func isFormatterMark(_ line: Int) -> Bool {
        comments[line]?.contains("swift-format-ignore") ?? false
    }
}
