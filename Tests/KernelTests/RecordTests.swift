import Control
import Testing
import Values

@testable import Kernel

/// What a visit asks is recorded, and a repeat of it gets the same answers in the same order.
@Suite struct RecordTests {
    /// A house in which a visit of `Circuit.work` has asked for two calls and has been told both,
    /// the second one first, and then died.
    private func told() throws -> (TestHouse, TestClient.Call, compute: TestProcess) {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work", "in")
        let visit = try circuit.take("Circuit.work")
        #expect(visit.replay == false)
        try circuit.call(visit, 1, "Compute.double", "1")
        try circuit.call(visit, 2, "Compute.double", "2")
        let first = try compute.take("Compute.double")
        let second = try compute.take("Compute.double")
        compute.answer(second, "4")
        compute.answer(first, "2")
        #expect(circuit.heard() == ["2 4", "1 2"])
        circuit.die()
        return (house, call, compute)
    }

    @Test func `answers come back in the recorded order, one for each parked`() throws {
        let (house, call, compute) = try told()
        let circuit = try house.circuit()
        let visit = try circuit.take("Circuit.work")
        #expect(visit.replay)
        try circuit.call(visit, 7, "Compute.double", "1")
        try circuit.call(visit, 8, "Compute.double", "2")
        #expect(circuit.heard() == [])
        circuit.parked(visit)
        #expect(circuit.heard() == ["8 4"])
        circuit.parked(visit)
        #expect(circuit.heard() == ["7 2"])
        circuit.parked(visit)
        #expect(circuit.heard() == [])
        #expect(compute.cable.visits.isEmpty, "nothing is asked twice")
        circuit.answer(visit, "out")
        #expect(call.end == "out")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `the order in which a repeat asks does not matter`() throws {
        let (house, call, _) = try told()
        let circuit = try house.circuit()
        let visit = try circuit.take("Circuit.work")
        try circuit.call(visit, 1, "Compute.double", "2")
        try circuit.call(visit, 2, "Compute.double", "1")
        circuit.parked(visit)
        circuit.parked(visit)
        #expect(circuit.heard() == ["1 4", "2 2"])
        circuit.answer(visit, "out")
        #expect(call.end == "out")
    }

    @Test func `new operations are held until the record is used up`() throws {
        let (house, _, compute) = try told()
        let circuit = try house.circuit()
        let visit = try circuit.take("Circuit.work")
        try circuit.call(visit, 1, "Compute.double", "1")
        try circuit.call(visit, 2, "Compute.other", "new")
        try circuit.call(visit, 3, "Compute.double", "2")
        circuit.parked(visit)
        #expect(circuit.heard() == ["3 4"])
        circuit.parked(visit)
        #expect(circuit.heard() == ["1 2"])
        #expect(compute.cable.visits.isEmpty)
        circuit.parked(visit)
        compute.answer(try compute.take("Compute.other"), "now")
        #expect(circuit.heard() == ["2 now"])
    }

