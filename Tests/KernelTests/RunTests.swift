import Control
import Kernel
import Testing

/// Pipes that a handler builds while it runs, and commands that it sends.
@Suite struct RunTests {
    private static let pipe: [StageDescriptor] = [
        .visit(.pipe, "Compute.double"), .stage(.closure), .visit(.pipe, "Store.save"),
    ]

    @Test func `a pipe of a handler is a flow below it, and its closures run where it runs`()
        throws
    {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        circuit.run(work, 7, Self.pipe, "1")
        compute.answer(try compute.take("Compute.double"), "2")
        let closure = try circuit.take("tag 7 #0")
        #expect(closure.text == "2")
        #expect(closure.asker?.visit == work.number)
        circuit.answer(closure, "3")
        let saved = try store.take("Store.save")
        #expect(saved.text == "3")
        #expect(saved.path?.hasPrefix("7-1/0/run:") == true)
        store.answer(saved, "4")
        #expect(circuit.heard() == ["7 4"])
        circuit.answer(work, "5")
        #expect(call.end == "5")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a closure whose process died runs again once the handler has asked again`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        circuit.run(work, 1, Self.pipe, "1")
        compute.answer(try compute.take("Compute.double"), "2")
        _ = try circuit.take("tag 1 #0")
        circuit.die()
        let next = try house.circuit()
        let again = try next.take("Circuit.work")
        #expect(again.replay)
        #expect(next.cable.visits.isEmpty, "its code is not known there yet")
        next.run(again, 5, Self.pipe, "1")
        let closure = try next.take("tag 5 #0")
        #expect((closure.text, closure.attempt) == ("2", 2))
        #expect(compute.cable.visits.isEmpty, "what was done is not done again")
        next.parked(again)
        next.answer(closure, "3")
        store.answer(try store.take("Store.save"), "4")
        #expect(next.heard() == ["5 4"])
        next.answer(again, "5")
        #expect(call.end == "5")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a pipe that has ended is answered from the record`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        circuit.run(work, 1, [.visit(.pipe, "Compute.double")], "1")
        compute.answer(try compute.take("Compute.double"), "2")
        _ = circuit.heard()
        circuit.die()
        let next = try house.circuit()
        let again = try next.take("Circuit.work")
        next.run(again, 1, [.visit(.pipe, "Compute.double")], "1")
        next.parked(again)
        #expect(next.heard() == ["1 2"])
        next.answer(again, "5")
        #expect(call.end == "5")
        #expect(compute.cable.visits.isEmpty && store.cable.visits.isEmpty)
    }

