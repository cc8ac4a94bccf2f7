import Control
import Kernel
import Testing

/// One process of a device takes the place of another while flows run.
@Suite struct SwapTests {
    private final class Supervisor: HubObserver {
        var retired: [Int] = []

        func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {}
        func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate { .free }
        func cellWanted(device: String) {}
        func cellEmptied(device: String, incarnation: Int) {}
        func elderEmptied(device: String, incarnation: Int) { retired.append(incarnation) }
    }

    private let house: TestHouse
    private let supervisor = Supervisor()

    init() throws {
        house = try TestHouse()
        house.hub.observer = supervisor
    }

    private static let pipe: [StageDescriptor] = [
        .stage(.closure), .visit(.pipe, "Compute.double"), .stage(.closure),
    ]

    @Test func `flows finish on the process under which they began, new ones start on the new`()
        throws
    {
        let compute = try house.compute()
        let old = try house.circuit(stages: Self.pipe)
        let first = house.client.call(TestHouse.pipe, "1")
        old.answer(try old.take("Circuit.pipe#0"), "2")
        let new = try house.circuit(stages: Self.pipe)
        #expect(supervisor.retired.isEmpty)
        let second = house.client.call(TestHouse.pipe, "5")
        #expect(try new.take("Circuit.pipe#0").text == "5")
        compute.answer(try compute.take("Compute.double"), "3")
        #expect(new.cable.visits.isEmpty)
        old.answer(try old.take("Circuit.pipe#2"), "4")
        #expect(first.end == "4")
        #expect(second.end == nil)
        #expect(supervisor.retired == [old.peer.incarnation])
    }

    @Test func `flows of one build never meet the pipe of another`() throws {
        let compute = try house.compute()
        let old = try house.circuit(stages: Self.pipe)
        let first = house.client.call(TestHouse.pipe, "1")
        let visit = try old.take("Circuit.pipe#0")
        let new = try house.circuit(stages: [.stage(.closure)])
        let second = house.client.call(TestHouse.pipe, "5")
        new.answer(try new.take("Circuit.pipe#0"), "6")
        #expect(second.end == "6")
        old.answer(visit, "2")
        compute.answer(try compute.take("Compute.double"), "3")
        old.answer(try old.take("Circuit.pipe#2"), "4")
        #expect(first.end == "4")
    }

    @Test func `a process that has not said that it is ready has changed nothing`() throws {
        let old = try house.circuit(stages: [.stage(.closure)])
        _ = try TestProcess(
            house, house.circuitSlot,
            bindings: [
                .handler("Circuit.work", .replayable), .handler("Circuit.other", .replayable),
                Binding(name: TestHouse.pipe, traits: .once, stages: Self.pipe, last: true),
            ], ready: false)
        let call = house.client.call(TestHouse.pipe, "1")
        old.answer(try old.take("Circuit.pipe#0"), "2")
        #expect(call.end == "2")
    }

    @Test func `with no flow inside the old goes at once`() throws {
        let old = try house.circuit()
        _ = try house.circuit()
        #expect(supervisor.retired == [old.peer.incarnation])
    }

    @Test func `a flow whose old process dies goes on with the new`() throws {
        let old = try house.circuit()
        let call = house.client.call("Circuit.work", "1")
        _ = try old.take("Circuit.work")
        let new = try house.circuit()
        #expect(new.cable.visits.isEmpty)
        old.die()
        let again = try new.take("Circuit.work")
        #expect(again.attempt == 2)
        new.answer(again, "2")
        #expect(call.end == "2")
        #expect(supervisor.retired.isEmpty, "who is dead needs not go")
    }

    @Test func `what a flow of the old asks for stays with the old`() throws {
        let old = try house.circuit()
        let call = house.client.call("Circuit.work", "1")
        let work = try old.take("Circuit.work")
        let new = try house.circuit()
        try old.call(work, 1, "Circuit.other", "2")
        old.answer(try old.take("Circuit.other"), "3")
        #expect(new.cable.visits.isEmpty)
        old.answer(work, "4")
        #expect(call.end == "4")
        #expect(supervisor.retired == [old.peer.incarnation])
    }

    @Test func `a command that waits in its lane starts on the new`() throws {
        let old = try house.circuit()
        house.client.dispatch("Circuit.work", "1")
        house.client.dispatch("Circuit.work", "2")
        let first = try old.take("Circuit.work")
        let new = try house.circuit()
        old.answer(first, "")
        #expect(supervisor.retired == [old.peer.incarnation])
        #expect(try new.take("Circuit.work").text == "2")
    }
}
