/// What lies where in the tree, and what may not be in any file of it.
enum TreeRules {
    static let topLevel: Set<String> = [
        "Package.swift", "README.md", "Sources", "Tests", "devices", "protocol", "Scripts",
    ]

    static func topLevel(of files: [String]) -> [Violation] {
        let found = Set(files.compactMap { $0.split(separator: "/").first.map(String.init) })
        let extra = found.subtracting(topLevel).filter { !$0.hasPrefix(".") }.sorted()
        let absent = topLevel.subtracting(found).sorted()
        return extra.map {
            Violation(
                path: $0, line: 0, rule: "not of the top level",
                advice: "move it into a room, or ignore it: the top level is fixed")
        }
            + absent.map {
                Violation(
                    path: $0, line: 0, rule: "absent from the top level",
                    advice: "bring it back: the top level is fixed")
            }
    }

    /// Folders without a target are dead; targets without a folder do not build.
    static func rooms(of files: [String], _ manifest: Manifest) -> [Violation] {
        let folders = Set(
            files.compactMap { file -> String? in
                let parts = file.split(separator: "/")
                let holdsRooms = ["Sources", "devices", "Tests"].contains(parts.first)
                return holdsRooms && parts.count > 2 ? parts[..<2].joined(separator: "/") : nil
            })
        let targets = Set(manifest.targets.map(\.path))
        return folders.subtracting(targets).sorted().map {
            Violation(
                path: $0, line: 0, rule: "folder without a target",
                advice: "name it in Package.swift or remove it")
        }
            + targets.subtracting(folders).sorted().map {
                Violation(
                    path: "Package.swift", line: 0, rule: "target without a folder",
                    advice: "'\($0)' holds no file")
            }
    }

    /// A path of one machine: `/home/me`, but neither `a/home/` nor `$TOP/home/`.
    static func machinePaths(path: String, lines: [Substring]) -> [Violation] {
        let homes = ["home", "root", "Users"].map { "/" + $0 + "/" }
        return lines.enumerated().compactMap { index, line in
            guard homes.contains(where: { hasPath($0, in: line) }) else { return nil }
            return Violation(
                path: path, line: index + 1, rule: "path of one machine",
                advice: "make it relative, or take it from the environment")
        }
    }

    private static func hasPath(_ home: String, in line: Substring) -> Bool {
        var rest = line
        while let start = rest.firstIndex(of: "/") {
            if rest[start...].hasPrefix(home) {
                let before = start == line.startIndex ? " " : line[line.index(before: start)]
                let continues = before.isLetter || before.isNumber || "._~-})/".contains(before)
                if !continues { return true }
            }
            rest = rest[start...].dropFirst()
        }
        return false
    }

    /// The lines of a test without its comments, in which a path may stand as an example.
    static func withoutComments(_ source: SwiftSource) -> [Substring] {
        source.lines.enumerated().map { index, line in
            guard let comment = source.comments[index + 1] else { return line }
            return line.dropLast(min(comment.count, line.count))
        }
    }

    static func script(path: String, text: String, isExecutable: Bool) -> [Violation] {
        var found: [Violation] = []
        func add(_ rule: String, _ advice: String) {
            found.append(Violation(path: path, line: 1, rule: rule, advice: advice))
        }
        if !isExecutable { add("script not executable", "chmod +x, and commit the mode") }
        if !text.hasPrefix("#!/usr/bin/env bash\n") {
            add("script without its interpreter", "begin with #!/usr/bin/env bash")
        }
        if !text.contains("\nset -euo pipefail\n") {
            add("script that goes on after a failure", "set -euo pipefail")
        }
        if path.hasPrefix("Scripts/"), !text.contains("--help)") {
            add("script without --help", "print the usage")
        }
        return found
    }
}