    @Test func `a repeat that builds another pipe ends diverged`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        circuit.run(try circuit.take("Circuit.work"), 1, [.visit(.pipe, "Compute.double")], "1")
        compute.answer(try compute.take("Compute.double"), "2")
        circuit.die()
        let next = try house.circuit()
        let again = try next.take("Circuit.work")
        next.run(again, 1, [.visit(.pipe, "Compute.other")], "1")
        next.parked(again)
        next.answer(again, .fail(KernelError(.cancelled, "")))
        #expect(call.error?.code == .diverged)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `the closures of branches and the finally are counted in order`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit()
        let call = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        let fork = ForkTests.fork([[nil], [nil]])
        circuit.run(work, 1, [.stage(.closure), fork], "1", last: true)
        circuit.answer(try circuit.take("tag 1 #0"), "2")
        circuit.answer(try circuit.take("tag 1 #1"), "a")
        circuit.answer(try circuit.take("tag 1 #2"), "b")
        circuit.answer(try circuit.take("tag 1 #3"), "")
        #expect(circuit.heard() == ["1 a,b"])
        circuit.answer(work, "5")
        #expect(call.end == "5")
    }

    @Test func `a handler that returns without its pipe cancels it`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        circuit.run(work, 1, Self.pipe, "1")
        compute.answer(try compute.take("Compute.double"), "2")
        let closure = try circuit.take("tag 1 #0")
        circuit.answer(work, "5")
        #expect(call.end == nil, "what was begun settles first")
        #expect(circuit.cable.cancelled == [closure.number])
        circuit.answer(closure, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "5")
        #expect(store.cable.visits.isEmpty)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a suspected closure is tried again in a cell with its handler`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit()
        let call = house.client.call("Circuit.work", "1")
        circuit.run(try circuit.take("Circuit.work"), 1, [.stage(.closure)], "1")
        _ = try circuit.take("tag 1 #0")
        circuit.die { $0 == 2 ? .cell : .replay }
        let serving = try house.circuit()
        #expect(serving.cable.visits.isEmpty)
        let cell = try house.circuit(isCell: true)
        let work = try cell.take("Circuit.work")
        cell.run(work, 1, [.stage(.closure)], "1")
        cell.answer(try cell.take("tag 1 #0"), "2")
        cell.answer(work, "3")
        #expect(call.end == "3")
    }

    @Test func `a pipe that the manifest does not grant is refused to its handler`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double", "1")
        let visit = try compute.take("Compute.double")
        compute.run(visit, 1, [.visit(.pipe, "Store.save")], "1")
        #expect(compute.heard() == ["1 ! denied"])
        compute.answer(visit, "2")
        #expect(call.end == "2")
    }

    @Test func `a command of a handler is accepted once, however often the handler is repeated`()
        throws
    {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        try circuit.dispatch(work, 1, "Store.save", "x")
        #expect(circuit.heard() == ["1 "])
        let saved = try store.take("Store.save")
        circuit.die()
        let next = try house.circuit()
        let again = try next.take("Circuit.work")
        try next.dispatch(again, 1, "Store.save", "x")
        next.parked(again)
        #expect(next.heard() == ["1 "])
        next.answer(again, "5")
        #expect(call.end == "5", "nobody waits for the command")
        #expect(store.cable.visits.isEmpty)
        store.answer(saved, "y")
        #expect(house.hub.liveFlows == 0)
    }

    /// Keys below a flow are forgotten when it has ended, and a command runs on.
    @Test(arguments: [nil, "mine"])
    func `a command of a handler has a key of its own, unless its caller chose one`(
        _ key: String?
    ) throws {
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work", "1", key: key)
        let work = try circuit.take("Circuit.work")
        try circuit.dispatch(work, 1, "Store.save", "x")
        circuit.answer(work, "2")
        #expect(call.end == "2")
        let saved = try store.take("Store.save")
        if key == nil {
            #expect(saved.path == nil)
        } else {
            #expect(saved.path?.hasPrefix("own:mine/") == true)
            #expect(saved.path?.contains("/dispatch:Store.save:") == true)
        }
    }

    @Test func `a command that sends itself on for ever has a key of bounded length each time`()
        throws
    {
        let house = try TestHouse()
        let circuit = try house.circuit()
        let key = String(repeating: "k", count: house.hub.limits.keyBytes)
        let call = house.client.call("Circuit.work", "1", key: key)
        var paths: Set<String> = []
        for number in 1...60 {
            let work = try circuit.take("Circuit.work")
            let path = try #require(work.path)
            #expect(path.hasPrefix("own:"))
            #expect(path.utf8.count < 4 * house.hub.limits.keyBytes, "\(number)")
            paths.insert(path)
            try circuit.dispatch(work, UInt64(number), "Circuit.work", "1")
            circuit.answer(work, "2")
        }
        #expect(paths.count == 60, "each has another")
        #expect(call.end == "2")
    }

    @Test func `a command of a handler that is not accepted is an error there`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit()
        house.hub.refuse(house.storeSlot, "stopped")
        _ = house.client.call("Circuit.work", "1")
        let work = try circuit.take("Circuit.work")
        try circuit.dispatch(work, 1, "Store.save", "x")
        #expect(circuit.heard() == ["1 ! unavailable"])
    }
}
