import Control
import Kernel
import Testing

/// Whether anything may have happened before a flow failed.
@Suite struct OutcomeTests {
    @Test func `nothing happened while only pure devices were visited`() throws {
        let house = try TestHouse()
        let (compute, _, _) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .visit(.pipe, "Compute.other"),
        ])
        let call = house.client.call("Circuit.pipe")
        compute.answer(try compute.take("Compute.double"), "")
        compute.answer(
            try compute.take("Compute.other"),
            .fail(KernelError(.failed, "", outcome: .unknown)))
        #expect(call.end == "! failed none", "the kernel says it for the whole flow")
    }

    @Test func `something may have happened once another device was visited`() throws {
        let house = try TestHouse()
        let (compute, _, store) = try house.startAll(stages: [
            .visit(.pipe, "Store.set"), .visit(.pipe, "Compute.other"),
        ])
        let call = house.client.call("Circuit.pipe")
        store.answer(try store.take("Store.set"), "")
        compute.answer(
            try compute.take("Compute.other"), .fail(KernelError(.failed, "", outcome: .none)))
        #expect(call.end == "! failed unknown")
    }

    @Test func `a visit that had not begun when its process died has done nothing`() throws {
        let house = try TestHouse()
        let store = try house.store()
        let call = house.client.call("Store.set")
        store.die(begun: 0)
        house.pass(10)
        #expect(call.end == "! deadline none")
    }

    @Test func `a visit that had begun when its process died may have done something`() throws {
        let house = try TestHouse()
        let store = try house.store()
        let call = house.client.call("Store.set")
        store.die(begun: .max)
        house.pass(10)
        #expect(call.end == "! deadline unknown")
    }

    @Test func `what a child may have done counts for those above it`() throws {
        let house = try TestHouse()
        let pure = try house.hub.declare(
            DeviceDeclaration(
                name: "pure", pure: true, provides: ["Pure.asks"], calls: nil, reads: [],
                writes: []))
        let asking = try TestProcess(house, pure, bindings: [.handler("Pure.asks")])
        let store = try house.store()
        let call = house.client.call("Pure.asks")
        let visit = try asking.take("Pure.asks")
        try asking.call(visit, 1, "Store.set", "")
        store.answer(try store.take("Store.set"), "")
        asking.answer(visit, .fail(KernelError(.failed, "")))
        #expect(call.end == "! failed unknown")
    }

    @Test func `a commit has happened, whoever made it`() throws {
        let house = try TestHouse()
        let pure = try house.hub.declare(
            DeviceDeclaration(
                name: "pure", pure: true, provides: ["Pure.writes"], calls: nil, reads: [],
                writes: ["number"]))
        let writing = try TestProcess(house, pure, bindings: [.handler("Pure.writes")])
        let call = house.client.call("Pure.writes")
        let visit = try writing.take("Pure.writes")
        writing.commit(visit, 1, base: 0, to: 1)
        writing.answer(visit, .fail(KernelError(.failed, "")))
        #expect(call.end == "! failed unknown")
    }

    @Test func `the error that a handler is given speaks of the flow that it asked for`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        try circuit.call(visit, 1, "Compute.double", "")
        try circuit.call(visit, 2, "Store.set", "")
        compute.answer(try compute.take("Compute.double"), .fail(KernelError(.failed, "")))
        store.answer(try store.take("Store.set"), .fail(KernelError(.failed, "")))
        let outcomes = circuit.cable.answers.compactMap { told -> Outcome? in
            guard case .failure(let error) = told.answer else { return nil }
            return error.outcome
        }
        #expect(outcomes == [.none, .unknown])
    }
}
