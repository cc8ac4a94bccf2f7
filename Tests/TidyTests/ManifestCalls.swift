/// The calls in a manifest with their arguments that are string literals or arrays of these.
struct ManifestCalls {
    struct Call {
        let function: String
        let arguments: [(label: String, texts: [String])]

        var positional: [String] { arguments.filter { $0.label.isEmpty }.flatMap(\.texts) }

        func texts(of label: String) -> [String]? {
            arguments.first { $0.label == label }?.texts
        }

        func text(of label: String) -> String? { texts(of: label)?.first }
    }

    private(set) var all: [Call] = []

    init(_ text: String) {
        let characters = Array(Self.withoutComments(text))
        for (index, character) in characters.enumerated() where character == "(" {
            let name = characters[..<index].reversed().prefix { $0.isLetter || $0.isNumber }
            let before = characters[..<(index - name.count)].suffix(5)
            guard !name.isEmpty, String(before) != "func " else { continue }
            all.append(
                Call(
                    function: String(name.reversed()),
                    arguments: Self.arguments(
                        characters[(index + 1)...])))
        }
    }

    private static func withoutComments(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 }
            .joined(separator: "\n")
    }

    /// Reads up to the parenthesis that closes the call. Nested calls give their parent nothing.
    private static func arguments(
        _ characters: ArraySlice<Character>
    ) -> [(label: String, texts: [String])] {
        var arguments: [(label: String, texts: [String])] = []
        var label = ""
        var texts: [String] = []
        var literal: String?
        var depth = 0
        var brackets = 0
        for character in characters {
            if character == "\"" {
                if let text = literal, depth == 0 { texts.append(text) }
                literal = literal == nil ? "" : nil
            } else if let text = literal {
                literal = text + String(character)
            } else if character == "(" || character == ")" {
                depth += character == "(" ? 1 : -1
                if depth < 0 { break }
            } else if character == "[" || character == "]" {
                brackets += character == "[" ? 1 : -1
            } else if depth > 0 || brackets > 0 {
                continue
            } else if character == "," {
                arguments.append((label, texts))
                (label, texts) = ("", [])
            } else if character == ":" {
                label = label.filter { !$0.isWhitespace }
            } else if texts.isEmpty, character.isLetter {
                label.append(character)
            }
        }
        arguments.append((label, texts))
        return arguments.filter { !$0.texts.isEmpty }
    }
}
