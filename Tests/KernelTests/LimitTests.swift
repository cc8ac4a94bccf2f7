import Control
import Kernel
import Testing
import Values

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

    @Test func `a key of the caller's own that is too long is refused`() throws {
        let house = try TestHouse()
        _ = try house.startAll()
        try house.hub.declare(channel: "news")
        let client = house.client
        for (count, isRefused) in [(512, false), (513, true)] {
            let key = String(repeating: "k", count: count)
            let call = client.call("Compute.double", "12", key: key)
            #expect(call.end == (isRefused ? "! tooLarge none" : nil))
            let dispatch = client.nextID()
            house.hub.dispatch(
                client.peer, dispatch, house.hub.symbol("Circuit.other"), [], key: key)
            #expect(client.cable.accepted.contains(dispatch) != isRefused)
            client.publish("a", key: key)
            #expect(client.published == [1])
        }
        #expect(try house.hub.channel("news").last == 1)
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

    @Test func `who calls itself without an end is told so, and all above it end`() throws {
        let house = try TestHouse(Self.limits { $0.depth = 3 })
        let (_, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work", "0")
        var visits: [TestCable.Visit] = []
        for number in 1...4 {
            let visit = try circuit.take("Circuit.work")
            visits.append(visit)
            try circuit.call(visit, UInt64(number), "Circuit.work", "\(number)")
            #expect(circuit.heard() == (number == 4 ? ["4 ! overloaded"] : []))
        }
        // A pipe of the handler is no way around it.
        circuit.run(visits[3], 5, [], "x")
        #expect(circuit.heard() == ["5 ! overloaded"])
        for (number, visit) in visits.enumerated().reversed() {
            circuit.answer(visit, "\(number)")
        }
        #expect(call.end == "0")
        #expect(house.hub.liveFlows == 0)
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

    @Test func `an error of any length takes a bounded place in Kernel.Errors`() throws {
        let house = try TestHouse(Self.limits { $0.errorBytes = 10 })
        let texts = [
            ("0123456789", "0123456789"), ("0123456789a", "0123456789…"),
            ("01234567ä", "01234567ä"), ("012345678ä", "012345678…"), ("0123456€", "0123456€"),
            ("01234567€", "01234567…"), ("012345👩‍👩", "012345👩…"), ("", ""),
        ]
        for (text, kept) in texts {
            house.hub.report(text, KernelError(KernelError.Code(rawValue: text), text), flow: nil)
            let entry = house.hub.value(ofRegion: "Kernel.Errors")?.array?.last
            for member in ["symbol", "code", "message"] {
                #expect(entry?[member] == .text(kept), "\(member) of \(text)")
            }
        }
    }

    @Test func `what a repeat could not be told is not committed`() throws {
        let house = try TestHouse(Self.limits { $0.repeatBytes = 1_000 })
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        func text(_ count: Int) -> Value { .text(String(repeating: "x", count: count)) }
        circuit.commit(visit, 1, [.replace("letter", base: 0, text(600))])
        circuit.commit(visit, 2, [.replace("number", base: 0, text(600))])
        // Each may be changed, but not both at once: it is said before anything is changed.
        circuit.commit(
            visit, 3, [.replace("letter", base: 1, "b"), .replace("number", base: 2, .int(1))])
        #expect(house.hub.counter == 2)
        circuit.commit(visit, 4, [.replace("letter", base: 1, "b")])
        circuit.commit(
            visit, 5, [.replace("letter", base: 3, "c"), .replace("number", base: 2, .int(1))])
        #expect(
            circuit.heard() == [
                "1 committed", "2 committed", "3 ! tooLarge", "4 committed", "5 committed",
            ])
    }

    @Test
    func `what a stage has read is given to its repeat, or the flow says that it is too much`()
        throws
    {
        let house = try TestHouse(Self.limits { $0.repeatBytes = 1_000 })
        var circuit = try house.circuit()
        let call = house.client.call("Circuit.work")
        var visit = try circuit.take("Circuit.work")
        circuit.commit(
            visit, 1, [.replace("letter", base: 0, .text(String(repeating: "x", count: 400)))])
        house.hub.note(circuit.peer, visit: visit.number, region: "letter", number: 0, revision: 1)
        circuit.die()
        circuit = try house.circuit()
        visit = try circuit.take("Circuit.work")
        #expect(visit.reads.count == 1)
        for number: UInt32 in 1...2 {
            house.hub.note(
                circuit.peer, visit: visit.number, region: "letter", number: number, revision: 1)
        }
        circuit.die()
        circuit = try house.circuit()
        #expect(call.end?.contains("! tooLarge") == true, "\(call.end ?? "")")
        #expect(circuit.cable.visits.isEmpty)
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
