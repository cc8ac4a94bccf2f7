import Control
import Kernel
import Testing
import Values

/// What is published to a channel, and what its followers take.
@Suite struct ChannelShapeTests {
    private static let event = "{id: int, name: text}"

    static let takes: [(shape: String, isRead: Bool)] = [
        (event, true), ("{id: int}", true), ("{id: int, at: int?}", true), ("", true), ("_", true),
        ("{id: text}", false), ("{id: int, at: int}", false), ("int", false), ("()", false),
    ]

    /// A house in which `Store.save` follows `news`, to which circuit publishes.
    private func house() throws -> TestHouse {
        let house = try TestHouse()
        try house.hub.declare(channel: "news")
        try house.hub.attach("Store.save", to: "news")
        return house
    }

    /// Both devices start, the one first or the other.
    private func start(
        _ house: TestHouse, publishes: [String: String], takes: String, publisherFirst: Bool,
        isReadyAtOnce: Bool = true
    ) throws {
        var peers: [Peer] = []
        func circuit() throws {
            let peer = Peer(
                cable: TestCable(), device: house.circuitSlot, incarnation: 1, name: "circuit")
            let bindings = ["Circuit.work", "Circuit.pipe", "Circuit.other"]
            try house.hub.announce(peer, bindings.map { .handler($0) }, publishes: publishes)
            if isReadyAtOnce { house.hub.ready(peer) } else { peers.append(peer) }
        }
        func store() throws {
            let peer = Peer(
                cable: TestCable(), device: house.storeSlot, incarnation: 1, name: "store")
            let bindings = ["Store.save", "Store.mail", "Store.set"].map {
                Binding(name: $0, traits: .keyed, stages: nil, last: false, takes: takes)
            }
            try house.hub.announce(peer, bindings)
            if isReadyAtOnce { house.hub.ready(peer) } else { peers.append(peer) }
        }
        if publisherFirst { try circuit() }
        try store()
        if !publisherFirst { try circuit() }
        for peer in peers { house.hub.ready(peer) }
    }

    @Test(arguments: 0..<takes.count, 0..<4)
    func `who cannot read the events is refused at its start, whoever starts first`(
        _ row: Int, _ order: Int
    ) throws {
        let (takes, isRead) = Self.takes[row]
        let house = try house()
        let start = {
            try self.start(
                house, publishes: ["news": Self.event], takes: takes,
                publisherFirst: order & 1 == 0, isReadyAtOnce: order & 2 == 0)
        }
        guard !isRead else {
            try start()
            let row = house.hub.value(ofRegion: "Kernel.Channels")?[0]
            #expect(row?["shapes"] == .array([.text(Self.event)]))
            return
        }
        let error = #expect(throws: KernelError.self) { try start() }
        #expect(error?.code == .composeTypeMismatch)
        for word in ["circuit", "news", "Store.save", Self.event, takes] {
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a channel that is not granted, or does not exist, is not announced`() throws {
        for name in ["olds", "news"] {
            let house = try TestHouse()
            let error = #expect(throws: KernelError.self) {
                try start(house, publishes: [name: "int"], takes: "", publisherFirst: true)
            }
            #expect(error?.message.contains(name) == true)
            #expect(error?.code == (name == "olds" ? .denied : .unbound))
        }
    }

    @Test func `what a process announced that was never ready does not count`() throws {
        let house = try house()
        try start(house, publishes: ["news": "int"], takes: "int", publisherFirst: true)
        let bindings = ["Store.save", "Store.mail", "Store.set"].map {
            Binding(name: $0, traits: .keyed, stages: nil, last: false, takes: "_")
        }
        let new = Peer(cable: TestCable(), device: house.storeSlot, incarnation: 2, name: "store")
        try house.hub.announce(new, bindings)
        house.hub.away(new)
        let other = ["Circuit.work", "Circuit.pipe", "Circuit.other"].map { Binding.handler($0) }
        let next = Peer(
            cable: TestCable(), device: house.circuitSlot, incarnation: 2, name: "circuit")
        #expect(throws: KernelError.self) {
            try house.hub.announce(next, other, publishes: ["news": "text"])
        }
    }

    @Test func `the next build may publish something else, with a follower that takes it`() throws {
        let house = try house()
        try start(house, publishes: ["news": "int"], takes: "int", publisherFirst: true)
        let new = Peer(
            cable: TestCable(), device: house.circuitSlot, incarnation: 2, name: "circuit")
        let bindings = ["Circuit.work", "Circuit.pipe", "Circuit.other"].map {
            Binding.handler($0)
        }
        #expect(throws: KernelError.self) {
            try house.hub.announce(new, bindings, publishes: ["news": "text"])
        }
        try house.hub.announce(new, bindings, publishes: ["news": "int"])
    }
}
