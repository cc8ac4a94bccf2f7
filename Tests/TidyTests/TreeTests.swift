import Testing

@Suite struct TreeTests {
    /// Code that is not Swift: C, headers and scripts.
    static let otherCode: [(path: String, text: String)] = Repository.files
        .filter {
            $0.hasSuffix(".c") || $0.hasSuffix(".h") || $0.hasPrefix("Scripts/") || $0 == ".ci/run"
        }
        .compactMap { path in Repository.text(of: path).map { (path, $0) } }

    private let house = [
        "Package.swift", "README.md", "Scripts/run", "Sources/A/B.swift", "Tests/C/D.swift",
        "devices/E/device.json", "protocol/wire.md", ".ci/run",
    ]

    @Test func `a stranger at the top level is found and so is a gap`() {
        #expect(TreeRules.topLevel(of: house).isEmpty)
        #expect(
            TreeRules.topLevel(of: house + ["notes.md", "docs/a"]).map(\.path) == [
                "docs", "notes.md",
            ])
        let gap = TreeRules.topLevel(of: house.filter { $0 != "README.md" })
        #expect(gap.map(\.rule) == ["absent from the top level"])
    }

    @Test func `a folder without a target is found and so is a target without a folder`() {
        let manifest = Manifest(text: #"room("A"), device("E"), tests("C"), room("Gone")"#)
        let found = TreeRules.rooms(of: house + ["Sources/Dead/B.swift"], manifest)
        #expect(found.map(\.path) == ["Sources/Dead", "Package.swift"])
    }

    @Test(arguments: [
        ("open(\"/" + "home/me/x\")", true), ("/" + "root/x", true), ("cd /" + "Users/me/x", true),
        ("a//" + "home/x /" + "root/y", true), ("$TOP/" + "home/x", false),
        ("~/" + "home/x", false), ("https://host/" + "Users/x", false), ("/usr/bin", false),
    ])
    func `a path of one machine is found`(line: String, isFound: Bool) {
        let found = TreeRules.machinePaths(path: "A.swift", lines: [Substring(line)])
        #expect(found.isEmpty == !isFound)
    }

    @Test func `a path in a test's comment passes`() {
        let text = "let a = 1  // as in /" + "home/me/x\nlet b = 2"
        let source = SwiftSource(path: "Tests/A/B.swift", text: text)
        let lines = TreeRules.withoutComments(source)
        #expect(TreeRules.machinePaths(path: source.path, lines: lines).isEmpty)
        #expect(lines.last == "let b = 2")
    }

    @Test func `a careless script is found`() {
        let good = "#!/usr/bin/env bash\nset -euo pipefail\ncase $1 in\n-h | --help) usage ;;\n"
        #expect(TreeRules.script(path: "Scripts/a", text: good, isExecutable: true).isEmpty)
        let bad = TreeRules.script(
            path: "Scripts/a", text: "#!/bin/sh\nset -e\n", isExecutable: false)
        #expect(bad.count == 4)
        let headless = TreeRules.script(path: ".ci/run", text: good, isExecutable: true)
        #expect(headless.isEmpty)
    }

    @Test func `the top level is the agreed one`() {
        let found = TreeRules.topLevel(of: Repository.files)
        expectNone(found)
        #expect(Repository.files.count >= 50, "git lists too few files; is it installed?")
    }

    @Test func `every folder is a target and every target a folder`() {
        let found = TreeRules.rooms(of: Repository.files, Repository.manifest)
        expectNone(found)
        #expect(Repository.manifest.targets.count >= 40)
    }

    @Test func `no file names a path of one machine`() {
        var seen = 0
        var found: [Violation] = []
        let tests = Dictionary(
            uniqueKeysWithValues: Repository.sources.filter(\.isTest).map { ($0.path, $0) })
        for path in Repository.files {
            guard let text = Repository.text(of: path) else { continue }
            let lines =
                tests[path].map { TreeRules.withoutComments($0) }
                ?? text.split(separator: "\n", omittingEmptySubsequences: false)
            found += TreeRules.machinePaths(path: path, lines: lines)
            seen += 1
        }
        expectNone(found)
        #expect(seen >= 50)
    }

    @Test func `every script is executable, careful and explains itself`() {
        let scripts = Repository.files.filter { $0.hasPrefix("Scripts/") || $0 == ".ci/run" }
        #expect(scripts.count >= 7)
        let found = scripts.flatMap { path in
            TreeRules.script(
                path: path, text: Repository.text(of: path) ?? "",
                isExecutable: Repository.isExecutable(path))
        }
        expectNone(found)
    }
}
