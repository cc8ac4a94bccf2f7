/// The numbers of the house, and names that say nothing.
enum NumberRules {
    static let sourceLines = 400
    static let testLines = 500
    static let columns = 100
    static let functionLines = 60

    static func size(path: String, lines: [Substring]) -> [Violation] {
        let most = path.hasPrefix("Tests/") ? testLines : sourceLines
        var found: [Violation] = []
        if lines.count > most {
            found.append(
                Violation(
                    path: path, line: lines.count, rule: "file over \(most) lines",
                    advice: "split it by concept (tests: by behaviour)"))
        }
        for (index, line) in lines.enumerated() where line.utf8.count > columns {
            guard line.count > columns else { continue }
            found.append(
                Violation(
                    path: path, line: index + 1, rule: "line over \(columns) columns",
                    advice: "break it, it has \(line.count)"))
        }
        return found
    }

    static func longFunctions(in source: SwiftSource) -> [Violation] {
        let ends: Set<String> = [
            "func", "var", "let", "init", "subscript", "case", "static", "public", "package",
            "private", "typealias", "associatedtype", "mutating", "}",
        ]
        return source.tokens.indices.compactMap { position in
            let word = source.tokens[position].text
            let isInit = word == "init" && source.text(at: position - 1) != "."
            guard word == "func" || isInit else { return nil }
            var open = position + 1
            while let text = source.text(at: open), text != "(", !ends.contains(text) { open += 1 }
            guard source.text(at: open) == "(" else { return nil }
            open = source.closing(open, "(", ")") + 1
            while let text = source.text(at: open), text != "{", !ends.contains(text) { open += 1 }
            guard source.text(at: open) == "{" else { return nil }
            let close = min(source.closing(open, "{", "}"), source.tokens.count - 1)
            let first = source.tokens[position].line
            let count = source.tokens[close].line - first + 1
            guard count > functionLines else { return nil }
            return Violation(
                path: source.path, line: first, rule: "function over \(functionLines) lines",
                advice: "it has \(count): give its parts names")
        }
    }

    /// `Kernel.Kernel` could never be written in full: the type would hide the module.
    static func typesNamedLikeModule(in source: SwiftSource) -> [Violation] {
        ["struct", "class", "enum", "actor", "protocol", "typealias"].flatMap { kind in
            source.positions(of: [kind, source.module]).map {
                Violation(
                    path: source.path, line: source.tokens[$0].line,
                    rule: "type named like its module",
                    advice: "rename '\(source.module)': it would hide the module of that name")
            }
        }
    }

    static let emptyWords: Set<String> = [
        "Utils", "Util", "Utilities", "Helpers", "Helper", "Common", "Manager", "Types", "Misc",
    ]

    /// The words of a name in camel case: `FrameTypes+Coding` has Frame, Types and Coding.
    static func words(of name: Substring) -> [String] {
        var words: [String] = []
        for character in name {
            if character.isUppercase || !character.isLetter || words.isEmpty {
                words.append("")
            }
            if character.isLetter { words[words.count - 1].append(character) }
        }
        return words
    }

    static func emptyNames(path: String) -> [Violation] {
        let file = path.split(separator: "/").last ?? ""
        let name = file.prefix { $0 != "." }
        return words(of: name).filter(emptyWords.contains).map {
            Violation(
                path: path, line: 0, rule: "file named '\($0)'",
                advice: "name the one concept that it holds")
        }
    }
}
