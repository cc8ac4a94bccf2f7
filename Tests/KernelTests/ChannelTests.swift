import Control
import Kernel
import Testing
import Values

/// Channels: what is published, and the symbols that follow.
@Suite struct ChannelTests {
    /// A house in which `Store.save` follows `news`, and `Circuit.work` publishes.
    private func house(events: Int? = nil, bytes: Int? = nil) throws -> TestHouse {
        let house = try TestHouse()
        try house.hub.declare(channel: "news", events: events, bytes: bytes)
        try house.hub.attach("Store.save", to: "news")
        return house
    }

    @Test func `an event is told its number and visits its follower`() throws {
        let house = try house()
        let (_, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        circuit.publish(visit, 1, "a")
        #expect(circuit.heard() == ["1 published 1"])
        let event = try store.take("Store.save")
        #expect(event.text == "a")
        #expect(event.path == "7-\(event.flow)/news:1")
        store.answer(event, "")
        circuit.answer(visit, "done")
        #expect(call.end == "done")
        #expect(house.hub.liveFlows == 0)
        #expect(house.errors == [])
    }

    @Test func `events are handled one at a time and in order`() throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        for text in ["a", "b", "c"] { house.client.publish(text) }
        for text in ["a", "b", "c"] {
            #expect(store.cable.visits.map(\.text) == [text])
            store.answer(try store.take("Store.save"), "")
        }
        #expect(store.cable.visits.isEmpty)
        #expect(house.client.published == [1, 2, 3])
    }

    @Test func `each follower has a pace of its own`() throws {
        let house = try house()
        try house.hub.attach("Store.set", to: "news")
        let (_, _, store) = try house.startAll()
        for text in ["a", "b"] { house.client.publish(text) }
        let slow = try store.take("Store.save")
        store.answer(try store.take("Store.set"), "")
        store.answer(try store.take("Store.set"), "")
        #expect(store.cable.visits.isEmpty)
        store.answer(slow, "")
        #expect(try store.take("Store.save").text == "b")
    }

    @Test func `what is published before the first process of a follower waits for it`() throws {
        let house = try house()
        for number in 1...50 { house.client.publish("\(number)") }
        house.pass(60)
        #expect(house.errors == [])
        let store = try house.store()
        for number in 1...50 {
            let visit = try store.take("Store.save")
            #expect(visit.text == "\(number)")
            #expect(visit.attempt == 1)
            store.answer(visit, "")
        }
        #expect(house.errors == [])
    }

    @Test func `an event that fails is told in Kernel.Errors and the next one is handled`() throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        for text in ["a", "b"] { house.client.publish(text) }
        store.answer(try store.take("Store.save"), .fail(KernelError(.init(rawValue: "full"), "")))
        #expect(house.errors == ["Store.save full"])
        #expect(try store.take("Store.save").text == "b")
    }

    @Test func `a follower that dies is given the same event again, with its key`() throws {
        let house = try house()
        let (_, _, store) = try house.startAll()
        for text in ["a", "b"] { house.client.publish(text) }
        let first = try store.take("Store.save")
        store.die()
        house.pass(5)
        let next = try house.store()
        let again = try next.take("Store.save")
        #expect(again.text == "a")
        #expect(again.attempt == 2)
        #expect(again.path == first.path)
        next.answer(again, "")
        let other = try next.take("Store.save")
        #expect(other.text == "b")
        #expect(other.path != first.path)
    }

    @Test func `a repeat that publishes again has published once`() throws {
        let house = try house()
        let (_, circuit, store) = try house.startAll()
        let call = house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for tag in 1...2 { circuit.publish(visit, UInt64(tag), "same") }
        circuit.publish(visit, 3, "other")
        circuit.die()
        let next = try house.circuit()
        let again = try next.take("Circuit.work")
        #expect(again.replay)
        // In another order: publishes match by their payload and n.
        next.publish(again, 1, "other")
        next.publish(again, 2, "same")
        next.publish(again, 3, "same")
        next.publish(again, 4, "new")
        #expect(next.heard() == [])
        for _ in 0..<4 { next.parked(again) }
        #expect(
            next.heard() == ["2 published 1", "3 published 2", "1 published 3", "4 published 4"])
        next.answer(again, "done")
        #expect(call.end == "done")
        #expect(try house.hub.channel("news").last == 4)
        _ = store
    }

    @Test func `a repeat that no longer publishes is diverged, and tells that it has`() throws {
        let house = try house()
        let (_, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work")
        circuit.publish(try circuit.take("Circuit.work"), 1, "a")
        circuit.die()
        let next = try house.circuit()
        next.answer(try next.take("Circuit.work"), "done")
        #expect(call.end == "! diverged unknown")
    }

    @Test func `the outcome of a pure flow that has published is unknown`() throws {
        let house = try TestHouse()
        let pure = try house.hub.declare(
            DeviceDeclaration(
                name: "pure", pure: true, provides: ["Pure.tell"], calls: nil, reads: [],
                writes: [], publishes: ["news"]))
        try house.hub.declare(channel: "news")
        let process = try TestProcess(house, pure, bindings: [.handler("Pure.tell")])
        for (text, outcome) in [(nil, "none"), ("a", "unknown")] {
            let call = house.client.call("Pure.tell")
            let visit = try process.take("Pure.tell")
            if let text { process.publish(visit, 1, text) }
            process.answer(visit, .fail(KernelError(.init(rawValue: "bad"), "")))
            #expect(call.end == "! bad \(outcome)")
        }
    }

    @Test(arguments: [
        ("news", "a", "denied"), ("letters", "a", "unbound"),
        ("news", String(repeating: "x", count: 11), "tooLarge"),
    ])
    func `what may not be published is refused`(
        _ channel: String, _ text: String, _ code: String
    ) throws {
        let house = try house(bytes: 10)
        let (compute, circuit, _) = try house.startAll()
        let publisher = code == "denied" ? compute : circuit
        let symbol = code == "denied" ? "Compute.double" : "Circuit.work"
        house.client.call(symbol)
        let visit = try publisher.take(symbol)
        house.hub.askPublish(
            publisher.peer, visit: visit.number, tag: 1, channel: channel, Array(text.utf8))
        #expect(publisher.heard() == ["1 ! \(code)"])
        #expect(try house.hub.channel("news").last == 0)
    }

    @Test func `a channel is declared once, within the limits, and followed once by a symbol`()
        throws
    {
        let house = try house()
        for (events, bytes) in [(0, 1), (1, 0), (65_537, 1), (1, (16 << 20) + 1)] {
            #expect(throws: KernelError.self) {
                try house.hub.declare(channel: "other", events: events, bytes: bytes)
            }
        }
        for name in ["news", "Kernel.news"] {
            #expect(throws: KernelError.self) { try house.hub.declare(channel: name) }
        }
        let twice = #expect(throws: KernelError.self) {
            try house.hub.attach("Store.save", to: "news")
        }
        #expect(twice?.message == "Store.save follows news already")
        for (symbol, channel) in [("Store.none", "news"), ("Store.set", "none")] {
            #expect(throws: KernelError.self) { try house.hub.attach(symbol, to: channel) }
        }
        try house.hub.declare(channel: "other", events: 1, bytes: 1)
        try house.hub.attach("Store.save", to: "other")
    }
}
