import Control
import Testing
import Values

@testable import Kernel

/// Parts of regions, what a follower who was away has missed, and what belongs together.
@Suite struct SubscriptionTests {
    private func working(
        _ limits: HubLimits = HubLimits()
    ) throws -> (TestHouse, TestProcess, TestCable.Visit) {
        let house = try TestHouse(limits)
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        return (house, circuit, try circuit.take("Circuit.work"))
    }

    private func offer(_ region: String, base: UInt64, _ operations: Patch.Operation...)
        -> RegionOffer
    {
        RegionOffer(region: region, base: base, patch: Patch(operations))
    }

    // MARK: - Encoded once

    @Test func `followers of the same share one message`() throws {
        let (house, circuit, visit) = try working()
        let clients = (0..<3).map { _ in TestClient(house) }
        for (index, client) in clients.enumerated() {
            try house.hub.follow(client.peer, region: "number")
            if index > 0 { try house.hub.follow(client.peer, region: "letter") }
        }
        circuit.commit(
            visit, 1,
            [.replace("number", base: 0, .int(1)), .replace("letter", base: 0, .text("b"))])
        let updates = clients.map { $0.cable.updates }
        #expect(updates.map(\.count) == [1, 1, 1])
        #expect(updates[1][0] === updates[2][0])
        #expect(updates[0][0] !== updates[1][0])
        #expect(updates[0][0].changes.map(\.region) == ["number"])
        #expect(updates[1][0].changes.map(\.region) == ["number", "letter"])
        // And those whose two regions change apart.
        circuit.commit(visit, 2, base: 1, to: 2)
        #expect(clients[0].cable.updates[1] === circuit.cable.updates[1])
    }

    // MARK: - Together

    @Test func `what is resynced is sent together, and only what was missed`() throws {
        let (house, circuit, visit) = try working()
        let client = house.client
        _ = try house.hub.follow(
            client.peer, ["number", "letter", "log"].map { Hub.Subscription(name: $0) })
        #expect(client.cable.together == [3])
        circuit.commit(visit, 1, base: 0, to: 1)
        client.cable.snapshots = []
        house.hub.resync(client.peer)
        #expect(client.cable.together == [3, 3])
        #expect(client.cable.snapshots.map(\.region) == ["number", "letter", "log"])
        house.hub.resync(client.peer, ["letter", "log", "gone"])
        #expect(client.cable.together == [3, 3, 2])
        #expect(client.cable.snapshots.map(\.region).suffix(2) == ["letter", "log"])
        house.hub.resync(client.peer, ["log"])
        #expect(client.cable.together.count == 3, "one is together with nothing")
    }

