import Control
import Testing
import Values

@testable import Kernel

/// Payloads that were made to have one digest are not taken for each other.
@Suite struct DigestTests {
    /// Eight bytes whose digest is 0, and therefore that of any zeros behind them.
    static let payload: [UInt8] = [0xd5, 0x6b, 0xb9, 0x53, 0x42, 0x87, 0x08, 0x36]
    static let other = payload + [0]

    @Test(arguments: [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4"),
        (1, "ca978112ca1bbdcafac231b39a23dc4da786eff8"),
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851d"),
        (200, "c2a908d98f5df987ade41b5fce213067efbcc21e"),
    ])
    func `the strong digest is that of the standard`(_ count: Int, _ digest: String) {
        #expect(StrongDigest.text(Array(repeating: UInt8(ascii: "a"), count: count)) == digest)
    }

    @Test func `two calls of one digest have keys of their own, in a repeat too`() throws {
        #expect(Digest.of(Self.payload) == Digest.of(Self.other))
        let house = try TestHouse()
        let (_, circuit, store) = try house.startAll()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for (tag, payload) in [Self.payload, Self.other, Self.payload, Self.other].enumerated() {
            try ask(circuit, visit, UInt64(tag + 1), payload)
        }
        let first = try (0..<4).map { _ in try store.take("Store.save") }
        #expect(Set(first.compactMap(\.path)).count == 4)
        circuit.die()
        store.die()
        // The repeat asks in another order, and every payload keeps its key.
        let next = try house.circuit()
        let again = try next.take("Circuit.work")
        for (tag, payload) in [Self.other, Self.other, Self.payload, Self.payload].enumerated() {
            try ask(next, again, UInt64(tag + 1), payload)
        }
        let serving = try house.store()
        let second = try (0..<4).map { _ in try serving.take("Store.save") }
        func named(_ visits: [TestCable.Visit]) -> Set<String> {
            Set(visits.map { "\($0.path ?? "") \($0.value)" })
        }
        #expect(named(first) == named(second))
    }

    @Test func `a caller's own key with a payload of the same digest is another key`() throws {
        let house = try TestHouse()
        let (_, _, store) = try house.startAll()
        let symbol = try #require(house.hub.symbol("Store.save"))
        for payload in [Self.payload, Self.other, Self.payload] {
            house.hub.call(house.client.peer, house.client.nextID(), symbol, payload, key: "k")
        }
        let paths = try (0..<3).map { _ in try store.take("Store.save").path }
        #expect(paths[0] != paths[1])
        #expect(paths[0] == paths[2])
    }

    @Test func `what has the digest of another event of one key is published too`() throws {
        let house = try TestHouse()
        try house.hub.declare(channel: "news")
        for payload in [Self.payload, Self.other, Self.payload, Self.other] {
            house.hub.publish(
                house.client.peer, house.client.nextID(), channel: "news", payload, key: "k")
        }
        #expect(house.client.published == [1, 2, 1, 2])
    }

    private func ask(
        _ process: TestProcess, _ visit: TestCable.Visit, _ tag: UInt64, _ payload: [UInt8]
    ) throws {
        let slot = try #require(process.house.hub.symbol("Store.save"))
        process.house.hub.ask(
            process.peer, visit: visit.number, tag: tag, .call(slot, payload, deadline: 0))
    }
}
