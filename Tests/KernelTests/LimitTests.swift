import Control
import Kernel
import Testing

/// What is refused, and what is told to those who waited.
@Suite struct LimitTests {
    private static func limits(_ change: (inout HubLimits) -> Void) -> HubLimits {
        var limits = HubLimits()
        change(&limits)
        return limits
    }

    @Test(arguments: ["failed", "stopped", "done"])
    func `a device that does not come back refuses new requests and those that wait`(
        _ status: String
    ) throws {
        let house = try TestHouse()
        let waiting = house.client.call("Compute.double")
        house.hub.refuse(house.computeSlot, status)
        #expect(waiting.end == "! unavailable none")
        let new = house.client.call("Compute.double")
        #expect(new.end == "! unavailable none")
        #expect(new.error?.message.contains(status) == true)
        #expect(house.client.dispatch("Compute.double").end == "! unavailable none")
        #expect(house.hub.liveFlows == 0)
        house.hub.expect(house.computeSlot)
        let later = house.client.call("Compute.double", "1")
        let compute = try house.compute()
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(later.end == "2")
    }

    @Test func `the limit on waiting requests refuses the newest`() throws {
        let house = try TestHouse(Self.limits { $0.waitingRequests = 2 })
        let calls = (0..<3).map { _ in house.client.call("Compute.double") }
        #expect(calls.map(\.end) == [nil, nil, "! unavailable none"])
        let compute = try house.compute()
        #expect(compute.cable.visits.count == 2)
    }

    @Test func `many that wait for a device's first word are given to it in order`() throws {
        let count = 5_000
        let house = try TestHouse(
            Self.limits {
                $0.waitingRequests = count
                $0.openCalls = count
            })
        for number in 0..<count { house.client.call("Compute.double", "\(number)") }
        let compute = try house.compute()
        #expect(compute.cable.visits.map(\.text) == (0..<count).map { "\($0)" })
    }

    @Test func `the limit on waiting bytes counts what waits now`() throws {
        let house = try TestHouse(Self.limits { $0.waitingBytes = 10 })
        #expect(house.client.call("Compute.double", "1234567").end == nil)
        #expect(house.client.call("Compute.double", "12345").end == "! unavailable none")
        #expect(house.client.call("Compute.double", "123").end == nil)
        let compute = try house.compute()
        #expect(compute.cable.visits.count == 2)
        house.hub.away(compute.peer)
        #expect(house.client.call("Compute.double", "1234567890").end == nil)
    }

    @Test func `a visit that was delivered before is never refused for want of room`() throws {
        let house = try TestHouse(Self.limits { $0.waitingRequests = 1 })
        let compute = try house.compute()
        let first = house.client.call("Compute.double", "1")
        let second = house.client.call("Compute.double", "2")
        house.hub.away(compute.peer)
        let third = house.client.call("Compute.double", "3")
        let fourth = house.client.call("Compute.double", "4")
        compute.die()
        #expect([first, second, third].map(\.end) == [nil, nil, nil])
        #expect(fourth.end == "! unavailable none")
        let next = try house.compute()
        #expect(next.cable.visits.map(\.text) == ["1", "2", "3"])
    }

    @Test func `refusing a flow and its own child leaves the count of waiting bytes right`() throws
    {
        let house = try TestHouse(Self.limits { $0.waitingBytes = 10 })
        let circuit = try house.circuit()
        let call = house.client.call("Circuit.work", "outer")
        try circuit.call(try circuit.take("Circuit.work"), 1, "Circuit.other", "inner")
        circuit.die()
        house.hub.refuse(house.circuitSlot, "stopped")
        #expect(call.end == "! unavailable unknown")
        house.hub.expect(house.circuitSlot)
        #expect(house.client.call("Circuit.work", "12345678901").end == "! unavailable none")
        #expect(house.client.call("Circuit.work", "1234567890").end == nil)
    }

    @Test func `calls beyond the credits of a connection are overloaded`() throws {
        let house = try TestHouse(
            Self.limits {
                $0.openCalls = 2
                $0.openBytes = 10
            })
        let compute = try house.compute()
        let first = house.client.call("Compute.double", "12345678")
        #expect(house.client.call("Compute.double", "123").end == "! overloaded none")
        #expect(house.client.call("Compute.double", "12").end == nil)
        #expect(house.client.call("Compute.double", "").end == "! overloaded none")
        compute.answer(try compute.take("Compute.double"), "")
        #expect(first.end == "")
        #expect(house.client.call("Compute.double", "12345678").end == nil)
    }

    @Test func `a lane that is full refuses new commands only`() throws {
        let house = try TestHouse(Self.limits { $0.laneCommands = 2 })
        let calls = (0..<3).map { _ in house.client.dispatch("Store.save") }
        #expect(calls.map(\.accepted) == [true, true, false])
        #expect(calls[2].end == "! overloaded none")
    }

    @Test func `a lane that holds too many bytes refuses new commands only`() throws {
        let house = try TestHouse(Self.limits { $0.laneBytes = 10 })
        let first = house.client.dispatch("Store.save", "12345678")
        let second = house.client.dispatch("Store.save", "123")
        #expect([first.accepted, second.accepted] == [true, false])
        #expect(second.end == "! overloaded none")
        let store = try house.store()
        store.answer(try store.take("Store.save"), "")
        #expect(house.client.dispatch("Store.save", "1234567890").accepted)
    }

    @Test func `a stage that asks for more than its record holds is told recordFull`() throws {
        let house = try TestHouse(Self.limits { $0.recordEntries = 2 })
        let (compute, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for tag in 1...3 { try circuit.call(visit, UInt64(tag), "Compute.double", "\(tag)") }
        #expect(circuit.heard() == ["3 ! recordFull"])
        #expect(compute.cable.visits.count == 2)
        circuit.answer(visit, "gave up")
        for asked in compute.cable.visits {
            compute.answer(asked, .fail(KernelError(.cancelled, "")))
        }
        #expect(call.end == "gave up")
    }

    @Test func `repeats do not use up the record`() throws {
        let house = try TestHouse(Self.limits { $0.recordBytes = 200 })
        let compute = try house.compute()
        let call = house.client.call("Circuit.work")
        for attempt in 1...5 {
            let circuit = try house.circuit()
            let visit = try circuit.take("Circuit.work")
            #expect(visit.attempt == attempt)
            try circuit.call(visit, 1, "Compute.double", "1")
            try circuit.call(visit, 2, "Compute.double", "payload")
            #expect(circuit.heard() == [])
            if attempt == 5 {
                circuit.parked(visit)
                circuit.answer(visit, "done")
            } else {
                circuit.die()
            }
        }
        while !compute.cable.visits.isEmpty {
            compute.answer(try compute.take("Compute.double"), "")
        }
        #expect(call.end == "done")
    }

    @Test func `errors are kept up to their number, the oldest being forgotten`() throws {
        let house = try TestHouse(Self.limits { $0.errors = 2 })
        for name in ["a", "b", "c"] {
            house.hub.report(name, KernelError(.failed, ""), flow: nil)
        }
        #expect(house.errors == ["b failed", "c failed"])
        house.hub.dismissErrors()
        #expect(house.errors == [])
    }
}
