import Control
import Kernel
import Testing
import Values

/// What a channel keeps, who is away meanwhile, and who reads it with a cursor.
@Suite struct ChannelRetentionTests {
    private func house(
        _ limits: HubLimits = HubLimits(), events: Int? = nil, bytes: Int? = nil,
        follower: String? = "Store.save"
    ) throws -> TestHouse {
        let house = try TestHouse(limits)
        try house.hub.declare(channel: "news", events: events, bytes: bytes)
        if let follower { try house.hub.attach(follower, to: "news") }
        return house
    }

    @Test(arguments: [(4, 100, 7...10), (100, 6, 8...10), (1, 100, 10...10)])
    func `a channel keeps its newest events, by number and by bytes`(
        _ events: Int, _ bytes: Int, _ kept: ClosedRange<Int>
    ) throws {
        let house = try house(events: events, bytes: bytes, follower: nil)
        for number in 1...10 { house.client.publish(number < 10 ? "0\(number)" : "\(number)") }
        let channel = try house.hub.channel("news")
        #expect(channel.first == UInt64(kept.lowerBound))
        #expect(channel.last == 10)
        #expect(channel.kept.events == kept.count)
        #expect(channel.kept.bytes == kept.count * 2)
        for number in 1...11 {
            let event = channel[UInt64(number)]
            #expect((event != nil) == kept.contains(number))
            if let event { #expect(Int(String(decoding: event.payload, as: UTF8.self)) == number) }
        }
    }

    @Test func `a large event makes room for itself, and the largest is kept alone`() throws {
        let house = try house(bytes: 10, follower: nil)
        for text in ["aaaa", "bbbb", "cccccccccc"] { house.client.publish(text) }
        let channel = try house.hub.channel("news")
        #expect((channel.first, channel.last) == (3, 3))
        house.client.publish("dddddddddde")
        #expect(channel.last == 3)
    }

    @Test func `what retention has overtaken is one gap that names it, and the rest is handled`()
        throws
    {
        let house = try house(events: 3)
        for number in 1...10 { house.client.publish("\(number)") }
        let store = try house.store()
        // The first was on its way already.
        for text in ["1", "8", "9", "10"] {
            let visit = try store.take("Store.save")
            #expect(visit.text == text)
            store.answer(visit, "")
        }
        #expect(house.errors == ["Store.save gap"])
        let gap = house.hub.value(ofRegion: "Kernel.Errors")?.array?.first
        #expect(gap?["from"]?.int == 2)
        #expect(gap?["to"]?.int == 7)
        #expect(gap?["channel"]?.text == "news")
        #expect(
            gap?["message"]?.text?.hasPrefix("Store.save has missed the events 2 to 7 ") == true)
    }

