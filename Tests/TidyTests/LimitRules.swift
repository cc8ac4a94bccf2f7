/// The README's table of limits is that of the code.
enum LimitRules {
    /// A constant as it stands in the code: its numbers, and whether they are nanoseconds.
    struct Constant: Equatable {
        let numbers: [Double]
        let isNanoseconds: Bool
    }

    /// A row of the table: `| what | 64 MiB | \`HubLimits.openBytes\` |`.
    struct Row: Equatable {
        let line: Int
        let value: Substring
        let name: String
    }

    /// The types of which the table has every constant: what a peer may meet.
    static let whole = ["HubLimits", "WireLimits", "DriverLimits"]

    static func rows(of text: String) -> [Row] {
        ReadmeRules.section("Limits", of: text).compactMap { line, text in
            let cells = text.split(separator: "|").map { trimmed($0) }
            guard cells.count == 3, cells[2].hasPrefix("`"), cells[2].hasSuffix("`") else {
                return nil
            }
            return Row(line: line, value: cells[1], name: String(cells[2].dropFirst().dropLast()))
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The constants with a number that the types of a file declare, by `Type.name`.
    static func constants(in lines: [Substring]) -> [String: Constant] {
        var found: [String: Constant] = [:]
        var type = ""
        for line in lines {
            let words = line.split { " :=(".contains($0) }
            if line.first != " ", let kind = words.firstIndex(where: { isType($0) }) {
                type = words.indices.contains(kind + 1) ? String(words[kind + 1]) : ""
            }
            guard line.hasPrefix("    "), !line.hasPrefix("     "),
                let keyword = words.firstIndex(where: { $0 == "let" || $0 == "var" }),
                words.indices.contains(keyword + 1),
                let equals = line.firstIndex(of: "="), !line.contains("{")
            else { continue }
            let numbers = value(of: line[line.index(after: equals)...])
            guard !numbers.isEmpty else { continue }
            found["\(type).\(words[keyword + 1])"] = Constant(
                numbers: numbers, isNanoseconds: line[..<equals].contains("UInt64"))
        }
        return found
    }

    private static func isType(_ word: Substring) -> Bool {
        ["enum", "struct", "class", "extension"].contains(word)
    }

    /// `16 << 20` is one number, `Rate(count: 5, span: 60)` and `[1, 2]` are two.
    private static func value(of expression: Substring) -> [Double] {
        let numbers = numbers(in: expression)
        guard expression.contains("<<"), numbers.count == 2 else { return numbers }
        return [numbers[0] * Double(1 << Int(numbers[1]))]
    }

    private static func numbers(in text: Substring) -> [Double] {
        text.split { !($0.isASCII && $0.isNumber) && !"._,".contains($0) }
            .compactMap { word in Double(String(word.filter { $0 != "_" && $0 != "," })) }
    }

    /// The numbers of a cell in the unit of the constant.
    static func numbers(in cell: Substring, nanoseconds: Bool) -> [Double] {
        let units: [String: Double] = [
            "KiB": 1_024, "MiB": 1_048_576, "s": nanoseconds ? 1e9 : 1,
            "ms": nanoseconds ? 1e6 : 0.001,
        ]
        let unit = cell.split(separator: " ").last.flatMap { units[String($0)] } ?? 1
        return numbers(in: cell).map { $0 * unit }
    }

    static func wrong(in text: String, _ constants: [String: Constant]) -> [Violation] {
        let rows = rows(of: text)
        func violation(_ line: Int, _ name: String, _ advice: String) -> Violation {
            Violation(path: "README.md", line: line, rule: "limit \(name)", advice: advice)
        }
        var found = rows.compactMap { row -> Violation? in
            guard let constant = constants[row.name] else {
                return violation(row.line, row.name, "the code has no such constant")
            }
            let told = numbers(in: row.value, nanoseconds: constant.isNanoseconds)
            if told == constant.numbers { return nil }
            return violation(
                row.line, row.name, "'\(row.value)' is \(told), the code says \(constant.numbers)")
        }
        let told = Set(rows.map(\.name))
        for name in constants.keys.sorted() where !told.contains(name) {
            guard whole.contains(where: { name.hasPrefix($0 + ".") }) else { continue }
            found.append(violation(0, name, "add its row to the table under Limits"))
        }
        return found
    }
}
