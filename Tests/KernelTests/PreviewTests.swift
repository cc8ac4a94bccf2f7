import Control
import Kernel
import Testing
import Values

/// Time travel concerns one connection alone.
@Suite struct PreviewTests {
    /// Two clients of a house in which a device changes regions.
    final class Journey {
        let house: TestHouse
        let circuit: TestProcess
        let visit: TestCable.Visit
        let traveller: (peer: Peer, cable: MirroringCable)
        let other: (peer: Peer, cable: MirroringCable)
        private(set) var values: [UInt64: [String: Value]] = [:]
        private var last: [String: UInt64] = ["number": 0, "letter": 0]
        private var now: [String: Value] = ["number": .int(0), "letter": .text("a")]
        private var tag: UInt64 = 0

        init(_ limits: HubLimits = HubLimits()) throws {
            house = try TestHouse(limits)
            circuit = try house.circuit()
            house.client.call("Circuit.work")
            visit = try circuit.take("Circuit.work")
            func client(_ name: String) -> (Peer, MirroringCable) {
                let cable = MirroringCable()
                return (Peer(cable: cable, device: nil, incarnation: 0, name: name), cable)
            }
            traveller = client("traveller")
            other = client("other")
            for client in [traveller, other] {
                for region in ["number", "letter", "Kernel.Errors"] {
                    try house.hub.follow(client.peer, region: region)
                }
                _ = client.cable.heard()
            }
            values[0] = now
        }

        /// One commit of one or two regions.
        func commit(_ changes: [String: Value]) {
            tag += 1
            circuit.commit(
                visit, tag,
                changes.sorted { $0.key < $1.key }.map {
                    .replace($0.key, base: last[$0.key] ?? 0, $0.value)
                })
            for (region, value) in changes {
                last[region] = house.hub.counter
                now[region] = value
            }
            values[house.hub.counter] = now
        }

        func count(_ commits: Int) {
            for _ in 0..<commits { commit(["number": .int(Int64(house.hub.counter) + 1)]) }
        }

        @discardableResult
        func go(_ counter: UInt64) throws -> Value {
            try house.hub.preview(
                traveller.peer, .revision(Revision(epoch: 7, counter: counter)))
        }

        @discardableResult
        func step(_ count: Int) throws -> Value {
            try house.hub.preview(traveller.peer, .steps(count))
        }

