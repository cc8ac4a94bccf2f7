import Control
import Driver
import Testing
import Values
import Wire

@testable import Kernel

/// A peer that does not read: what it must see before what.
@Suite struct LaggingTests {
    private func replace(_ region: String, base: UInt64, _ value: Value) -> RegionOffer {
        RegionOffer(region: region, base: base, patch: Patch([.replace([], value)]))
    }

    /// wire 9.12
    @Test func `a reply waits until the changes of its flow are there`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send {
            $0.follow(id: 1, region: "r")
            $0.follow(id: 2, region: "s")
            $0.call(id: 3, symbol: 0, deadline: 0, key: nil, [])
        }
        client.owner.waiting = DriverLimits.backlog + 1
        device.send {
            $0.askCommit(visit: 1, tag: 1, [replace("r", base: 0, .int(1))])
            $0.returned(visit: 1, .next([1]))
        }
        #expect(client.heard() == [])
        #expect(client.send { $0.ping(5) } == ["pong 5"], "what rests on nothing overtakes")
        client.owner.waiting = 0
        client.driver.caughtUp()
        #expect(client.heard() == ["snapshot r 1", "digest r 1", "reply 3 [1]"])
        #expect(client.send { $0.follow(id: 4, region: "none") } == ["reply 4 ! unbound"])
    }

    /// wire 9.12
    @Test func `an answer that rests on nothing keeps its place behind what is held`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send {
            $0.follow(id: 1, region: "r")
            $0.call(id: 3, symbol: 0, deadline: 0, key: nil, [])
            $0.call(id: 4, symbol: 0, deadline: 0, key: nil, [])
        }
        client.owner.waiting = DriverLimits.backlog + 1
        device.send {
            $0.askCommit(visit: 1, tag: 1, [replace("r", base: 0, .int(1))])
            $0.returned(visit: 1, .next([1]))
            $0.returned(visit: 2, .next([2]))
        }
        #expect(client.heard() == [])
        client.owner.waiting = 0
        client.driver.caughtUp()
        #expect(client.heard() == ["snapshot r 1", "digest r 1", "reply 3 [1]", "reply 4 [2]"])
    }

    /// wire 8.12
    @Test func `a client that leaves too much unread is told which answers it does not get`() throws
    {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        let cases: [(waiting: Int, bytes: Int, isGiven: Bool)] = [
            (0, DriverLimits.smallAnswer + 1, true),
            (DriverLimits.unread, DriverLimits.smallAnswer + 1, true),
            (DriverLimits.unread + 1, DriverLimits.smallAnswer + 1, false),
            (DriverLimits.unread + 1, DriverLimits.smallAnswer, true),
        ]
        for (index, item) in cases.enumerated() {
            let id = UInt64(index) + 1
            client.owner.waiting = 0
            client.driver.caughtUp()
            client.send { $0.call(id: id, symbol: 0, deadline: 0, key: nil, []) }
            client.owner.waiting = item.waiting
            let answer = [UInt8](repeating: 0xF6, count: item.bytes)
            device.send { $0.returned(visit: id, .next(answer)) }
            client.owner.waiting = 0
            client.driver.caughtUp()
            let heard = client.heard()
            let given = "reply \(id) \(answer)"
            #expect(heard.count == 1, "\(item)")
            #expect(heard.last == (item.isGiven ? given : "reply \(id) ! overloaded"), "\(item)")
        }
    }

    @Test func `a device reads what it has committed however far it lags`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send { $0.call(id: 3, symbol: 0, deadline: 0, key: nil, []) }
        _ = device.heard()
        device.owner.waiting = DriverLimits.backlog + 1
        let asked = device.send {
            $0.askCommit(visit: 1, tag: 1, [replace("r", base: 0, .int(1))])
            $0.askCommit(visit: 1, tag: 2, [replace("r", base: 0, .int(2))])
        }
        #expect(asked == [])
        client.send { $0.call(id: 4, symbol: 0, deadline: 0, key: nil, []) }
        #expect(device.heard() == [], "a stage sees what those before it have changed")
        device.owner.waiting = 0
        device.driver.caughtUp()
        #expect(
            device.heard() == [
                "snapshot r 1", "digest r 1", "answer 1 1 committed 1 -1", "answer 1 2 conflict",
                "visit 2 symbol 0 []",
            ])
    }

    /// wire 9.10
    @Test func `what belongs together stays so when a patch is no frame and comes whole`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send { $0.call(id: 3, symbol: 0, deadline: 0, key: nil, []) }
        let large = Value.text(String(repeating: "x", count: 9 << 20))
        device.send {
            $0.askCommit(visit: 1, tag: 1, [replace("r", base: 0, ["a": []])])
            $0.askCommit(visit: 1, tag: 2, [replace("s", base: 0, .int(1))])
        }
        // Two of them fit into the frames of commits, and not into one patch.
        func change(_ operations: [Patch.Operation]) -> RegionOffer {
            RegionOffer(
                region: "r", base: house.hub.regions["r"]?.counter ?? 0, patch: Patch(operations))
        }
        device.send {
            $0.askCommit(visit: 1, tag: 3, [change([.add(Pointer(["a", "0"]), large)])])
        }
        device.send {
            $0.askCommit(
                visit: 1, tag: 4,
                [change([.copy(from: Pointer(["a", "0"]), to: Pointer(["a", "1"]))])])
            $0.askCommit(visit: 1, tag: 5, [replace("s", base: 2, .int(2))])
        }
        let words = client.send {
            $0.resume(
                id: 4,
                [
                    .init(region: "r#/a", epoch: 7, counter: 1),
                    .init(region: "s", epoch: 7, counter: 2),
                ])
        }
        var seen: [String] = []
        for word in words where seen.last != word { seen.append(word) }
        #expect(seen.first == "together 2")
        #expect(seen.contains { $0.hasPrefix("snapshot r#/a ") })
        #expect(seen.contains { $0.hasPrefix(#"patch ["s"]"#) }, "\(seen)")
    }

    /// wire 9.10
    @Test func `the places that a peer missed come together`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send {
            $0.follow(id: 1, region: "r")
            $0.call(id: 3, symbol: 0, deadline: 0, key: nil, [])
        }
        client.owner.waiting = DriverLimits.backlog + 1
        device.send { $0.askCommit(visit: 1, tag: 1, [replace("r", base: 0, .int(1))]) }
        // What it begins to follow meanwhile must not be newer than what it has.
        #expect(client.send { $0.follow(id: 2, region: "s") } == [])
        let known = [PeerMessage.Known(region: "r#/a", epoch: 7, counter: 0)]
        #expect(client.send { $0.resume(id: 5, known) } == [])
        client.owner.waiting = 0
        client.driver.caughtUp()
        #expect(
            client.heard() == [
                "together 3", "snapshot r 1", "digest r 1", "snapshot r#/a 1", "digest r#/a 1",
                "snapshot s 0", "digest s 0", "reply 2 [246]", "reply 5 \(text("snapshot"))",
            ])
    }

    private func text(_ word: String) -> String {
        let writer = CBORWriter()
        writer.value(.array([.text(word)]))
        return "\(writer.bytes)"
    }

    /// wire 9.9
    @Test func `who resumes is told how it goes on, after what it has missed`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send { $0.call(id: 3, symbol: 0, deadline: 0, key: nil, []) }
        for number in 0..<3 {
            let offer = replace("r", base: UInt64(number), .int(Int64(number + 1)))
            device.send { $0.askCommit(visit: 1, tag: UInt64(number), [offer]) }
        }
        let resumed = client.send {
            $0.resume(
                id: 5,
                [
                    PeerMessage.Known(region: "r", epoch: 7, counter: 1),
                    PeerMessage.Known(region: "s", epoch: 6, counter: 1),
                ])
        }
        #expect(
            resumed.dropLast() == [
                "together 3", #"patch ["r"] 2"#, #"patch ["r"] 3"#, "snapshot s 0", "digest s 0",
            ])
        let writer = CBORWriter()
        writer.value(["patches", "snapshot"])
        #expect(resumed.last == "reply 5 \(writer.bytes)")
        let refused = [PeerMessage.Known(region: "none", epoch: 7, counter: 1)]
        #expect(client.send { $0.resume(id: 6, refused) } == ["reply 6 ! unbound"])
    }

    /// wire 9.11
    @Test func `a digest is told when it is asked for, and one that differs is made good`() throws {
        let client = try TestHub().client()
        #expect(client.send { $0.check(id: 1, region: "r") } == ["reply 1 ! unbound"])
        client.send { $0.follow(id: 2, region: "r") }
        #expect(
            client.send { $0.check(id: 3, region: "r") } == ["digest r 0", "reply 3 [246]"])
        #expect(
            client.send { $0.mismatch(region: "r", epoch: 7, counter: 0) } == [
                "snapshot r 0", "digest r 0",
            ])
        #expect(client.send { $0.mismatch(region: "s", epoch: 7, counter: 0) } == [])
    }

    @Test func `the limit of a region is the same at the commit and at its readers`() {
        #expect(HubLimits().regionBytes == WireLimits.region)
        #expect(HubLimits().subscriptions == WireLimits.resumed)
    }

    @Test func `what a value is counted to take is what it takes`() {
        let texts = ["", "a", String(repeating: "é", count: 200), "日本"]
        let ints: [Int64] = [
            0, 23, 24, 255, 256, 65_535, 65_536, 1 << 32, .max, -1, -24, -25, .min,
        ]
        let values: [Value] =
            ints.map(Value.int) + texts.map(Value.text) + [
                .null, true, 1.5, .date(1_764_468_000_500), .uuid(UUIDBytes(high: 1, low: 2)),
                .bytes([UInt8](repeating: 7, count: 70_000)),
                .array(ints.map(Value.int)),
                .map(Dictionary(uniqueKeysWithValues: texts.map { ($0, Value.text($0)) })),
            ]
        for value in values + [.array(values)] {
            let writer = CBORWriter()
            writer.value(value)
            #expect(value.encodedSize == writer.count)
        }
    }
}
