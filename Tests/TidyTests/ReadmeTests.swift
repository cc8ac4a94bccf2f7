import Testing

@Suite struct ReadmeTests {
    private let sample = """
        # House
        ## Promises
        |  | promise | tests |
        |---|---|---|
        | P1 | Nothing falls. | `a cup stays` and `a plate stays` |
        | P2 | Nothing burns. | see above |
        ## What is not there yet
        P3, (P4) and `Sources/Gone/` or `Scripts/run`.
        ## Licence (MIT)
        """

    @Test func `a promise without its test is found`() {
        let rows = ReadmeRules.promises(of: sample)
        #expect(rows.map(\.name) == ["P1", "P2"])
        #expect(rows.first?.tests == ["a cup stays", "a plate stays"])
        let found = ReadmeRules.unproven(in: sample, tests: ["a cup stays"])
        #expect(found.map(\.line) == [5, 6])
        let last = ReadmeRules.unmentioned(in: sample).map(\.rule)
        #expect(last == ["P5", "P6", "P7", "P8", "P9", "P10"].map { "promise \($0)" })
    }

    @Test func `a file that is not there is found`() {
        let found = ReadmeRules.absentFiles(
            in: sample, files: ["Scripts/run", "Sources/A/B.swift"])
        #expect(found.map(\.line) == [8])
        #expect(
            ReadmeRules.absentFiles(in: "See Sources/A/ or Sources/A.", files: ["Sources/A/B"])
                .isEmpty)
    }

    @Test func `code that stands in no source is found`() {
        let text = "## Rows\n```swift\nlet a = 1\n\n  let b = 2\n```\nlet c = 3\n```json\n{}\n```\n"
        let source = "enum A {\n    let a = 1\n}\n"
        let found = ReadmeRules.strayCode(in: "Rows", of: text, source: "A.swift", source)
        #expect(found.map(\.line) == [5])
        #expect(ReadmeRules.strayCode(in: "Columns", of: text, source: "A.swift", "").isEmpty)
    }

    @Test func `the README's code of a table is that of the zoo`() throws {
        let path = "Tests/DeviceZoo/Shelf.swift"
        let source = try #require(Repository.text(of: path))
        let title = "Regions with many rows"
        let text = try readme()
        #expect(ReadmeRules.section(title, of: text).count > 40)
        expectNone(ReadmeRules.strayCode(in: title, of: text, source: path, source))
    }

    private func readme() throws -> String {
        try #require(Repository.text(of: "README.md"))
    }

    @Test func `every promise of the README has its tests`() throws {
        let text = try readme()
        let tests = ReadmeRules.testNames(in: Repository.sources)
        #expect(tests.count >= 30)
        #expect(!ReadmeRules.promises(of: text).isEmpty)
        let found = ReadmeRules.unproven(in: text, tests: tests)
        expectNone(found)
    }

    @Test func `every promise of the design is kept or named as not there yet`() throws {
        let found = ReadmeRules.unmentioned(in: try readme())
        expectNone(found)
    }

    @Test func `the README names only what is there and ends with the licence`() throws {
        let text = try readme()
        let found = ReadmeRules.absentFiles(in: text, files: Repository.files)
        expectNone(found)
        let sections = text.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(sections.last == "## Licence (MIT)")
        #expect(text.contains("Scripts/run") && text.contains("Scripts/test"))
    }
}
