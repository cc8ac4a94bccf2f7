import Testing

@Suite struct WordTests {
    private func source(_ text: String, _ path: String = "Sources/Host/A.swift") -> SwiftSource {
        SwiftSource(path: path, text: text)
    }

    @Test(arguments: [
        (#"let a = "fatalError(" // note here"#, ["let", "a", "="], [1: "note here"]),
        (
            #"a("x\(try! b("y"))z") /* c */ d"#, ["a", "(", "try", "!", "b", "(", ")", ")", "d"],
            [1: "c */"]
        ),
        ("let a = \"\"\"\n  try! \"quoted\" // no\n  \"\"\"\nb", ["let", "a", "=", "b"], [:]),
        (##"let a = #"as! \(try!) "x" "# + b"##, ["let", "a", "=", "+", "b"], [:]),
        (
            #"let a = /"try! \/ /; b = c/d/e"#,
            ["let", "a", "=", ";", "b", "=", "c", "/", "d", "/", "e"], [:]
        ),
        (##"let a = #/ " /#"##, ["let", "a", "="], [:]),
        ("/* a /* b */\n c */ d", ["d"], [1: "a /* b */", 2: "c */"]),
        ("func `try! \"a`() {}", ["func", "`try! \"a`", "(", ")", "{", "}"], [:]),
    ])
    func `only code becomes tokens`(text: String, tokens: [String], comments: [Int: String]) {
        let source = source(text)
        #expect(source.tokens.map(\.text) == tokens)
        #expect(source.comments == comments)
    }

    @Test(arguments: [
        "fatalError(\"never\")", "let a = try! b()", "let a = b as! C",
        "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1",
        "// Guarded by the loop.\n\nlet a = try! b()", "// guarded\nlet a = try! b()",
        "// swift-format-ignore: NeverUseForceTry\nlet a = try! b()",
    ])
    func `trust without a named guard is found`(text: String) {
        let found = WordRules.unguarded(in: source(text))
        #expect(found.count == 1)
        #expect(
            found.first?.line == text.split(separator: "\n", omittingEmptySubsequences: false).count
        )
    }

    @Test(arguments: [
        "let a = try! b()  // The literal above is valid.",
        "// Loop thread only.\nnonisolated(unsafe) var a = 1",
        "// The literal is valid.\n// swift-format-ignore: NeverUseForceTry\nlet a = try! b()",
        "/// The mutex guards all.\n@frozen\nfinal class A: @unchecked Sendable {}",
        "let a = try b() as? C", "let text = \"fatalError()\"",
    ])
    func `trust with a named guard passes outside the strict rooms alone`(text: String) {
        #expect(WordRules.unguarded(in: source(text)).isEmpty)
        let strict = WordRules.unguarded(in: source(text, "Sources/Wire/A.swift"))
        let trusts = text.contains("try!") || text.contains("unsafe") || text.contains("@unchecked")
        #expect(strict.isEmpty == !trusts)
    }

    @Test(arguments: [
        "import Dispatch", "import Foundation", "import class Foundation.Thread",
        "try await Task.sleep(for: .seconds(1))", "let id = UUID()", "Task { work() }",
        "Task.detached { work() }", "Task(priority: .high) { work() }",
        "let task = Task<Int, Never> { 1 }", "Task.immediate { work() }", "Task.init { work() }",
        "start(task: Task { work() })",
    ])
    func `what leaves the loop is found in sources and not in tests`(text: String) {
        #expect(WordRules.banned(in: source(text)).count == 1)
        #expect(WordRules.banned(in: source(text, "devices/Lamp/A.swift")).count == 1)
        #expect(WordRules.banned(in: source(text, "Tests/HostTests/A.swift")).isEmpty)
    }

    @Test(arguments: [
        "import FoundationEssentials", "Task(executorPreference: loop) { work() }",
        "Task.detached(\n    priority: .high, executorPreference: loop\n) { work() }",
        "var task: Task<Void, Never> { stored }",
        "func spawn() -> Task<Int, Never> { stored }", "Task.isCancelled", "UUID(uuid: bytes)",
        "extension Task {}", "withTaskGroup(of: Int.self) { $0.addTask { 1 } }",
    ])
    func `what stays on the loop passes`(text: String) {
        #expect(report(WordRules.banned(in: source(text))) == "")
    }

    @Test(arguments: [
        "Date()", "Date.now", "ContinuousClock().now", "Task(executorPreference: loop) {}",
        "Int.random(in: 0...1)", "list.shuffled()",
    ])
    func `a clock or a die in a pure room is found`(text: String) {
        #expect(WordRules.impurities(in: source(text, "Sources/Kernel/A.swift")).count == 1)
        #expect(WordRules.impurities(in: source(text, "Sources/Host/A.swift")).isEmpty)
        #expect(WordRules.impurities(in: source(text, "Tests/KernelTests/A.swift")).isEmpty)
    }

    @Test func `work left for later is found`() {
        let text = "let a = 1  // TODO: more\n/// FIXME\nlet hack = \"TODO\"  // XXXX and hackneyed"
        let found = WordRules.marks(path: "A.swift", comments: source(text).comments)
        #expect(found.map(\.line) == [1, 2])
    }

    @Test func `nothing may trap or be taken on trust without a reason`() {
        let found = Repository.sources.flatMap { WordRules.unguarded(in: $0) }
        expectNone(found)
        let rooms = Set(Repository.sources.map(\.module))
        #expect(rooms.isSuperset(of: WordRules.strictRooms))
    }

    @Test func `every process stays on its loop`() {
        let found = Repository.sources.flatMap { WordRules.banned(in: $0) }
        expectNone(found)
        #expect(Repository.sources.count { !$0.isTest } >= 15)
    }

    @Test func `the deterministic rooms are pure`() {
        let found = Repository.sources.flatMap { WordRules.impurities(in: $0) }
        expectNone(found)
        let rooms = Set(Repository.sources.map(\.module))
        #expect(rooms.isSuperset(of: WordRules.pureRooms))
    }

    @Test func `no work is left for later`() {
        var found = Repository.sources.flatMap {
            WordRules.marks(path: $0.path, comments: $0.comments)
        }
        let others = TreeTests.otherCode
        #expect(others.count >= 8)
        for (path, text) in others {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let numbered = lines.enumerated().map { ($0.offset + 1, String($0.element)) }
            found += WordRules.marks(
                path: path, comments: Dictionary(uniqueKeysWithValues: numbered))
        }
        expectNone(found)
    }
}
