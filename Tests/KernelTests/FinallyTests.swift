import Control
import Kernel
import Testing

/// A `finally` runs once at every end, and the end is told after it.
@Suite struct FinallyTests {
    private static let stages: [StageDescriptor] = [
        .visit(.pipe, "Store.set"), .visit(.pipe, "Compute.double"),
    ]
    private static let last = "Circuit.pipe#finally"

    @Test func `it runs after a success, which is told after it`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll(stages: Self.stages, finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        store.answer(try store.take("Store.set"), "2")
        compute.answer(try compute.take("Compute.double"), "3")
        #expect(call.end == nil)
        circuit.answer(try circuit.take(Self.last), "ignored")
        #expect(call.end == "3")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `it runs after a failure`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(stages: Self.stages, finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        store.answer(try store.take("Store.set"), .fail(KernelError(.failed, "")))
        #expect(call.end == nil)
        circuit.answer(try circuit.take(Self.last), "")
        #expect(call.end == "! failed unknown")
    }

    @Test func `it runs after a cancellation, once the visit has settled`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(stages: Self.stages, finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try store.take("Store.set")
        call.cancel()
        #expect(circuit.cable.visits.isEmpty)
        store.answer(visit, .fail(KernelError(.cancelled, "")))
        let last = try circuit.take(Self.last)
        call.cancel()
        #expect(circuit.cable.cancelled == [], "a finally is not cancelled")
        circuit.answer(last, "")
        #expect(call.end == "! cancelled unknown")
    }

    @Test func `it runs after a deadline and has a time of its own`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(stages: Self.stages, finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try store.take("Store.set")
        house.pass(10)
        store.answer(visit, .fail(KernelError(.cancelled, "")))
        let last = try circuit.take(Self.last)
        house.pass(9)
        circuit.answer(last, "")
        #expect(call.end == "! deadline unknown")
        #expect(house.errors == [])
    }

    /// It would be asked for again at once, until the visit has settled.
    @Test func `one that is beyond its time does not keep the kernel awake`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll(stages: Self.stages, finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        store.answer(try store.take("Store.set"), "2")
        compute.answer(try compute.take("Compute.double"), "3")
        let last = try circuit.take(Self.last)
        house.pass(10)
        #expect(circuit.cable.cancelled == [last.number])
        #expect(house.hub.due >= house.hub.seen + 1_000_000_000)
        #expect(call.end == nil)
        house.pass(6)
        #expect(call.end == "3")
        #expect(house.errors == ["Circuit.pipe#finally finallyLost"])
    }

