import Control
import Kernel
import Testing
import Values

/// What becomes of the visits of a process that has died.
@Suite struct DeathTests {
    @Test(arguments: ["Compute.double", "Store.set", "Store.save"])
    func `a replayable or keyed visit that had begun is played again`(_ symbol: String) throws {
        let house = try TestHouse()
        let start = { try symbol.hasPrefix("Store") ? house.store() : house.compute() }
        let old = try start()
        let call = house.client.call(symbol, "1")
        let first = try old.take(symbol)
        old.die()
        #expect(call.end == nil)
        house.pass(1)
        let new = try start()
        let second = try new.take(symbol)
        #expect(second.text == "1")
        #expect((second.attempt, second.step, second.flow) == (2, first.step, first.flow))
        #expect(second.now == first.now, "the time of the step is that of its first delivery")
        new.answer(second, "2")
        #expect(call.end == "2")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `what a process called outside of any visit is cancelled at its death`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll()
        let symbol = try #require(house.hub.symbol("Compute.double"))
        house.hub.call(circuit.peer, 1, symbol, [1])
        let other = house.client.call("Compute.double")
        let visit = try compute.take("Compute.double")
        circuit.die()
        #expect(compute.cable.cancelled == [visit.number])
        compute.answer(visit, "late")
        #expect(circuit.cable.replies.isEmpty)
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(other.end == "2")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a once visit that had begun ends as deviceLost`() throws {
        let house = try TestHouse()
        let store = try house.store()
        let call = house.client.call("Store.mail")
        _ = try store.take("Store.mail")
        store.die()
        #expect(call.end == "! deviceLost unknown")
        #expect(call.error?.message.contains("signal KILL") == true)
        #expect(try house.store().cable.visits.isEmpty)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a once visit that had not begun is delivered again`() throws {
        let house = try TestHouse()
        let old = try house.store()
        let call = house.client.call("Store.mail")
        old.die(begun: 0)
        let new = try house.store()
        new.answer(try new.take("Store.mail"), "sent")
        #expect(call.end == "sent")
    }

    @Test func `without a page every delivered visit counts as begun`() throws {
        let house = try TestHouse()
        let store = try house.store()
        let call = house.client.call("Store.mail")
        store.die(begun: .max)
        #expect(call.end == "! deviceLost unknown")
    }

    @Test func `all visits up to the highest have begun`() throws {
        let house = try TestHouse()
        let store = try house.store()
        let calls = (0..<3).map { _ in house.client.call("Store.mail") }
        store.die(begun: 2)
        #expect(calls.map(\.end) == ["! deviceLost unknown", "! deviceLost unknown", nil])
    }

    @Test func `a symbol that says nothing is replayable behind the pure wall and else once`()
        throws
    {
        let house = try TestHouse()
        let compute = try house.compute()
        let bindings = ["Store.save", "Store.mail", "Store.set"].map { Binding.handler($0) }
        let store = try TestProcess(house, house.storeSlot, bindings: bindings)
        let pure = house.client.call("Compute.double")
        let impure = house.client.call("Store.set")
        compute.die(begun: .max)
        store.die(begun: .max)
        #expect(pure.end == nil)
        #expect(impure.end == "! deviceLost unknown")
    }

    @Test
    func `nothing is delivered to a cable that has ended and nothing replayed before the death`()
        throws
    {
        let house = try TestHouse()
        let old = try house.compute()
        let call = house.client.call("Compute.double", "1")
        let visit = try old.take("Compute.double")
        house.hub.away(old.peer)
        house.client.call("Compute.double", "2")
        #expect(old.cable.visits.isEmpty)
        let new = try house.compute()
        #expect(new.cable.visits.map(\.text) == ["2"], "the first one may still be running")
        old.answer(visit, "read dry")
        #expect(call.end == "read dry")
        old.die()
        #expect(new.cable.visits.map(\.text) == ["2"])
    }

    @Test func `an answer of an attempt that is over counts for nothing`() throws {
        let house = try TestHouse()
        let old = try house.compute()
        let call = house.client.call("Compute.double")
        let stale = try old.take("Compute.double")
        old.die()
        let new = try house.compute()
        let visit = try new.take("Compute.double")
        old.answer(stale, "stale")
        #expect(call.end == nil)
        #expect(house.hub.staleReplies == 1)
        new.answer(visit, "fresh")
        new.answer(visit, "again")
        #expect(call.end == "fresh")
        #expect(house.hub.staleReplies == 2)
    }

    @Test func `what waited goes before what comes later, in the order of delivery`() throws {
        let house = try TestHouse()
        let old = try house.compute()
        for text in ["1", "2", "3"] { house.client.call("Compute.double", text) }
        house.hub.away(old.peer)
        house.client.call("Compute.double", "4")
        old.die()
        #expect(try house.compute().cable.visits.map(\.text) == ["1", "2", "3", "4"])
    }

    @Test func `a visit that the supervisor calls poisoned fails`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double")
        _ = try compute.take("Compute.double")
        compute.die(.poisoned)
        #expect(call.end == "! poisoned none")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a cancelled visit whose process dies has settled`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double")
        _ = try compute.take("Compute.double")
        call.cancel()
        #expect(call.end == nil)
        compute.die()
        #expect(call.end == "! cancelled none")
        #expect(try house.compute().cable.visits.isEmpty)
    }

