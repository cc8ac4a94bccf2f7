import Control
import Testing

/// Pipes as data: what is announced, and what their closures do.
@Suite struct PipeTests {
    static let double = Symbol<Int, Int>("Test.double", .replayable)
    static let text = Symbol<Int, String>("Test.text", .replayable)
    static let audit = Symbol<Int, Void>("Test.audit", .keyed)
    static let nothing = Symbol<Void, Int>("Test.nothing")

    private func kinds<R, O>(_ pipe: Pipe<R, O>) -> [String] {
        pipe.stages.map { stage in
            let what = stage.descriptor.symbol ?? stage.descriptor.notes.joined(separator: "+")
            return "\(stage.descriptor.kind.rawValue) \(what)"
        }
    }

    @Test func `each connector is a stage of its kind`() {
        let pipe = pipeline(Self.double).pipe(Self.double).tap(Self.audit).withRequest()
            .map { $0.0 + $0.1 }.pipe(Self.text).effect { _, _ in }.seal()
        #expect(
            kinds(pipe) == [
                "pipe Test.double", "pipe Test.double", "tap Test.audit", "withRequest ",
                "closure map", "pipe Test.text", "effect effect",
            ])
    }

    @Test func `adjacent closures are one stage, which is an effect only if all are`() {
        let all = pipeline(Int.self).map { $0 + 1 }.effect { _, _ in }
            .pipe(to: Int.self) { _, value in .next(value) }.pipe(Self.double) { $0 }.seal()
        #expect(kinds(all) == ["closure map+effect+verb+adapt", "pipe Test.double"])
        let effects = pipeline(Int.self).effect { _, _ in }.effect { _, _ in }.seal()
        #expect(kinds(effects) == ["effect effect+effect"])
        let later = pipeline(Int.self).effect { _, _ in }.map { $0 }.seal()
        #expect(kinds(later) == ["closure effect+map"])
    }

    @Test func `a symbol, a tap or withRequest parts closures`() {
        let pipe = pipeline(Int.self).map { $0 }.withRequest().map { $0.1 }.tap(Self.audit)
            .map { $0 }.seal()
        #expect(pipe.stages.count == 5)
    }

    @Test func `closures are named by the symbol that is bound and their stage`() {
        let pipe = pipeline(Int.self).map { $0 }.pipe(Self.double).effect { _, _ in }.seal()
        #expect(pipe.route.descriptor.closures(of: "A.b") == ["A.b#0", "A.b#2"])
    }

    @Test func `merged closures run in their order on the value before`() async throws {
        let pipe = pipeline(Int.self).map { $0 + 1 }.map { $0 * 10 }.map { "n\($0)" }.seal()
        #expect(try await pipe.run(0, "4")?.text == "next n50")
    }

    @Test func `an effect does not change the value`() async throws {
        let pipe = pipeline(Int.self).map { $0 + 1 }.effect { _, _ in }.seal()
        #expect(try await pipe.run(0, "4")?.text == "next 5")
    }

    struct Bad: CodedError {
        var code: String { "bad" }
        var message: String { "it is bad" }
        var retry: Bool { true }
    }

    @Test(arguments: ["abort", "fail", "divert"])
    func `what follows a verb that leaves does not run`(_ word: String) async throws {
        let pipe = pipeline(Int.self)
            .pipe(to: Int.self) { _, value in
                switch word {
                case "abort": .abort("early \(value)")
                case "fail": .fail(Bad())
                default: .divert(to: Self.double, value)
                }
            }
            .map { _ -> Int in throw KernelError(.failed, "the next closure ran") }.seal()
        let said = try await pipe.run(0, "4")?.text
        #expect(
            said
                == [
                    "abort": "abort early 4", "fail": "fail bad", "divert": "divert Test.double 4",
                ][
                    word])
    }

    @Test func `what a closure throws goes out of the stage`() async {
        let pipe = pipeline(Int.self).map { _ -> Int in throw Bad() }.seal()
        await #expect(throws: Bad.self) { try await pipe.run(0, "4") }
        await #expect(throws: TestCoding.NotText.self, "a value of another type") {
            try await pipe.run(0, "four")
        }
    }

    @Test func `withRequest travels as a pair and reads as one`() async throws {
        let pipe = pipeline(Int.self).pipe(Self.text).withRequest().map { "\($0.0)/\($0.1)" }
            .seal()
        #expect(try await pipe.run(2, "4|four")?.text == "next 4/four")
        #expect(pipe.stages[1].descriptor.shape == "(int, text)")
    }

    @Test func `a finally stands apart and has no value`() async throws {
        let pipe = pipeline(Self.nothing).finally { _ in }.map { $0 + 1 }.seal()
        #expect(pipe.stages.count == 2)
        #expect(pipe.last?.descriptor.notes == ["finally"])
        let said = try await pipe.last?.body?(NoHandle(), Array("anything".utf8), TestCoding())
        #expect(said?.text == "next -")
        #expect(pipeline(Self.nothing).seal().last == nil)
    }

    @Test func `a stage says where it was written`() {
        let pipe = pipeline(Self.double).map { $0 }.seal()
        #expect(
            pipe.stages.map(\.descriptor.file)
                == Array(repeating: "ControlTests/PipeTests.swift", count: 2))
        #expect(pipe.stages.allSatisfy { $0.descriptor.line > 0 })
    }
}
