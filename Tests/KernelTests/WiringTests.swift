import Control
import Kernel
import Testing
import Values

/// What the kernel shows of who answers what.
@Suite struct WiringTests {
    private func rows(_ house: TestHouse, _ region: String) -> [Value] {
        house.hub.value(ofRegion: region)?.array ?? []
    }

    @Test func `symbols are shown before their device has announced them, and after`() throws {
        let house = try TestHouse()
        house.hub.declare(builtin: "Kernel.ping", summary: "Answers.") { .success($0) }
        house.hub.showSymbols()
        func row(_ name: String) throws -> Value {
            try #require(rows(house, "Kernel.Symbols").first { $0["name"]?.text == name })
        }
        let names = rows(house, "Kernel.Symbols").compactMap { $0["name"]?.text }
        #expect(names == house.hub.callable)
        #expect(try row("Circuit.pipe")["kind"]?.isNull == true)
        #expect(try row("Circuit.pipe")["device"]?.text == "circuit")
        #expect(try row("Kernel.ping")["kind"]?.text == "kernel")
        #expect(try row("Kernel.ping")["summary"]?.text == "Answers.")
        _ = try house.startAll(stages: [.stage(.closure)], .keyed.summary("Sorts.").lane("l"))
        let pipe = try row("Circuit.pipe")
        #expect(pipe["kind"]?.text == "pipe")
        #expect(pipe["replay"]?.text == "keyed")
        #expect(pipe["summary"]?.text == "Sorts.")
        #expect(pipe["lane"]?.text == "l")
        #expect(pipe["deadline"]?.int == 10_000)
        #expect(try row("Compute.double")["kind"]?.text == "handler")
        #expect(try row("Compute.double")["replay"]?.text == "replayable", "by its wall")
        #expect(try row("Store.mail")["replay"]?.text == "once")
    }

    @Test func `pipes are shown with their stages, branches, diverts and places`() throws {
        let house = try TestHouse()
        var decide = StageDescriptor.stage(.closure)
        decide.diverts = ["Circuit.work"]
        decide.notes = ["verb"]
        decide.file = "A/b.swift"
        decide.line = 7
        _ = try house.startAll(
            stages: [
                decide, .visit(.tap, "Store.set"),
                ForkTests.fork([["Compute.double", nil], [nil]], last: true), .stage(.withRequest),
            ], finally: true)
        let pipes = rows(house, "Kernel.Pipes")
        #expect(pipes.count == 1)
        let pipe = try #require(pipes.first)
        #expect(pipe["symbol"]?.text == "Circuit.pipe")
        #expect(pipe["device"]?.text == "circuit")
        #expect(pipe["finally"]?.text == "Circuit.pipe#finally")
        let stages = pipe["stages"]?.array ?? []
        #expect(
            stages.map { "\($0["kind"]?.text ?? "") \($0["symbol"]?.text ?? "")" } == [
                "closure Circuit.pipe#0", "tap Store.set", "fork ", "withRequest ",
            ])
        #expect(stages[0]["diverts"] == ["Circuit.work"])
        #expect(stages[0]["notes"] == ["verb"])
        #expect(stages[0]["file"]?.text == "A/b.swift")
        #expect(stages[0]["line"]?.int == 7)
        let branches = stages[2]["branches"]?.array ?? []
        let shown = Set(
            branches.flatMap { branch in
                (branch["stages"]?.array ?? []).compactMap { $0["symbol"]?.text }
                    + [branch["finally"]?.text ?? ""]
            })
        let announced = Set(
            [
                "Compute.double", "Circuit.pipe#2.0#1", "Circuit.pipe#2.0#finally",
                "Circuit.pipe#2.1#0", "Circuit.pipe#2.1#finally",
            ])
        #expect(shown == announced, "as visits name them")
    }

    @Test func `a restart changes nothing, and another build does`() throws {
        let house = try TestHouse()
        let first = try house.circuit(stages: [.stage(.closure)])
        let follower = TestClient(house)
        try house.hub.follow(follower.peer, region: "Kernel.Pipes")
        first.die()
        let second = try house.circuit(stages: [.stage(.closure)])
        #expect(follower.cable.patches.isEmpty)
        second.die()
        _ = try house.circuit(stages: [.visit(.pipe, "Compute.double")])
        #expect(follower.cable.patches.count == 1)
        #expect(rows(house, "Kernel.Pipes")[0]["stages"]?.array?.first?["kind"]?.text == "pipe")
    }

    @Test(arguments: [("Nobody.answers", "unbound"), ("Compute.double", "denied")])
    func `a divert that is declared must be provided and granted`(
        _ target: String, _ code: String
    ) throws {
        let house = try TestHouse()
        let slot = try house.hub.declare(
            DeviceDeclaration(
                name: "other", pure: false, provides: ["Other.pipe"], calls: ["Store.*"],
                reads: [], writes: []))
        var decide = StageDescriptor.stage(.closure)
        decide.diverts = [target]
        let error = #expect(throws: KernelError.self) {
            try TestProcess(
                house, slot,
                bindings: [
                    Binding(
                        name: "Other.pipe", traits: .replayable, stages: [decide], last: false)
                ])
        }
        #expect(error?.code.rawValue == code)
        #expect(error?.message.contains(target) == true)
    }
}