    @Test func `places are followed all or none`() throws {
        let house = try TestHouse()
        #expect(throws: KernelError.self) {
            try house.hub.follow(
                house.client.peer,
                [Hub.Subscription(name: "number"), Hub.Subscription(name: "nowhere")])
        }
        let error = #expect(throws: KernelError.self) {
            try house.hub.follow(
                house.client.peer,
                ["number", "letter", "number"].map { Hub.Subscription(name: $0) })
        }
        #expect(error?.code == .malformed && error?.message.contains("number") == true)
        #expect(!house.hub.isFollowed("number"))
        #expect(house.client.cable.snapshots.isEmpty)
    }

    @Test func `a connection follows so many places and no more`() throws {
        var limits = HubLimits()
        limits.subscriptions = 2
        let house = try TestHouse(limits)
        for name in ["number", "letter"] { try house.hub.follow(house.client.peer, region: name) }
        let error = #expect(throws: KernelError.self) {
            try house.hub.follow(house.client.peer, region: "log")
        }
        #expect(error?.code == .overloaded)
    }

    // MARK: - Resuming

    /// What was known, whether patches or a snapshot follow, and how many patches.
    static let resumptions: [(Revision?, Hub.Continuation, [UInt64])] = [
        (nil, .snapshot, []),
        (Revision(epoch: 6, counter: 2), .snapshot, []),
        (Revision(epoch: 8, counter: 2), .snapshot, []),
        (Revision(epoch: 7, counter: 5), .patches, []),
        (Revision(epoch: 7, counter: 4), .patches, [5]),
        (Revision(epoch: 7, counter: 2), .patches, [3, 4, 5]),
        (Revision(epoch: 7, counter: 1), .compacted, []),
        (Revision(epoch: 7, counter: 0), .compacted, []),
        (Revision(epoch: 7, counter: 99), .compacted, []),
    ]

    @Test(arguments: resumptions.indices)
    func `who was away is sent what it missed, or told that it is not kept`(_ index: Int) throws {
        let (known, continuation, counters) = Self.resumptions[index]
        var limits = HubLimits()
        limits.pastRevisions = 3
        let (house, circuit, visit) = try working(limits)
        for number in 0..<5 {
            circuit.commit(visit, UInt64(number + 1), base: UInt64(number), to: Int64(number + 1))
        }
        let client = house.client
        let told = try house.hub.follow(
            client.peer, [Hub.Subscription(name: "number", known: known)])
        #expect(told == [continuation])
        #expect(client.cable.patches.map(\.revision.counter) == counters)
        #expect(client.cable.snapshots.count == (continuation == .patches ? 0 : 1))
        #expect(client.cable.together == (counters.count > 1 ? [counters.count] : []))
        // And then each change.
        circuit.commit(visit, 9, base: 5, to: 6)
        #expect(client.cable.patches.last?.changes.map(\.from) == [5])
    }

    @Test func `more patches than the value is worth are a snapshot`() throws {
        let (house, circuit, visit) = try working()
        for number in 0..<400 {
            circuit.commit(visit, UInt64(number + 1), base: UInt64(number), to: Int64(number + 1))
        }
        let told = try house.hub.follow(
            house.client.peer,
            [Hub.Subscription(name: "number", known: Revision(epoch: 7, counter: 1))])
        #expect(told == [.compacted])
        #expect(house.client.cable.patches.isEmpty)
    }

    // MARK: - Parts

    @Test func `a part is told as an array, and only when it changes`() throws {
        let (house, circuit, visit) = try working()
        let client = house.client
        let start: Value = ["rows": [["name": "a"], ["name": "b"]], "other": 1]
        circuit.commit(visit, 1, [.replace("number", base: 0, start)])
        for name in ["number#/rows/1/name", "number#/gone", "number#"] {
            try house.hub.follow(client.peer, region: name)
        }
        #expect(
            client.cable.snapshots.map(\.value) == [["b"], [], [start]])
        circuit.commit(visit, 2, [offer("number", base: 1, .replace(["other"], 2))])
        circuit.commit(visit, 3, [offer("number", base: 2, .replace(["rows", "1", "name"], "c"))])
        circuit.commit(visit, 4, [offer("number", base: 3, .add(["rows", "0"], ["name": "z"]))])
        circuit.commit(visit, 5, [offer("number", base: 4, .add(["gone"], true))])
        circuit.commit(visit, 6, [offer("number", base: 5, .remove(["gone"]))])
        let part = client.cable.patches.flatMap { patch in
            patch.changes.filter { $0.region != "number#" }
                .map {
                    "\($0.region) \($0.from)-\(patch.revision.counter) \($0.patch.value.json())"
                }
        }
        #expect(
            part == [
                #"number#/rows/1/name 1-3 [{"op":"replace","path":"/0","value":"c"}]"#,
                #"number#/rows/1/name 3-4 [{"op":"replace","path":"","value":["a"]}]"#,
                #"number#/gone 1-5 [{"op":"replace","path":"","value":[true]}]"#,
                #"number#/gone 5-6 [{"op":"replace","path":"","value":[]}]"#,
            ])
        // From a revision between two changes of the part nothing is missing; who was in the past
        // is told that it is the same as at the last change.
        let other = TestClient(house)
        let known = { Hub.Subscription(name: $0, known: Revision(epoch: 7, counter: $1)) }
        #expect(
            try house.hub.follow(
                other.peer,
                [known("number#/gone", 6), known("number#/rows/1/name", 5)])
                == [.patches, .patches])
        #expect(
            try house.hub.follow(
                other.peer, [known("number#/rows/1/name", 2), known("number#/other", 1)])
                == [.patches, .patches])
        #expect(other.cable.snapshots.isEmpty)
        #expect(
            other.cable.patches.map { $0.changes.map { "\($0.region) \($0.from)" } } == [
                ["number#/rows/1/name 5"], ["number#/rows/1/name 2"], ["number#/other 1"],
            ])
    }

    @Test(arguments: ["number#x", "number#/~2", "nowhere#/a", "#/a"])
    func `a part that cannot be is refused`(_ name: String) throws {
        let house = try TestHouse()
        let error = #expect(throws: KernelError.self) {
            try house.hub.follow(house.client.peer, region: name)
        }
        #expect([.malformed, .unbound].contains(error?.code))
    }

    @Test func `a part is forgotten with its last follower`() throws {
        let house = try TestHouse()
        let clients = (0..<2).map { _ in TestClient(house) }
        for client in clients { try house.hub.follow(client.peer, region: "number#/a") }
        house.hub.unfollow(clients[0].peer, region: "number#/a")
        #expect(house.hub.isFollowed("number"))
        house.hub.gone(clients[1].peer)
        #expect(!house.hub.isFollowed("number"))
    }

    // MARK: - Digests

    @Test func `who has something else is sent it anew and is noted`() throws {
        let (house, circuit, visit) = try working()
        let client = house.client
        try house.hub.follow(client.peer, region: "number")
        circuit.commit(visit, 1, base: 0, to: 1)
        house.hub.capture(on: true, payloads: false)
        house.hub.mismatched(client.peer, "letter", at: Revision(epoch: 7, counter: 0))
        #expect(client.cable.snapshots.count == 1, "it does not follow that")
        house.hub.mismatched(client.peer, "number", at: Revision(epoch: 7, counter: 1))
        #expect(client.cable.snapshots.map(\.revision.counter) == [0, 1])
        #expect(house.errors == ["test failed"])
        let entry = house.hub.trace[house.hub.trace.last]
        #expect(entry.symbol == "number" && entry.end == .fail)
    }
}

