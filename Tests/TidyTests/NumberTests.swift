import Testing

@Suite struct NumberTests {
    private func source(_ text: String, _ path: String = "Sources/Kernel/A.swift") -> SwiftSource {
        SwiftSource(path: path, text: text)
    }

    @Test func `a long file and a wide line are found`() {
        let lines = [Substring](repeating: "a", count: 401)
        #expect(NumberRules.size(path: "Sources/A/B.swift", lines: lines).count == 1)
        #expect(NumberRules.size(path: "Tests/A/B.swift", lines: lines).isEmpty)
        let wide = [
            Substring(String(repeating: "─", count: 100)),
            Substring(String(repeating: "a", count: 101)),
        ]
        #expect(NumberRules.size(path: "Sources/A/B.swift", lines: wide).map(\.line) == [2])
        let file = source(String(repeating: "a\n", count: 400))
        #expect(file.lines.count == 400)
        #expect(NumberRules.size(path: file.path, lines: file.lines).isEmpty)
    }

    @Test func `a long function is found by its own lines`() {
        let body = String(repeating: "    work()\n", count: 59)
        let long =
            "protocol P { func f(a: () -> Void)\n var v: Int { get } }\nfunc g() {\n\(body)}\n"
        #expect(NumberRules.longFunctions(in: source(long)).map(\.line) == [3])
        let fits = "struct A {\n init(\n a: Int) throws {\n" + body.dropLast(22) + "}\nlet b = 1 }"
        #expect(NumberRules.longFunctions(in: source(fits)).isEmpty)
        let many = "func `a b`() async -> Int {\n\(body)}\n" + "init?(a: Int) {\n\(body)}"
        #expect(NumberRules.longFunctions(in: source(many)).map(\.line) == [1, 62])
    }

    @Test(arguments: [
        "public struct Kernel {}", "package enum Kernel {}", "typealias Kernel = Hub",
    ])
    func `a type named like its module is found`(text: String) {
        #expect(NumberRules.typesNamedLikeModule(in: source(text)).count == 1)
        #expect(NumberRules.typesNamedLikeModule(in: source(text, "Sources/Host/A.swift")).isEmpty)
    }

    @Test(arguments: [
        ("Sources/Wire/FrameTypes.swift", true), ("Sources/Wire/Utils.swift", true),
        ("Sources/Wire/TaskManager+Run.swift", true), ("Sources/Wire/TypeErasure.swift", false),
        ("Sources/Wire/Uncommon.swift", false), ("Sources/Helpers/Frame.swift", false),
    ])
    func `a file whose name says nothing is found`(path: String, isFound: Bool) {
        #expect(NumberRules.emptyNames(path: path).isEmpty == !isFound)
    }

    @Test func `every file keeps to the numbers of the house`() {
        var found = Repository.sources.flatMap { NumberRules.size(path: $0.path, lines: $0.lines) }
        let others = TreeTests.otherCode
        #expect(others.count >= 8)
        for (path, text) in others {
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            if lines.last == "" { lines.removeLast() }
            found += NumberRules.size(path: path, lines: lines)
        }
        expectNone(found)
    }

    @Test func `every function keeps to the numbers of the house`() {
        let found = Repository.sources.flatMap { NumberRules.longFunctions(in: $0) }
        expectNone(found)
        let functions = Repository.sources.map { $0.positions(of: ["func"]).count }.reduce(0, +)
        #expect(functions >= 50)
    }

    @Test func `no type hides its module`() {
        let found = Repository.sources.flatMap { NumberRules.typesNamedLikeModule(in: $0) }
        expectNone(found)
    }

    @Test func `every file is named after its concept`() {
        let found = Repository.files.flatMap { NumberRules.emptyNames(path: $0) }
        expectNone(found)
        #expect(Repository.files.count >= 50)
    }
}
