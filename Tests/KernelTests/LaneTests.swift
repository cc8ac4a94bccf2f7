import Control
import Kernel
import Testing
import Values

/// Dispatched commands and their lanes.
@Suite struct LaneTests {
    private func store(_ house: TestHouse, lanes: [String: String]) throws -> TestProcess {
        try TestProcess(
            house, house.storeSlot,
            bindings: ["Store.save", "Store.mail", "Store.set"].map { name in
                var traits = name == "Store.mail" ? Traits.once : .keyed
                traits.lane = lanes[name]
                return .handler(name, traits)
            })
    }

    @Test func `commands run one at a time in the order in which they were accepted`() throws {
        let house = try TestHouse()
        let store = try store(house, lanes: [:])
        let sent = ["1", "2", "3"].map { house.client.dispatch("Store.save", $0) }
        #expect(sent.map(\.accepted) == [true, true, true])
        for text in ["1", "2", "3"] {
            #expect(store.cable.visits.map(\.text) == [text])
            store.answer(try store.take("Store.save"), "")
        }
        #expect(sent.map(\.end) == [nil, nil, nil])
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a failure goes to Kernel.Errors and the next command runs`() throws {
        let house = try TestHouse()
        let store = try store(house, lanes: [:])
        house.client.dispatch("Store.save", "1")
        house.client.dispatch("Store.save", "2")
        store.answer(try store.take("Store.save"), .fail(KernelError(.init(rawValue: "full"), "")))
        #expect(house.errors == ["Store.save full"])
        let next = try store.take("Store.save")
        #expect(next.text == "2")
        store.answer(next, "")
        #expect(house.errors.count == 1)
    }

    @Test(
        arguments: [
            nil, "a", "a/b:c", "/Store.save", "own:a", "\u{301}a", "a\u{301}", "\u{200D}",
        ] as [String?])
    func `a command that fails is told with the key that its sender chose`(_ key: String?) throws {
        let house = try TestHouse()
        let store = try store(house, lanes: [:])
        house.client.dispatch("Store.save", key: key)
        store.answer(try store.take("Store.save"), .fail(KernelError(.init(rawValue: "full"), "")))
        let told = try #require(house.hub.value(ofRegion: "Kernel.Errors")?.array)
        #expect(told.map { $0["key"]?.text } == [key])
        #expect(told[0].map?.count == (key == nil ? 5 : 6))
    }

    @Test func `commands of different lanes do not wait for each other`() throws {
        let house = try TestHouse()
        let store = try store(house, lanes: ["Store.set": "other"])
        house.client.dispatch("Store.save", "1")
        house.client.dispatch("Store.set", "2")
        house.client.dispatch("Store.mail", "3")
        #expect(store.cable.visits.map(\.text) == ["1", "2"])
    }

    @Test func `calls do not queue in lanes`() throws {
        let house = try TestHouse()
        let store = try store(house, lanes: [:])
        house.client.dispatch("Store.save", "1")
        house.client.call("Store.save", "2")
        #expect(store.cable.visits.map(\.text) == ["1", "2"])
    }

    @Test func `the clock of a command starts when its lane starts it`() throws {
        let house = try TestHouse()
        let store = try store(house, lanes: [:])
        house.client.dispatch("Store.save", "1")
        house.client.dispatch("Store.save", "2")
        let first = try store.take("Store.save")
        house.pass(9)
        store.answer(first, "")
        house.pass(9)
        #expect(house.errors == [])
        store.answer(try store.take("Store.save"), "")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a command beyond its deadline fails and the lane goes on`() throws {
        let house = try TestHouse()
        let store = try store(house, lanes: [:])
        house.client.dispatch("Store.mail", "1")
        house.client.dispatch("Store.save", "2")
        let first = try store.take("Store.mail")
        house.pass(10)
        #expect(store.cable.visits.isEmpty, "the first has not settled")
        store.answer(first, .fail(KernelError(.cancelled, "")))
        #expect(house.errors == ["Store.mail deadline"])
        #expect(try store.take("Store.save").text == "2")
    }

    @Test func `a lane survives the death of its device in order`() throws {
        let house = try TestHouse()
        var store = try store(house, lanes: [:])
        for text in ["1", "2", "3"] { house.client.dispatch("Store.save", text) }
        for text in ["1", "2", "3"] {
            #expect(try store.take("Store.save").text == text)
            store.die()
            store = try self.store(house, lanes: [:])
            let again = try store.take("Store.save")
            #expect((again.text, again.attempt) == (text, 2))
            store.answer(again, "")
        }
        #expect(house.errors == [])
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `the commands of a device that was stopped all fail, each once`() throws {
        let house = try TestHouse()
        for text in ["1", "2", "3"] { house.client.dispatch("Store.save", text) }
        house.hub.refuse(house.storeSlot, "stopped")
        #expect(house.errors == Array(repeating: "Store.save unavailable", count: 3))
        #expect(house.hub.liveFlows == 0)
    }
}