/// The change of a part, for whatever change of the whole.
@Suite struct PartPatchTests {
    static let pointers: [Pointer] = [
        [], ["a"], ["a", "0"], ["a", "1", "b"], ["b", "a", "0"], ["b", "1"], ["gone", "a"],
    ]

    /// Values over few keys, so that pointers meet something.
    struct Source: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            let mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            return mixed ^ (mixed >> 27)
        }

        mutating func value(_ depth: Int) -> Value {
            switch depth == 0 ? 0 : Int.random(in: 0..<5, using: &self) {
            case 1, 2:
                return .array(
                    (0..<Int.random(in: 0..<4, using: &self)).map { _ in value(depth - 1) })
            case 3, 4:
                var members: [String: Value] = [:]
                for key in ["a", "b"] where Bool.random(using: &self) {
                    members[key] = value(depth - 1)
                }
                return .map(members)
            default: return .int(Int64.random(in: 0..<4, using: &self))
            }
        }

        mutating func operation(_ value: Value) -> Patch.Operation {
            func path(_ value: Value, _ source: inout Source) -> Pointer {
                var tokens: [String] = []
                for _ in 0..<Int.random(in: 0...3, using: &source) {
                    tokens.append(["a", "b", "0", "1", "-"].randomElement(using: &source)!)
                }
                return Pointer(tokens)
            }
            let (one, other) = (path(value, &self), path(value, &self))
            switch Int.random(in: 0..<5, using: &self) {
            case 0: return .add(one, self.value(2))
            case 1: return .remove(one)
            case 2: return .replace(one, self.value(2))
            case 3: return .move(from: one, to: other)
            default: return .copy(from: one, to: other)
            }
        }

        /// A value and a patch that applies to it.
        mutating func change() -> (before: Value, after: Value, patch: Patch) {
            let before = value(3)
            var (after, patch) = (before, Patch())
            for _ in 0..<Int.random(in: 1...3, using: &self) {
                let operation = operation(after)
                guard let next = try? Patch([operation]).apply(to: after) else { continue }
                after = next
                patch.operations.append(operation)
            }
            return (before, after, patch)
        }
    }

    @Test func `parts within each other are followed to a depth, beside each other all`() throws {
        let house = try TestHouse()
        let most = house.hub.limits.nestedPlaces
        func name(_ depth: Int, _ last: String = "") -> String {
            depth == 0 ? "log" : "log#" + String(repeating: "/a", count: depth - 1) + "/b\(last)"
        }
        // Beside each other, and in other regions.
        let beside = (0..<100).map { Hub.Subscription(name: "log#/x/\($0)") }
        _ = try house.hub.follow(house.client.peer, beside)
        _ = try house.hub.follow(house.client.peer, [Hub.Subscription(name: "letter")])
        let chain = (0...most).map {
            Hub.Subscription(name: $0 == 0 ? "log" : "log#" + String(repeating: "/a", count: $0))
        }
        let error = #expect(throws: KernelError.self) {
            try house.hub.follow(house.client.peer, chain)
        }
        #expect(error?.code == .overloaded)
        #expect(house.client.peer.follows.count == 101, "none is followed then")
        for place in chain.dropLast().shuffled() {
            try house.hub.follow(house.client.peer, region: place.name)
        }
        // Wherever in the row the one stands that is too much.
        for name in ["log#" + String(repeating: "/a", count: most), chain[3].name + "/a/a/a/a/a/b"]
        {
            #expect(throws: KernelError.self, "\(name)") {
                try house.hub.follow(house.client.peer, region: name)
            }
        }
        try house.hub.follow(house.client.peer, region: "log#/a/b")
        try house.hub.follow(house.client.peer, region: chain[1].name)
    }

    @Test func `a part changed by its own patch is the part of the changed whole`() throws {
        var source = Source(state: 5)
        var (rebased, compared, changed) = (0, 0, 0)
        for _ in 0..<4_000 {
            let (before, after, patch) = source.change()
            for pointer in Self.pointers {
                let slot = RegionSlot(
                    name: "r", id: 0, initial: after, owned: false, depth: 8)
                let feed = Feed(name: "r", id: 1, slot: slot, pointer: pointer)
                let change = Hub.Change(slot: slot, before: before, patch: patch)
                if patch.rebased(to: pointer, in: before) == nil {
                    compared += 1
                } else {
                    rebased += 1
                }
                let own = feed.patch(of: change) ?? Patch()
                if !own.isEmpty { changed += 1 }
                let part = feed.content(of: before)
                #expect(
                    try own.apply(to: part) == feed.content(of: after),
                    "\(pointer) of \(before.json()) by \(patch.value.json())")
            }
        }
        #expect(rebased > 2_000 && compared > 2_000 && changed > 1_000, "\(changed)")
    }
}
