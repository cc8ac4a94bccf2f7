/// What the README says must be so.
enum ReadmeRules {
    /// A row of the table of promises: `| P1 | what is promised | `a test` |`.
    struct Row: Equatable {
        let name: String
        let line: Int
        let tests: [String]
    }

    static func section(_ title: String, of text: String) -> [(line: Int, text: Substring)] {
        var found: [(line: Int, text: Substring)] = []
        var inside = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.hasPrefix("## ") {
                inside = line.dropFirst(3) == title
            } else if inside {
                found.append((index + 1, line))
            }
        }
        return found
    }

    static func promises(of text: String) -> [Row] {
        section("Promises", of: text).compactMap { line, text in
            let cells = text.split(separator: "|").map { $0.drop { $0 == " " } }
            guard text.hasPrefix("|"), cells.count >= 3, !cells[0].hasPrefix("-") else {
                return nil
            }
            let name = cells[0].split(separator: " ").joined(separator: " ")
            if name.isEmpty || name == "promise" { return nil }
            let spans = cells[2...].joined(separator: "|").split(
                separator: "`", omittingEmptySubsequences: false)
            let tests = spans.enumerated().filter { $0.offset % 2 == 1 }.map {
                String($0.element)
            }
            return Row(name: name, line: line, tests: tests)
        }
    }

    static func unproven(in text: String, tests: Set<String>) -> [Violation] {
        promises(of: text).flatMap { row -> [Violation] in
            let absent = row.tests.filter { !tests.contains($0) }
            var found = absent.map {
                Violation(
                    path: "README.md", line: row.line, rule: "promise \(row.name)",
                    advice: "no test in Tests/ is named `\($0)`")
            }
            if row.tests.isEmpty {
                found.append(
                    Violation(
                        path: "README.md", line: row.line, rule: "promise \(row.name)",
                        advice: "name its tests in backticks, or list it as not there yet"))
            }
            return found
        }
    }

    /// Each promise of the design is kept with a test or said to be not there yet.
    static func unmentioned(in text: String) -> [Violation] {
        let kept = Set(promises(of: text).map(\.name))
        let later = Set(
            section("What is not there yet", of: text).flatMap { _, line in
                line.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            })
        return (1...10).map { "P\($0)" }
            .filter { !kept.contains($0) && !later.contains($0) }
            .map {
                Violation(
                    path: "README.md", line: 0, rule: "promise \($0)",
                    advice: "add its row to Promises, or name it under What is not there yet")
            }
    }

    /// Commands and folders that the README names must exist: the code spans that begin with one.
    static func absentFiles(in text: String, files: [String]) -> [Violation] {
        let folders = ["Scripts/", "Sources/", "Tests/", "devices/", "protocol/"]
        var found: [Violation] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.split { " `()|,;{}\"".contains($0) }
            for word in words where folders.contains(where: word.hasPrefix) {
                let path = word.hasSuffix(".") ? word.dropLast() : word
                let isThere = files.contains { file in
                    file == path || file.hasPrefix(path.hasSuffix("/") ? path : path + "/")
                }
                if isThere || path.contains("<") || path.contains("*") { continue }
                found.append(
                    Violation(
                        path: "README.md", line: index + 1, rule: "names what is not there",
                        advice: "'\(path)' is no file or folder of the tree"))
            }
        }
        return found
    }

    /// Lines of the Swift code of a section that stand in no line of a source, however either is
    /// indented.
    static func strayCode(
        in title: String, of text: String, source path: String, _ source: String
    ) -> [Violation] {
        func trimmed(_ line: Substring) -> String {
            String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let known = Set(source.split(separator: "\n").map(trimmed))
        var isCode = false
        return section(title, of: text).compactMap { number, line in
            if line.hasPrefix("```") {
                isCode = line == "```swift"
                return nil
            }
            let code = trimmed(line)
            guard isCode, !code.isEmpty, !known.contains(code) else { return nil }
            return Violation(
                path: "README.md", line: number, rule: "code that is not tested",
                advice: "'\(code)' is no line of \(path)")
        }
    }

    /// The names in backticks of all test functions.
    static func testNames(in sources: [SwiftSource]) -> Set<String> {
        var names: Set<String> = []
        for source in sources where source.isTest {
            for position in source.positions(of: ["func"]) {
                let name = source.text(at: position + 1) ?? ""
                if name.hasPrefix("`") { names.insert(String(name.dropFirst().dropLast())) }
            }
        }
        return names
    }
}