    @Test func `a hundred deaths later the flow still ends once`() throws {
        let house = try TestHouse()
        let call = house.client.call("Compute.double", "1")
        for attempt in 1...100 {
            let compute = try house.compute()
            #expect(try compute.take("Compute.double").attempt == UInt32(attempt))
            compute.die()
        }
        let compute = try house.compute()
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(call.end == "2")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `visits tell below which flow the keys may be forgotten`() throws {
        let house = try TestHouse()
        let store = try house.store()
        for _ in 0..<3 { house.client.call("Store.set") }
        let visits = try (0..<3).map { _ in try store.take("Store.set") }
        #expect(visits.map(\.flow) == [1, 2, 3])
        #expect(visits.map(\.lowest) == [1, 1, 1])
        store.answer(visits[0], "")
        store.answer(visits[1], "")
        house.client.call("Store.set")
        #expect(try store.take("Store.set").lowest == 3)
        #expect(house.hub.lowestLiveFlow == 3)
    }

    @Test func `the supervisor is shown what a process holds`() throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll()
        house.client.call("Store.mail", "a")
        let cancelled = house.client.call("Store.set", "b")
        cancelled.cancel()
        house.client.call("Circuit.work")
        try circuit.call(try circuit.take("Circuit.work"), 1, "Compute.double", "")
        let held = house.hub.open(store.peer, digests: true)
        #expect(held.map(\.symbol) == ["Store.mail", "Store.set"])
        #expect(held.map(\.cancelled) == [false, true])
        #expect(held.map(\.replayable) == [false, true])
        #expect(held.map(\.digest) == ["a", "b"].map { Digest.of(Array($0.utf8)) })
        house.pass(2)
        let waiting = try #require(house.hub.open(circuit.peer, digests: false).first)
        #expect(waiting.since == house.hub.seen, "waiting for the kernel costs no attempt")
        #expect(house.hub.open(store.peer, digests: false)[0].since < house.hub.seen)
    }

    /// Else a process that hangs with a cancelled visit would be ended only after all that the
    /// visit had asked for.
    @Test func `the clock of a cancelled visit runs, whatever it still waits for`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work")
        try circuit.call(try circuit.take("Circuit.work"), 1, "Compute.double", "")
        let asked = try compute.take("Compute.double")
        house.pass(1)
        let moment = house.hub.seen
        call.cancel()
        house.pass(2)
        let visit = try #require(house.hub.open(circuit.peer, digests: false).first)
        #expect(visit.cancelled)
        #expect(visit.since == moment)
        compute.answer(asked, "late")
        #expect(call.end == nil, "the visit itself has not settled")
        circuit.die()
        #expect(call.end == "! cancelled unknown")
    }
}