    @Test func `it waits for every child of the stage`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [.stage(.closure)], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try circuit.take("Circuit.pipe#0")
        try circuit.call(visit, 1, "Compute.double", "1")
        let child = try compute.take("Compute.double")
        circuit.answer(visit, .fail(KernelError(.failed, "")))
        #expect(compute.cable.cancelled == [child.number])
        #expect(circuit.cable.visits.isEmpty)
        compute.answer(child, .fail(KernelError(.cancelled, "")))
        circuit.answer(try circuit.take(Self.last), "")
        #expect(call.end == "! failed unknown")
    }

    @Test func `what it calls is answered`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try circuit.take(Self.last)
        try circuit.call(visit, 1, "Compute.double", "2")
        compute.answer(try compute.take("Compute.double"), "4")
        #expect(circuit.heard() == ["1 4"])
        #expect(call.end == nil)
        circuit.answer(visit, "")
        #expect(call.end == "1")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `what it has called while its process died is answered to its repeat`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll(finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        try old.call(try old.take(Self.last), 1, "Compute.double", "2")
        old.die()
        compute.answer(try compute.take("Compute.double"), "4")
        let new = try house.circuit(stages: [], finally: true)
        let again = try new.take(Self.last)
        try new.call(again, 7, "Compute.double", "2")
        new.parked(again)
        #expect(new.heard() == ["7 4"])
        new.answer(again, "")
        #expect(call.end == "1")
    }

    @Test(arguments: [true, false])
    func `the end is told after what it asked for has ended`(_ succeeds: Bool) throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try circuit.take(Self.last)
        try circuit.call(visit, 1, "Store.save", "2")
        let child = try store.take("Store.save")
        circuit.answer(visit, succeeds ? .next([]) : .fail(KernelError(.failed, "")))
        #expect(store.cable.cancelled == [child.number])
        #expect(call.end == nil)
        store.answer(child, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "1")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a finally that is lost ends after what it asked for`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(finally: true, .once)
        let call = house.client.call("Circuit.pipe", "1")
        try circuit.call(try circuit.take(Self.last), 1, "Store.save", "2")
        let child = try store.take("Store.save")
        circuit.die()
        #expect(store.cable.cancelled == [child.number])
        #expect(call.end == nil)
        store.answer(child, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "1")
        #expect(house.errors == ["\(Self.last) finallyLost"])
    }

    @Test(arguments: ["answer", "death", "time"])
    func `one whose repeat differs is given up, and its process serves on`(_ rest: String) throws {
        let house = try TestHouse()
        let old = try house.circuit(stages: [], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try old.take(Self.last)
        old.commit(visit, 1, base: 0, to: 1)
        old.die()
        let new = try house.circuit(stages: [], finally: true)
        let again = try new.take(Self.last)
        // It asks nothing that it asked before, and says that it waits.
        new.parked(again)
        #expect(new.cable.cancelled == [again.number])
        // It may still change something, so the end is not told before it has come to rest.
        #expect(call.end == nil)
        new.commit(again, 7, base: 1, to: 2)
        new.parked(again)
        #expect(new.heard() == [], "it is not answered any more")
        #expect(!house.hub.cancel(flow: again.flow), "a flow at its end is not cancelled")
        switch rest {
        case "answer": new.answer(again, "")
        case "death": new.die()
        default: house.pass(13)
        }
        #expect(call.end == "1")
        #expect(house.errors == ["\(Self.last) finallyLost"])
        #expect(house.hub.liveFlows == 0)
        guard rest == "answer" else { return }
        // The table of visits holds nothing of it: many more find their places in it.
        for number in 0..<500 {
            let next = house.client.call("Circuit.work", "\(number)")
            new.answer(try new.take("Circuit.work"), "done")
            #expect(next.end == "done")
        }
        #expect(house.hub.open(new.peer, digests: false).isEmpty)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `it is played again when its process dies, and its commit is made once`() throws {
        let house = try TestHouse()
        let old = try house.circuit(stages: [], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let first = try old.take(Self.last)
        old.commit(first, 1, base: 0, to: 1)
        old.die()
        let new = try house.circuit(stages: [], finally: true)
        let again = try new.take(Self.last)
        #expect((again.attempt, again.step) == (2, first.step))
        new.commit(again, 1, base: 1, to: 1)
        new.parked(again)
        #expect(new.heard() == ["1 committed on [\"0\"]"])
        new.answer(again, "")
        #expect(call.end == "1")
        #expect(house.hub.counter == 1)
    }

    @Test func `what it asks for is answered, and what it leaves comes to rest first`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll(
            stages: [.visit(.pipe, "Compute.double")], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        compute.answer(try compute.take("Compute.double"), .fail(KernelError(.failed, "")))
        let last = try circuit.take("Circuit.pipe#finally")
        try circuit.call(last, 1, "Store.set", "1")
        store.answer(try store.take("Store.set"), "kept")
        #expect(circuit.heard() == ["1 kept"])
        circuit.die()
        let next = try house.circuit(stages: [.visit(.pipe, "Compute.double")], finally: true)
        let repeated = try next.take("Circuit.pipe#finally")
        try next.call(repeated, 1, "Store.set", "1")
        next.parked(repeated)
        #expect(next.heard() == ["1 kept"])
        #expect(store.cable.visits.isEmpty)
        try next.call(repeated, 2, "Compute.other", "2")
        next.parked(repeated)
        let left = try compute.take("Compute.other")
        next.answer(repeated, "")
        #expect(compute.cable.cancelled == [left.number])
        #expect(call.end == nil, "what it has started still runs")
        compute.answer(left, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! failed unknown")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `its own failure is told to Kernel.Errors and not to the caller`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        circuit.answer(try circuit.take(Self.last), .fail(KernelError(.failed, "")))
        #expect(call.end == "1")
        #expect(house.errors == ["\(Self.last) failed"])
    }

    @Test func `it is reported lost when its device stays away for all of its time`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        _ = try circuit.take(Self.last)
        circuit.die()
        house.pass(9.5)
        #expect(call.end == nil)
        house.pass(0.5)
        #expect(call.end == "1")
        #expect(house.errors == ["\(Self.last) finallyLost"])
        #expect(try house.circuit(stages: [], finally: true).cable.visits.isEmpty)
        #expect(house.hub.liveFlows == 0)
    }

    @Test(arguments: [true, false])
    func `it is reported lost when its handler does not end in time`(_ settles: Bool) throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [], finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try circuit.take(Self.last)
        house.pass(10)
        #expect(circuit.cable.cancelled == [visit.number])
        if settles {
            circuit.answer(visit, .fail(KernelError(.cancelled, "")))
        } else {
            house.pass(6)
        }
        #expect(call.end == "1")
        #expect(house.errors == ["\(Self.last) finallyLost"])
    }

    @Test func `it is reported lost when its device is failed`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll(stages: Self.stages, finally: true)
        let call = house.client.call("Circuit.pipe", "1")
        circuit.die()
        house.hub.refuse(house.circuitSlot, "failed")
        store.answer(try store.take("Store.set"), .fail(KernelError(.failed, "")))
        #expect(call.end == "! failed unknown")
        #expect(house.errors == ["\(Self.last) finallyLost"])
    }

    @Test func `a once finally that had begun is reported lost`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [], finally: true, .once)
        let call = house.client.call("Circuit.pipe", "1")
        _ = try circuit.take(Self.last)
        circuit.die()
        #expect(call.end == "1")
        #expect(house.errors == ["\(Self.last) finallyLost"])
    }

    @Test func `a command's lane waits for its finally`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [.stage(.closure)], finally: true)
        house.client.dispatch("Circuit.pipe", "1")
        house.client.dispatch("Circuit.pipe", "2")
        circuit.answer(try circuit.take("Circuit.pipe#0"), "")
        let last = try circuit.take(Self.last)
        #expect(circuit.cable.visits.isEmpty)
        circuit.answer(last, "")
        #expect(try circuit.take("Circuit.pipe#0").text == "2")
    }
}