        /// What a client must see at a revision.
        func expect(
            _ client: MirroringCable, at counter: UInt64, _ place: SourceLocation = #_sourceLocation
        ) {
            let buffer = client.mirrors.filter { !$0.key.hasPrefix("Kernel.") }
            #expect(
                buffer.filter { !$0.key.contains("#") }.mapValues(\.value) == values[counter],
                "at \(counter)", sourceLocation: place)
            for (name, state) in buffer where name.contains("#") {
                let parts = name.split(separator: "#", omittingEmptySubsequences: false)
                let whole = values[counter]?[String(parts[0])] ?? .null
                let part = (try? Pointer(parsing: String(parts[1])))?.resolve(in: whole)
                #expect(
                    state.value == .array(part.map { [$0] } ?? []), "\(name) at \(counter)",
                    sourceLocation: place)
            }
            #expect(client.missed == 0, sourceLocation: place)
        }
    }

    @Test func `a preview moves all mirrors by one message and holds what is live`() throws {
        let journey = try Journey()
        journey.commit(["number": .int(1)])
        journey.commit(["number": .int(2), "letter": .text("b")])
        journey.commit(["letter": .text("c")])
        _ = journey.traveller.cable.heard()
        _ = journey.other.cable.heard()
        let place = try journey.go(1)
        #expect(journey.traveller.cable.heard() == ["patch number letter 1"])
        journey.expect(journey.traveller.cable, at: 1)
        #expect(place["revision"] == "7-1")
        #expect(place["change"]?["revision"] == "7-1")
        #expect(place["change"]?["symbol"] == "Circuit.work")
        #expect(place["oldest"] == "7-0")
        #expect(place["latest"] == "7-3")
        journey.commit(["number": .int(4)])
        #expect(journey.traveller.cable.heard() == [])
        #expect(journey.other.cable.heard() == ["patch number 4"])
        journey.expect(journey.traveller.cable, at: 1)
        journey.house.hub.leavePreview(journey.traveller.peer)
        #expect(journey.traveller.cable.heard() == ["patch letter 3", "patch number 4"])
        journey.expect(journey.traveller.cable, at: 4)
        journey.commit(["letter": .text("d")])
        journey.commit(["number": .int(6)])
        #expect(journey.traveller.cable.heard() == ["patch letter 5", "patch number 6"])
        journey.expect(journey.traveller.cable, at: 6)
        journey.expect(journey.other.cable, at: 6)
    }

    @Test func `steps are the changes of what is followed, and end where it ends`() throws {
        let journey = try Journey()
        journey.house.hub.unfollow(journey.traveller.peer, region: "letter")
        journey.commit(["number": .int(1)])
        journey.commit(["letter": .text("b")])
        journey.commit(["number": .int(2)])
        journey.commit(["letter": .text("c")])
        let ways: [(steps: Int, revision: String, value: Int64)] = [
            (0, "7-4", 2), (-1, "7-1", 1), (-1, "7-0", 0), (-5, "7-0", 0), (1, "7-1", 1),
            (1, "7-3", 2), (1, "7-3", 2), (-2, "7-0", 0), (.max, "7-3", 2), (.min, "7-0", 0),
        ]
        for way in ways {
            #expect(try journey.step(way.steps)["revision"] == .text(way.revision), "\(way)")
            #expect(journey.traveller.cable.value("number") == .int(way.value), "\(way)")
        }
    }

    @Test func `who looks at the past may not ask for anything but reading`() throws {
        let journey = try Journey()
        let house = journey.house
        house.hub.declare(builtin: "Kernel.act") { .success($0) }
        house.hub.declare(builtin: "Kernel.look", onlyReads: true) { .success($0) }
        let peer = house.client.peer
        try house.hub.follow(peer, region: "number")
        journey.count(1)
        _ = try house.hub.preview(peer, .steps(-1))
        for name in ["Circuit.work", "Kernel.act"] {
            let call = house.client.call(name)
            #expect(call.end == "! previewing none")
            #expect(call.error?.retry == true)
            #expect(call.error?.message.contains(name) == true)
            #expect(call.error?.message.contains("7-0") == true)
        }
        let dispatch = house.client.dispatch("Circuit.other")
        #expect(dispatch.end == "! previewing none" && !dispatch.accepted)
        try house.hub.declare(channel: "news")
        let publish = house.client.nextID()
        house.hub.publish(peer, publish, channel: "news", [])
        #expect(house.client.answer(to: publish) == "! previewing")
        #expect(try house.hub.channel("news").last == 0)
        #expect(house.client.call("Kernel.look").end == "x")
        #expect(journey.circuit.cable.visits.isEmpty)
        house.hub.leavePreview(peer)
        #expect(house.client.call("Kernel.act").end == "x")
        #expect(house.client.dispatch("Circuit.other").accepted)
    }

    @Test func `the kernel's own regions go on, and a region that is followed there is of then`()
        throws
    {
        let journey = try Journey()
        journey.count(3)
        journey.house.hub.unfollow(journey.traveller.peer, region: "number")
        try journey.go(2)
        _ = journey.traveller.cable.heard()
        journey.house.hub.report("A", KernelError(.failed, "so"), flow: nil)
        #expect(journey.traveller.cable.heard() == ["patch Kernel.Errors 1"])
        try journey.house.hub.follow(journey.traveller.peer, region: "number")
        try journey.house.hub.follow(journey.traveller.peer, region: "Kernel.Devices")
        #expect(
            journey.traveller.cable.heard() == ["snapshot number 2", "snapshot Kernel.Devices 0"])
        journey.expect(journey.traveller.cable, at: 2)
        journey.count(1)
        journey.house.hub.leavePreview(journey.traveller.peer)
        journey.count(1)
        journey.expect(journey.traveller.cable, at: 5)
    }

    @Test func `a device cannot look at the past`() throws {
        let journey = try Journey()
        journey.house.hub.declare(personal: "Kernel.History.preview", summary: "") { peer, _ in
            #expect(peer.device == nil, "\(peer.name) is a device")
            return .success([])
        }
        try journey.circuit.call(journey.visit, 90, "Kernel.History.preview", "x")
        #expect(journey.circuit.heard() == ["90 ! denied"])
        journey.house.hub.call(
            journey.circuit.peer, 5, journey.house.hub.symbol("Kernel.History.preview"), [])
        #expect(journey.circuit.cable.replies.count == 1)
        #expect(journey.house.client.call("Kernel.History.preview").end == "")
    }

    @Test func `who was too slow, or is gone, is in the present`() throws {
        let journey = try Journey()
        journey.count(5)
        try journey.go(2)
        journey.traveller.cable.drops = true
        try journey.go(4)
        journey.traveller.cable.drops = false
        _ = journey.traveller.cable.heard()
        journey.house.hub.resync(journey.traveller.peer)
        #expect(journey.traveller.peer.preview == nil)
        #expect(
            journey.traveller.cable.heard() == [
                "snapshot Kernel.Errors 0", "snapshot number 5", "snapshot letter 0",
            ])
        journey.count(2)
        journey.expect(journey.traveller.cable, at: 7)
        try journey.go(1)
        journey.house.hub.gone(journey.traveller.peer)
        #expect(journey.traveller.peer.preview == nil)
        journey.count(1)
        journey.expect(journey.traveller.cable, at: 1)
    }

    @Test func `a revision that is overtaken stays on the screen, and going on fails by name`()
        throws
    {
        var limits = HubLimits()
        limits.pastRevisions = 10
        let journey = try Journey(limits)
        journey.count(10)
        try journey.go(3)
        journey.count(10)
        journey.expect(journey.traveller.cable, at: 3)
        #expect(journey.traveller.peer.preview == 3)
        for attempt in [{ try journey.step(-1) }, { try journey.step(0) }, { try journey.go(9) }] {
            let error = #expect(throws: KernelError.self) { try attempt() }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("the oldest is 7-10") == true)
        }
        journey.expect(journey.traveller.cable, at: 3)
        #expect(try journey.step(1)["revision"] == "7-10")
        journey.expect(journey.traveller.cable, at: 10)
        try journey.go(12)
        journey.count(20)
        journey.house.hub.leavePreview(journey.traveller.peer)
        journey.expect(journey.traveller.cable, at: 40)
    }

    @Test func `what is too large for one message is sent whole`() throws {
        var limits = HubLimits()
        limits.previewBytes = 300
        let journey = try Journey(limits)
        let large = Value.text(String(repeating: "z", count: 400))
        journey.commit(["letter": large, "number": .int(1)])
        journey.commit(["letter": .text("b"), "number": .int(2)])
        _ = journey.traveller.cable.heard()
        try journey.go(1)
        #expect(journey.traveller.cable.heard() == ["snapshot letter 1", "patch number 1"])
        journey.expect(journey.traveller.cable, at: 1)
        journey.house.hub.leavePreview(journey.traveller.peer)
        journey.count(1)
        journey.expect(journey.traveller.cable, at: 3)
    }

    @Test func `parts travel as patches, and who resumes from the past is sent changes`() throws {
        let journey = try Journey()
        let (peer, cable) = journey.traveller
        try journey.house.hub.follow(peer, region: "letter#/0")
        journey.commit(["letter": .array([.int(1), .int(2)])])
        journey.commit(["letter": .array([.int(1), .int(3)])])
        journey.commit(["letter": .array([.int(4), .int(3)])])
        journey.commit(["number": .int(1)])
        _ = cable.heard()
        try journey.go(2)
        #expect(cable.heard() == ["patch number letter letter#/0 2"])
        try journey.go(3)
        #expect(cable.heard() == ["patch number letter letter#/0 3"])
        // The region is the same since 3, and known at 4, which is not one of its own changes.
        try journey.go(4)
        journey.expect(cable, at: 4)
        _ = cable.heard()
        journey.house.hub.gone(peer)
        func resume() throws -> [Hub.Continuation] {
            let peer = Peer(cable: cable, device: nil, incarnation: 0, name: "again")
            let known = cable.mirrors.filter { !$0.key.hasPrefix("Kernel.") }
            let all = try journey.house.hub.follow(
                peer,
                known.sorted { $0.key < $1.key }.map {
                    .init(name: $0.key, known: Revision(epoch: 7, counter: $0.value.counter))
                })
            for (name, state) in known {
                let now = try journey.house.hub.followed(name, by: peer).revision
                #expect(cable.mirrors[name]?.counter == now.counter, "\(name) at \(state.counter)")
            }
            journey.house.hub.gone(peer)
            return all
        }
        #expect(try resume() == [.patches, .patches, .patches])
        #expect(cable.heard() == ["patch letter 3", "patch letter#/0 3"])
        journey.expect(cable, at: 4)
        journey.commit(["letter": .array([.int(5), .int(3)])])
        #expect(try resume() == [.patches, .patches, .patches])
        #expect(cable.heard() == ["patch letter 5", "patch letter#/0 5"])
        journey.expect(cable, at: 5)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `wherever a client goes, its mirrors are those of then, and nobody else's move`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed)
        var limits = HubLimits()
        limits.keyframeDistance = 8
        if seed.isMultiple(of: 2) { limits.pastRevisions = 60 }
        if seed.isMultiple(of: 3) { limits.previewBytes = 500 }
        let journey = try Journey(limits)
        let hub = journey.house.hub
        for client in [journey.traveller, journey.other] {
            for part in ["letter#/1", "letter#/20", "number#"] {
                try hub.follow(client.peer, region: part)
            }
            _ = client.cable.heard()
        }
        var place: UInt64?
        for turn in 0..<400 {
            switch UInt.random(in: 0..<10, using: &random) {
            case 0...5:
                var changes: [String: Value] = [:]
                let kind = UInt.random(in: 0..<3, using: &random)
                if kind != 0 { changes["number"] = .int(Int64(turn)) }
                if kind != 1 {
                    let size = Int.random(in: 0..<200, using: &random)
                    changes["letter"] = .array((0..<size).map { .int(Int64($0 + turn)) })
                }
                journey.commit(changes)
            case 6:
                let target = UInt64.random(in: 0...hub.counter, using: &random)
                if (try? journey.go(target)) != nil { place = target }
            case 7, 8:
                let steps = Int.random(in: -12...12, using: &random)
                if let told = try? journey.step(steps) {
                    place = try #require(Revision(told["revision"]?.text ?? "")).counter
                }
            default:
                hub.leavePreview(journey.traveller.peer)
                place = nil
            }
            #expect(journey.traveller.peer.preview == place)
            journey.expect(journey.traveller.cable, at: place ?? hub.counter)
            // What it names is what a digest compares, and from where it resumes.
            for (name, state) in journey.traveller.cable.mirrors where place == nil {
                let known = try hub.followed(name, by: journey.traveller.peer)
                #expect(state.counter == known.revision.counter, "\(name)")
            }
            journey.expect(journey.other.cable, at: hub.counter)
        }
        #expect(journey.other.cable.told.allSatisfy { $0.hasPrefix("patch") })
    }
}