    @Test func `equal calls are told apart by their number`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try old.take("Circuit.work")
        for tag in 1...2 { try old.call(visit, UInt64(tag), "Compute.double", "same") }
        let first = try compute.take("Compute.double")
        let second = try compute.take("Compute.double")
        #expect(first.path != second.path)
        compute.answer(first, "one")
        compute.answer(second, "two")
        old.die()
        let new = try house.circuit()
        let repeated = try new.take("Circuit.work")
        for tag in 1...3 { try new.call(repeated, UInt64(tag), "Compute.double", "same") }
        for _ in 1...3 { new.parked(repeated) }
        #expect(new.heard() == ["1 one", "2 two"])
        #expect(compute.cable.visits.count == 1)
    }

    @Test func `a call in flight is joined and not asked again`() throws {
        let house = try TestHouse()
        let (_, old, store) = try house.startAll()
        let call = house.client.call("Circuit.work")
        try old.call(try old.take("Circuit.work"), 1, "Store.save", "row")
        old.die()
        let new = try house.circuit()
        let visit = try new.take("Circuit.work")
        try new.call(visit, 1, "Store.save", "row")
        new.parked(visit)
        #expect(store.cable.visits.count == 1)
        store.answer(try store.take("Store.save"), "saved")
        #expect(new.heard() == ["1 saved"])
        new.answer(visit, "out")
        #expect(call.end == "out")
    }

    @Test func `an answer that came while nobody ran is given in its time`() throws {
        let house = try TestHouse()
        let (compute, old, store) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try old.take("Circuit.work")
        try old.call(visit, 1, "Store.save", "row")
        try old.call(visit, 2, "Compute.double", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        old.die()
        store.answer(try store.take("Store.save"), "saved")
        let new = try house.circuit()
        let repeated = try new.take("Circuit.work")
        try new.call(repeated, 1, "Store.save", "row")
        try new.call(repeated, 2, "Compute.double", "1")
        new.parked(repeated)
        #expect(new.heard() == ["2 2"])
        new.parked(repeated)
        #expect(new.heard() == ["1 saved"])
        #expect(store.cable.visits.isEmpty)
    }

    @Test func `a repeat that asks something else after an effect ends diverged`() throws {
        let house = try TestHouse()
        let (_, old, store) = try house.startAll()
        let call = house.client.call("Circuit.work")
        try old.call(try old.take("Circuit.work"), 1, "Store.save", "row")
        store.answer(try store.take("Store.save"), "saved")
        old.die()
        let new = try house.circuit()
        let visit = try new.take("Circuit.work")
        try new.call(visit, 1, "Store.save", "another row")
        new.parked(visit)
        #expect(store.cable.visits.isEmpty)
        #expect(new.cable.cancelled == [visit.number])
        new.answer(visit, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! diverged unknown")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a repeat that ends without asking for a recorded effect ends diverged`() throws {
        let house = try TestHouse()
        let (_, old, store) = try house.startAll()
        let call = house.client.call("Circuit.work")
        try old.call(try old.take("Circuit.work"), 1, "Store.save", "row")
        old.die()
        let new = try house.circuit()
        new.answer(try new.take("Circuit.work"), "out")
        #expect(call.end == nil, "the effect in flight has not settled")
        store.answer(try store.take("Store.save"), .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! diverged unknown")
    }

    @Test func `a repeat that asks something else is harmless while nothing was done`() throws {
        let (house, call, compute) = try told()
        let circuit = try house.circuit()
        let visit = try circuit.take("Circuit.work")
        try circuit.call(visit, 1, "Compute.double", "3")
        circuit.parked(visit)
        compute.answer(try compute.take("Compute.double"), "6")
        #expect(circuit.heard() == ["1 6"])
        circuit.answer(visit, "out")
        #expect(call.end == "out")
    }

    @Test func `a pure call in flight that the repeat does not ask for is cancelled`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll()
        let call = house.client.call("Circuit.work")
        try old.call(try old.take("Circuit.work"), 1, "Compute.double", "1")
        let lost = try compute.take("Compute.double")
        old.die()
        let new = try house.circuit()
        let visit = try new.take("Circuit.work")
        try new.call(visit, 1, "Compute.double", "2")
        new.parked(visit)
        #expect(compute.cable.cancelled == [lost.number])
        compute.answer(try compute.take("Compute.double"), "4")
        #expect(new.heard() == ["1 4"])
        compute.answer(lost, .fail(KernelError(.cancelled, "")))
        new.answer(visit, "out")
        #expect(call.end == "out")
    }

    @Test func `an answer that is an error is recorded too`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll()
        house.client.call("Circuit.work")
        try old.call(try old.take("Circuit.work"), 1, "Compute.double", "1")
        compute.answer(try compute.take("Compute.double"), .fail(KernelError(.failed, "")))
        #expect(old.heard() == ["1 ! failed"])
        old.die()
        let new = try house.circuit()
        let visit = try new.take("Circuit.work")
        try new.call(visit, 1, "Compute.double", "1")
        new.parked(visit)
        #expect(new.heard() == ["1 ! failed"])
        #expect(compute.cable.visits.isEmpty)
    }

    @Test func `a refusal is recorded, so that it keeps its place among the answers`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try old.take("Circuit.work")
        try old.call(visit, 1, "Compute.double", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        house.hub.askUnknown(
            old.peer, visit: visit.number, tag: 2, "No.body", KernelError(.unbound, ""))
        #expect(old.heard() == ["1 2", "2 ! unbound"])
        old.die()
        let new = try house.circuit()
        let repeated = try new.take("Circuit.work")
        house.hub.askUnknown(
            new.peer, visit: repeated.number, tag: 1, "No.body", KernelError(.unbound, ""))
        try new.call(repeated, 2, "Compute.double", "1")
        #expect(new.heard() == [])
        new.parked(repeated)
        new.parked(repeated)
        #expect(new.heard() == ["2 2", "1 ! unbound"])
    }

    @Test func `what a stage asked is forgotten when the stage has ended`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            .stage(.closure), .visit(.pipe, "Compute.other"), .stage(.closure),
        ])
        house.client.call("Circuit.pipe")
        let first = try circuit.take("Circuit.pipe#0")
        try circuit.call(first, 1, "Compute.double", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        circuit.answer(first, "2")
        compute.answer(try compute.take("Compute.other"), "3")
        let second = try circuit.take("Circuit.pipe#2")
        #expect((second.replay, second.attempt, second.step) == (false, 1, 2))
    }

    @Test func `what a stage asked and did not wait for is cancelled, and the flow goes on`() throws
    {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        try circuit.call(visit, 1, "Compute.double", "1")
        let asked = try compute.take("Compute.double")
        try circuit.call(visit, 2, "Store.mail", "1")
        circuit.answer(visit, "out")
        #expect(compute.cable.cancelled == [asked.number])
        #expect(call.end == nil)
        compute.answer(asked, "too late")
        store.answer(try store.take("Store.mail"), "sent all the same")
        #expect(call.end == "out")
    }

    // MARK: - Keys

    @Test func `the key of a child contains its parent's, and a step never repeats`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(stages: [
            .visit(.pipe, "Store.save"), .stage(.closure), .visit(.pipe, "Store.save"),
        ])
        house.client.call("Circuit.pipe", "1", key: "mine")
        let first = try store.take("Store.save")
        // A caller's key stands for one symbol and payload.
        let root = "own:mine/Circuit.pipe:" + StrongDigest.text(Array("1".utf8))
        #expect((first.path, first.step) == (root, 0))
        store.answer(first, "2")
        let closure = try circuit.take("Circuit.pipe#1")
        #expect((closure.path, closure.step) == (root, 1))
        try circuit.call(closure, 1, "Store.save", "x")
        try circuit.call(closure, 2, "Store.save", "x")
        let children = try (0..<2).map { _ in try store.take("Store.save").path ?? "" }
        let digest = StrongDigest.text(Array("x".utf8))
        #expect(children[0].hasPrefix("\(root)/1/Store.save:"))
        #expect(children[0].hasSuffix("\(digest):0"))
        #expect(children[1].hasSuffix("\(digest):1"))
    }

    @Test func `a caller's key with another payload is another key`() throws {
        let house = try TestHouse()
        let store = try house.store()
        house.client.call("Store.save", "1", key: "mine")
        house.client.call("Store.save", "2", key: "mine")
        house.client.call("Store.save", "1", key: "mine")
        let paths = try (0..<3).map { _ in try store.take("Store.save").path }
        #expect(paths[0] == paths[2])
        #expect(paths[0] != paths[1])
    }

    @Test func `a flow without a key of its own is named by the epoch and its number`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        #expect((visit.path, visit.flow) == (nil, 1))
        try circuit.call(visit, 1, "Store.save", "x")
        let child = try store.take("Store.save")
        #expect(child.path?.hasPrefix("7-1/0/Store.save:") == true)
    }

    @Test func `a repeat has the key of its first attempt`() throws {
        let house = try TestHouse()
        let old = try house.store()
        house.client.call("Store.save", "x", key: "mine")
        let first = try old.take("Store.save")
        old.die()
        let second = try house.store().take("Store.save")
        #expect((first.path, first.step) == (second.path, second.step))
    }
}
