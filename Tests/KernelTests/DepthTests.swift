import Control
import Kernel
import Testing
import Values

/// What a device could ask for without end, or in one message, is bounded.
@Suite struct DepthTests {
    @Test func `a handler that calls itself without end is told so and leaves nothing`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit()
        let call = house.client.call("Circuit.work", "")
        var depth = 0
        while let visit = circuit.cable.visits.first, depth < 2_000 {
            _ = try circuit.take("Circuit.work")
            try circuit.call(visit, 1, "Circuit.work", "")
            depth += 1
        }
        #expect(depth == HubLimits().depth + 1)
        #expect(circuit.heard() == ["1 ! overloaded"])
        call.cancel()
        for number in circuit.cable.cancelled {
            house.hub.returned(
                circuit.peer, visit: number, .fail(KernelError(.cancelled, "")))
        }
        #expect(call.end == "! cancelled unknown")
        #expect(house.hub.liveFlows == 0)
    }

    /// A fork of as many stages, all of which end at once.
    private static func fork(_ branches: Int, of stages: [StageDescriptor] = []) -> StageDescriptor
    {
        var fork = StageDescriptor.stage(.fork)
        fork.branches = Array(
            repeating: RouteDescriptor(stages: stages, last: false), count: branches)
        return fork
    }

    @Test(arguments: [
        Array(repeating: fork(0), count: 4_096),
        Array(repeating: fork(1), count: 2_048),
        Array(repeating: StageDescriptor.visit(.tap, "Kernel.echo"), count: 4_096),
        [fork(1_365, of: [.stage(.withRequest)])] + [fork(0)],
    ])
    func `the largest pipe that is taken runs to its end at once`(
        _ stages: [StageDescriptor]
    ) throws {
        let house = try TestHouse()
        house.hub.declare(builtin: "Kernel.echo") { .success($0) }
        _ = try house.circuit(stages: stages)
        #expect(house.client.call("Circuit.pipe", "x").end != nil)
        #expect(house.hub.liveFlows == 0)
    }

    @Test(arguments: [
        Array(repeating: fork(0), count: 4_097), [fork(4_096)],
        [fork(1, of: Array(repeating: fork(3), count: 1_024))],
    ])
    func `a larger pipe is refused, announced or made by a handler`(
        _ stages: [StageDescriptor]
    ) throws {
        let house = try TestHouse()
        #expect(throws: KernelError.self) { try house.circuit(stages: stages) }
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        circuit.run(try circuit.take("Circuit.work"), 1, stages, "")
        #expect(circuit.heard() == ["1 ! tooLarge"])
    }

    @Test func `a lane of commands that end at once is emptied`() throws {
        let house = try TestHouse()
        for _ in 0..<HubLimits().laneCommands { house.client.dispatch("Store.save") }
        house.hub.refuse(house.storeSlot, "failed")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `what a device says of its failures is kept in part`() throws {
        let house = try TestHouse()
        let store = try house.store()
        let text = String(repeating: "n", count: 1 << 20)
        house.client.dispatch("Store.save")
        let call = house.client.call("Store.set")
        for symbol in ["Store.save", "Store.set"] {
            store.answer(
                try store.take(symbol), .fail(KernelError(.init(rawValue: text), text)))
        }
        let limit = HubLimits().errorBytes
        #expect(call.error?.message.utf8.count == limit + 3)
        #expect(call.error?.code.rawValue.utf8.count == limit + 3)
        let errors = try #require(house.hub.value(ofRegion: "Kernel.Errors"))
        #expect(errors.encodedSize <= 3 * limit)
    }

    @Test func `what a flow fails with is kept in part, whoever says it`() throws {
        let house = try TestHouse()
        let text = String(repeating: "n", count: 1 << 20)
        house.hub.declare(builtin: "Kernel.big") { _ in .failure(KernelError(.failed, text)) }
        let (compute, circuit, _) = try house.startAll(stages: [.visit(.pipe, "Kernel.big")])
        let pipe = house.client.call(TestHouse.pipe)
        let work = house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        try circuit.call(visit, 1, "Compute.double", "1")
        let asked = try compute.take("Compute.double")
        // It fails while what it asked for still runs, and waits with the error.
        circuit.answer(visit, .fail(KernelError(.failed, text)))
        #expect(house.hub.flowBytes < 1 << 18)
        compute.answer(asked, "2")
        let limit = HubLimits().errorBytes
        for call in [pipe, work] {
            #expect(try #require(call.error).message.utf8.count <= limit + 3)
        }
    }

    /// Each insertion before all others shifts them: so many would take minutes.
    @Test func `a commit that is too much work is refused before it is done`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit()
        house.client.call("Circuit.work", "")
        let visit = try circuit.take("Circuit.work")
        let patch = Patch(
            [.replace([], .array([]))] + Array(repeating: .add(["0"], .int(0)), count: 200_000))
        circuit.commit(visit, 1, [RegionOffer(region: "number", base: 0, patch: patch)])
        #expect(circuit.heard() == ["1 ! malformed"])
        #expect(house.hub.counter == 0)
    }

    @Test func `what a flow gives must fit into a frame`() throws {
        var limits = HubLimits()
        limits.visitBytes = 8
        let house = try TestHouse(limits)
        let (compute, _, _) = try house.startAll(stages: [.stage(.withRequest)])
        let large = house.client.call("Compute.double", "")
        compute.answer(try compute.take("Compute.double"), "123456789")
        #expect(large.end == "! tooLarge none")
        let fits = house.client.call("Compute.double", "")
        compute.answer(try compute.take("Compute.double"), "12345678")
        #expect(fits.end == "12345678")
        #expect(house.client.call("Circuit.pipe", "1234").end == "! tooLarge none")
    }

    @Test func `who asks on and on beyond its record is not answered for ever`() throws {
        var limits = HubLimits()
        limits.recordEntries = 10
        let house = try TestHouse(limits)
        let (_, circuit, _) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for tag in 1...100 { try circuit.call(visit, UInt64(tag), "Compute.double", "\(tag)") }
        #expect(circuit.heard().count == 10)
    }
}
