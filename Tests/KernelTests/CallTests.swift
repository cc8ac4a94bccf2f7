import Control
import Kernel
import Testing

/// Calls, from the question of a client to its end.
@Suite struct CallTests {
    @Test func `a call is answered with the output of its handler`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double", "3")
        let visit = try compute.take("Compute.double")
        #expect(visit.text == "3")
        #expect((visit.number, visit.attempt, visit.step, visit.replay) == (1, 1, 0, false))
        compute.answer(visit, "6")
        #expect(call.end == "6")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a handler that fails is a call that fails with its own code`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double")
        let error = KernelError(.init(rawValue: "tooMany"), "no more than 9")
        compute.answer(try compute.take("Compute.double"), .fail(error))
        #expect(call.error?.message == "no more than 9")
        #expect(call.end == "! tooMany none")
    }

    @Test(arguments: ["Compute.gone", "", "Compute.double "])
    func `a symbol that no manifest provides is unbound`(_ name: String) throws {
        let house = try TestHouse()
        #expect(house.client.call(name).end == "! unbound none")
        #expect(house.client.dispatch(name).end == "! unbound none")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `the closure of a pipe is nobody's symbol`() throws {
        let house = try TestHouse()
        _ = try house.circuit(stages: [.stage(.closure)])
        #expect(house.client.call("Circuit.pipe#0").end == "! unbound none")
    }

    @Test func `a symbol of the kernel is answered at once and is not dispatched`() throws {
        let house = try TestHouse()
        house.hub.declare(builtin: "Kernel.echo") { .success($0) }
        #expect(house.client.call("Kernel.echo", "hello").end == "hello")
        #expect(house.client.dispatch("Kernel.echo").end == "! denied unknown")
    }

    @Test func `calls that wait for a device are delivered in their order when it serves`() throws {
        let house = try TestHouse()
        let calls = ["1", "2", "3"].map { house.client.call("Compute.double", $0) }
        house.pass(5)
        let compute = try house.compute()
        for call in calls {
            let visit = try compute.take("Compute.double")
            compute.answer(visit, visit.text)
            #expect(call.end == visit.text)
        }
        #expect(calls.map(\.end) == ["1", "2", "3"])
    }

    @Test func `a call waits for a device that is away until its deadline and not longer`() throws {
        let house = try TestHouse()
        let call = house.client.call("Compute.double")
        house.pass(9.5)
        #expect(call.end == nil)
        house.pass(0.5)
        #expect(call.end == "! deadline none")
        #expect(call.error?.message.contains("waited for compute, which is away") == true)
        #expect(call.error?.retry == true)
        let compute = try house.compute()
        #expect(compute.cable.visits.isEmpty)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `the caller may ask for less time and never gets more than the symbol's`() throws {
        let house = try TestHouse()
        let short = house.client.call("Compute.double", deadline: 2_000)
        let long = house.client.call("Compute.double", deadline: 60_000)
        house.pass(2)
        #expect(short.end == "! deadline none")
        #expect(short.error?.message.contains(" within 2000 ms: ") == true)
        house.pass(8)
        #expect(long.end == "! deadline none")
        #expect(long.error?.message.contains(" within 10000 ms: ") == true)
    }

    @Test func `time in which the kernel did not run ends nothing`() throws {
        let house = try TestHouse()
        let call = house.client.call("Compute.double")
        house.hub.turn(now: house.clock + 60_000_000_000, wall: 0, tick: true)
        house.hub.tick()
        #expect(call.end == nil)
    }

    @Test func `a second late tick in a row counts, or nothing would ever be judged`() throws {
        let house = try TestHouse()
        let call = house.client.call("Compute.double")
        for late in 1...12 {
            house.hub.turn(now: house.clock + UInt64(late) * 3_000_000_000, wall: 0, tick: true)
            house.hub.tick()
        }
        #expect(call.end == "! deadline none")
    }

    @Test func `an answer after the deadline counts for nothing`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double")
        let visit = try compute.take("Compute.double")
        house.pass(10)
        #expect(compute.cable.cancelled == [visit.number])
        #expect(call.end == nil, "the visit has not settled")
        house.pass(5.5)
        #expect(call.end == nil, "its process may still be killed")
        house.pass(0.5)
        #expect(call.end == "! deadline none")
        compute.answer(visit, "late")
        #expect(call.end == "! deadline none")
        #expect(house.hub.staleReplies == 1)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a cancelled call ends once its visit has settled`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double")
        let visit = try compute.take("Compute.double")
        call.cancel()
        #expect(compute.cable.cancelled == [visit.number])
        compute.answer(visit, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! cancelled none")
        call.cancel()
        #expect(call.end == "! cancelled none")
    }

    @Test func `a client that is gone has its calls cancelled and its dispatches done`() throws {
        let house = try TestHouse()
        let (compute, _, store) = try house.startAll()
        house.client.call("Compute.double")
        house.client.dispatch("Store.save", "row")
        let asked = try compute.take("Compute.double")
        let kept = try store.take("Store.save")
        house.hub.gone(house.client.peer)
        #expect(compute.cable.cancelled == [asked.number])
        #expect(store.cable.cancelled == [])
        compute.answer(asked, .fail(KernelError(.cancelled, "")))
        store.answer(kept, "done")
        #expect(house.client.cable.replies.isEmpty)
        #expect(house.hub.liveFlows == 0)
        #expect(house.errors == [])
    }

    @Test func `an attempt over its limit is cancelled and fails the flow`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let call = house.client.call("Compute.double")
        let visit = try compute.take("Compute.double")
        house.hub.attemptOver(compute.peer, visit: visit.number)
        compute.answer(visit, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! attempt none")
    }
}