    @Test func `the deadline of an event stands while its follower is away`() throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        house.client.publish("a")
        let call = house.client.call("Store.save", "b")
        _ = try store.take("Store.save")
        house.pass(6)
        store.die()
        house.pass(3_600)
        #expect(call.end == "! deadline none")
        #expect(house.errors == [])
        let next = try house.store()
        let again = try next.take("Store.save")
        #expect(again.text == "a")
        // Of its ten seconds it has used six.
        house.pass(3)
        #expect(house.errors == [])
        house.pass(2)
        #expect(house.errors == [])
        next.answer(again, .fail(KernelError(.cancelled, "")))
        #expect(house.errors == ["Store.save deadline"])
    }

    @Test func `the branches of an event's pipe wait for their devices as the event does`() throws {
        let house = try TestHouse()
        try house.hub.declare(channel: "news")
        try house.hub.attach(TestHouse.pipe, to: "news")
        let (compute, circuit, store) = try house.startAll(
            stages: [ForkTests.fork([["Store.save", "Compute.other"], ["Compute.double"]])])
        store.die()
        house.client.publish("a")
        compute.answer(try compute.take("Compute.double"), "2")
        house.pass(6)
        let stopped = try house.store()
        _ = try stopped.take("Store.save")
        stopped.die()
        house.hub.refuse(house.storeSlot, "stopped")
        house.pass(3_600)
        #expect(house.errors == [])
        let next = try house.store()
        next.answer(try next.take("Store.save"), "saved")
        house.pass(9)
        compute.answer(try compute.take("Compute.other"), "4")
        #expect(house.errors == [])
        #expect(house.hub.liveFlows == 0)
        _ = circuit
    }

    @Test func `the time of a branch runs while its process has it`() throws {
        let house = try TestHouse()
        try house.hub.declare(channel: "news")
        try house.hub.attach(TestHouse.pipe, to: "news")
        let (compute, _, store) = try house.startAll(
            stages: [ForkTests.fork([["Store.save"], ["Compute.double"]])])
        store.die()
        house.client.publish("a")
        let visit = try compute.take("Compute.double")
        house.pass(11)
        #expect(compute.cable.cancelled == [visit.number])
    }

    @Test func `the time of an event runs while its process has it`() throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        house.client.publish("a")
        _ = try store.take("Store.save")
        house.pass(11)
        #expect(store.cable.cancelled.count == 1)
    }

    @Test(arguments: ["stopped", "failed"])
    func `events wait for a device that does not come back by itself`(_ status: String) throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        for text in ["a", "b"] { house.client.publish(text) }
        let call = house.client.call("Store.set")
        _ = try store.take("Store.save")
        store.die()
        house.hub.refuse(house.storeSlot, status)
        house.client.publish("c")
        #expect(call.end == "! unavailable unknown" || call.end == "! unavailable none")
        house.pass(60)
        #expect(house.errors == [])
        house.hub.expect(house.storeSlot)
        let next = try house.store()
        for text in ["a", "b", "c"] {
            let visit = try next.take("Store.save")
            #expect(visit.text == text)
            next.answer(visit, "")
        }
        #expect(house.errors == [])
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `an event waits in no queue that is full, and fills none`() throws {
        var limits = HubLimits()
        limits.waitingRequests = 1
        let house = try house(limits)
        let waiting = house.client.call("Store.set")
        house.client.publish("a")
        #expect(house.errors == [])
        let store = try house.store()
        store.answer(try store.take("Store.set"), "")
        #expect(waiting.end == "")
        store.answer(try store.take("Store.save"), "")
        #expect(house.errors == [])
    }

    @Test func `an event that an operator cancels counts as handled`() throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        for text in ["a", "b"] { house.client.publish(text) }
        let visit = try store.take("Store.save")
        #expect(house.hub.cancel(flow: visit.flow))
        store.answer(visit, .fail(KernelError(.cancelled, "")))
        #expect(house.errors == ["Store.save cancelled"])
        #expect(try store.take("Store.save").text == "b")
    }

    @Test func `a thousand events that fail at once are told, and none begins within another`()
        throws
    {
        var limits = HubLimits()
        limits.visitBytes = 4
        limits.errors = 8
        let house = try house(limits)
        let (_, _, store) = try house.startAll()
        for _ in 0..<1_000 { house.client.publish("too large for a visit") }
        #expect(store.cable.visits.isEmpty)
        #expect(house.errors.allSatisfy { $0 == "Store.save tooLarge" })
        #expect(house.errors.count == limits.errors)
        #expect(house.hub.liveFlows == 0)
    }

    // MARK: - Readers

    @Test func `a repeat under a key is published once while the channel keeps it`() throws {
        let house = try house(events: 2, follower: nil)
        for text in ["a", "a", "b"] { house.client.publish(text, key: "k") }
        #expect(house.client.published == [1, 1, 2])
        house.client.publish("c")
        house.client.publish("a", key: "k")
        #expect(house.client.published == [1, 1, 2, 3, 4])
    }

    @Test func `a page is bounded by number and bytes, and a larger event comes alone`() throws {
        var limits = HubLimits()
        limits.pageEvents = 3
        limits.pageBytes = 4
        let house = try house(limits, follower: nil)
        for text in ["a", "b", "c", "d", "12345", "ee", "fff"] { house.client.publish(text) }
        for (after, page) in [(0, "a b c @3"), (3, "d @4"), (4, "12345 @5"), (5, "ee @6")] {
            let id = house.client.read(after: UInt64(after))
            #expect(house.client.answer(to: id) == page)
        }
        #expect(house.client.answer(to: house.client.read(after: nil)) == "@7")
    }

    @Test func `a reader whose place is no longer kept is told the gap`() throws {
        let house = try house(events: 2, follower: nil)
        let waiting = house.client.read(after: 0)
        for text in ["a", "b", "c", "d"] { house.client.publish(text) }
        #expect(house.client.answer(to: waiting) == "a @1")
        #expect(house.client.answer(to: house.client.read(after: 0)) == "gap 1...2")
        #expect(house.client.answer(to: house.client.read(after: 1)) == "gap 2...2")
        #expect(house.client.answer(to: house.client.read(after: 2)) == "c d @4")
    }

    @Test func `a reader that is full meets its gap when it goes on`() throws {
        let house = try house(events: 2, follower: nil)
        house.client.cable.isFull = true
        let waiting = house.client.read(after: 0)
        for text in ["a", "b", "c"] { house.client.publish(text) }
        #expect(house.client.answer(to: waiting) == nil)
        house.client.cable.isFull = false
        house.hub.goOn(house.client.peer)
        #expect(house.client.answer(to: waiting) == "gap 1...1")
    }

    @Test func `readers are answered once, in the order in which they asked`() throws {
        let house = try house(follower: nil)
        let ids = (0..<3).map { _ in house.client.read(after: 0) }
        #expect(house.hub.waitingReaders == 3)
        house.client.publish("a")
        house.client.publish("b")
        #expect(ids.map(house.client.answer) == ["a @1", "a @1", "a @1"])
        #expect(house.hub.waitingReaders == 0)
    }

    @Test func `a client that is gone reads no more, and its credits are those of open calls`()
        throws
    {
        var limits = HubLimits()
        limits.openCalls = 2
        let house = try house(limits, follower: nil)
        let ids = (0..<3).map { _ in house.client.read(after: 0) }
        #expect(ids.map(house.client.answer) == [nil, nil, "! overloaded"])
        house.hub.cancel(house.client.peer, call: ids[0])
        #expect(house.client.answer(to: ids[0]) == "! cancelled")
        #expect(house.client.answer(to: house.client.read(after: 0)) == nil)
        house.hub.gone(house.client.peer)
        #expect(house.hub.waitingReaders == 0)
        house.client.publish("a")
        #expect(house.client.answer(to: ids[1]) == nil)
    }
}
