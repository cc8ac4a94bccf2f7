import Testing

@testable import Mutants

/// The list of mistakes that the tests must notice does not rot: `Scripts/mutants` breaks the
/// rules, and these see that there is something to break.
@Suite struct MutantTests {
    @Test func `every mutant finds its place in the sources once`() throws {
        #expect(Catalogue.all.count >= Catalogue.model.count)
        for file in Set(Catalogue.all.flatMap(\.edits).map(\.file)).sorted() {
            let text = try #require(Repository.text(of: file), "\(file) is gone")
            let planted = Planting.plant(Catalogue.all, in: file, text)
            #expect(planted.complaints == [])
            #expect(planted.text != text)
        }
    }

    @Test func `every rule of the model has a mutant or a reason`() {
        #expect(Catalogue.model.count == 38)
        let found = Planting.complaints(
            of: Catalogue.all, Catalogue.exemptions, model: Catalogue.model)
        #expect(found == [])
    }

    @Test func `every check of a mutant is there`() {
        var checked = 0
        for mutant in Catalogue.all {
            for check in mutant.checks {
                guard case .test(let target, let name) = check else { continue }
                let room = Repository.sources.filter { $0.path.hasPrefix("Tests/\(target)/") }
                #expect(
                    ReadmeRules.testNames(in: room).contains(name), "\(mutant.rule): \(name)")
                checked += 1
            }
        }
        #expect(checked > 5)
    }

    private static let edit = Mutant.Edit("a", "x = 1", "x = BROKEN ? 2 : 1")

    @Test func `a mutant is planted behind its switch`() {
        let mutant = Mutant("rule", "it holds", [Self.edit])
        let planted = Planting.plant([mutant], in: "a", "let x = 1\n")
        #expect(planted.text == "internal import Control\nlet x = broken(\"rule\") ? 2 : 1\n")
        #expect(Planting.plant([mutant], in: "b", "let x = 1\n").text == "let x = 1\n")
        let known = "import Control\nlet x = 1\n"
        #expect(Planting.plant([mutant], in: "a", known).text.hasPrefix("import Control\nlet x"))
    }

    static let flawed: [(text: String, edits: [Mutant.Edit], problem: String)] = [
        ("let y = 1", [edit], "stands 0 times"),
        ("x = 1; x = 1", [edit], "stands 2 times"),
        ("let x = 1", [edit, Mutant.Edit("a", "let x", "var x // BROKEN")], "overlaps"),
    ]

    @Test(arguments: flawed)
    func `a mutant that finds no place of its own is refused`(
        text: String, edits: [Mutant.Edit], problem: String
    ) {
        let planted = Planting.plant([Mutant("rule", "", edits)], in: "a", text)
        #expect(planted.text == text)
        #expect(planted.complaints.count == 1)
        #expect(planted.complaints.first?.problem.hasPrefix(problem) == true)
    }

    static let lists: [(mutants: [Mutant], exemptions: [Exemption], problems: Int)] = [
        ([Mutant("a", "", [edit])], [Exemption(rule: "b", reason: "none yet")], 0),
        ([Mutant("a", "", [edit])], [], 1),
        ([Mutant("a", "", [edit])], [Exemption(rule: "b", reason: "")], 1),
        ([Mutant("a", "", [edit]), Mutant("b", "", [])], [], 1),
        ([Mutant("a", "", [edit]), Mutant("b", "", [edit], [])], [], 1),
        ([Mutant("a", "", [edit]), Mutant("b", "", [.init("a", "x", "y")])], [], 1),
        (
            [Mutant("a", "", [edit])],
            [.init(rule: "a", reason: "r"), .init(rule: "b", reason: "r")], 1
        ),
    ]

    @Test(arguments: lists)
    func `a list with a hole is refused`(
        mutants: [Mutant], exemptions: [Exemption], problems: Int
    ) {
        let found = Planting.complaints(of: mutants, exemptions, model: ["a", "b"])
        #expect(found.count == problems, "\(found)")
    }
}
