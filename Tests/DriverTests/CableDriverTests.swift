import Control
import Driver
import Kernel
import Testing
import Values
import Wire

/// A cable after its handshake: messages become events of the hub, and what it says bytes.
@Suite struct CableDriverTests {
    @Test func `a call goes to its device and its output comes back`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        #expect(client.send { $0.call(id: 9, symbol: 0, deadline: 0, key: nil, [1, 2]) } == [])
        #expect(device.heard() == ["visit 1 symbol 0 [1, 2]"])
        #expect(device.send { $0.returned(visit: 1, .next([3])) } == [])
        #expect(client.heard() == ["reply 9 [3]"])
    }

    @Test func `what a handler asks is answered under its number`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send { $0.call(id: 1, symbol: 0, deadline: 0, key: nil, []) }
        _ = device.heard()
        let patch = Patch([.replace([], .int(1))])
        let commit = device.send {
            $0.askCommit(visit: 1, tag: 5, [.init(region: "r", base: 0, patch: patch)])
        }
        #expect(commit == [#"patch ["r"] 1"#, "answer 1 5 committed 1 -1"])
        let late = device.send {
            $0.askCommit(visit: 1, tag: 6, [.init(region: "r", base: 0, patch: patch)])
        }
        #expect(late == ["answer 1 6 conflict"])
        let inner = device.send {
            $0.name(index: 0, "D.work")
            $0.askCall(visit: 1, tag: 7, symbol: 0, deadline: 0, [8])
        }
        #expect(inner == ["visit 2 symbol 0 [8]"])
        #expect(device.send { $0.returned(visit: 2, .next([9])) } == ["answer 1 7 [9]"])
    }

    @Test func `a name that nobody provides fails the call and not the cable`() throws {
        let client = try TestHub().client()
        let heard = client.send {
            $0.name(index: 1, "No.body")
            $0.call(id: 1, symbol: 1, deadline: 0, key: nil, [])
            $0.dispatch(id: 2, symbol: 1, key: nil, [])
            $0.call(id: 3, symbol: 7, deadline: 0, key: nil, [])
            $0.call(id: 4, symbol: .max, deadline: 0, key: nil, [])
        }
        #expect(
            heard == [
                "reply 1 ! unbound", "reply 2 ! unbound", "reply 3 ! malformed",
                "reply 4 ! malformed",
            ])
        #expect(client.driver.phase == .serving)
    }

    /// wire 5.5
    @Test(arguments: [0, 2, UInt64.max])
    func `a name out of its turn ends the cable`(_ index: UInt64) throws {
        let client = try TestHub().client()
        let heard = client.send { $0.name(index: index, "D.work") }
        #expect(heard.first?.hasPrefix("refused malformed") == true)
    }

    @Test func `a device calls what its manifest grants and nothing else`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send { $0.call(id: 1, symbol: 0, deadline: 0, key: nil, []) }
        _ = device.heard()
        let heard = device.send {
            $0.name(index: 0, "E.work")
            $0.name(index: 1, "No.body")
            $0.call(id: 2, symbol: 0, deadline: 0, key: nil, [])
            $0.askCall(visit: 1, tag: 1, symbol: 0, deadline: 0, [])
            $0.askCall(visit: 1, tag: 2, symbol: 1, deadline: 0, [])
            $0.askCall(visit: 1, tag: 3, symbol: 99, deadline: 0, [])
        }
        #expect(
            heard == [
                "reply 2 ! denied", "answer 1 1 ! denied", "answer 1 2 ! unbound",
                "answer 1 3 ! unbound",
            ])
    }

    @Test func `a region that is not granted or not there is not followed`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        #expect(
            client.send { $0.follow(id: 1, region: "r") } == [
                "snapshot r 0", "digest r 0", "reply 1 [246]",
            ])
        #expect(client.send { $0.follow(id: 2, region: "none") } == ["reply 2 ! unbound"])
        #expect(device.send { $0.follow(id: 3, region: "Kernel.Errors") } == ["reply 3 ! denied"])
    }

    /// wire 8.2
    @Test func `answers to visits that are over count for nothing`() throws {
        let device = try TestHub().device()
        let heard = device.send {
            $0.returned(visit: 0, .next([]))
            $0.returned(visit: 77, .next([]))
            $0.returned(visit: .max, .fail(KernelError(.failed, "")))
            $0.parked(visit: 77)
            $0.note(visit: 77, region: "r", number: .max, revision: .max)
            $0.askCall(visit: 77, tag: 1, symbol: 0, deadline: 0, [])
        }
        #expect(heard == [])
        #expect(device.driver.phase == .serving)
    }

    @Test func `signs of life are answered and counted`() throws {
        let device = try TestHub().device()
        #expect(device.send { $0.ping(300) } == ["pong 300"])
        device.driver.ping()
        #expect(device.heard() == ["ping"])
        device.send { $0.pong(2) }
        #expect(device.driver.pongs == 1)
        device.driver.drain()
        #expect(device.heard() == ["drain"])
        device.send { $0.drained() }
        #expect(device.owner.told.last == "drained")
    }

    /// wire 9.4
    @Test func `a peer that lags is sent no patches, and whole regions once it has caught up`()
        throws
    {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.send {
            $0.follow(id: 1, region: "r")
            $0.call(id: 2, symbol: 0, deadline: 0, key: nil, [])
        }
        func commit(_ tag: UInt64) {
            let patch = Patch([.replace([], .int(Int64(tag)))])
            device.send {
                $0.askCommit(visit: 1, tag: tag, [.init(region: "r", base: tag - 1, patch: patch)])
            }
        }
        commit(1)
        #expect(client.heard() == [#"patch ["r"] 1"#])
        client.owner.waiting = DriverLimits.backlog + 1
        for tag in 2...9 { commit(UInt64(tag)) }
        #expect(client.heard() == [])
        client.owner.waiting = 0
        commit(10)
        #expect(client.heard() == [], "a patch now would not fit the mirror")
        client.driver.caughtUp()
        #expect(client.heard() == ["snapshot r 10", "digest r 10"])
        client.driver.caughtUp()
        #expect(client.heard() == [])
        commit(11)
        #expect(client.heard() == [#"patch ["r"] 11"#])
    }

    @Test func `replies are sent however far a peer lags`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        client.owner.waiting = DriverLimits.backlog + 1
        client.send { $0.call(id: 2, symbol: 0, deadline: 0, key: nil, []) }
        device.send { $0.returned(visit: 1, .next([1])) }
        #expect(client.heard() == ["reply 2 [1]"])
    }

    @Test func `who asks on and reads nothing is cut off`() throws {
        let house = try TestHub()
        let device = house.device()
        let asks: [(CBORWriter) -> Void] = [
            { $0.ping(1) }, { $0.follow(id: 1, region: "none") },
            { $0.call(id: 1, symbol: 9, deadline: 0, key: nil, []) },
            { $0.dispatch(id: 1, symbol: 9, key: nil, []) },
            { $0.askCall(visit: 9, tag: 1, symbol: 9, deadline: 0, []) },
            { $0.askCommit(visit: 9, tag: 1, [.init(region: "r", base: 0, patch: nil)]) },
            { $0.askRun(visit: 9, tag: 1, RouteDescriptor(stages: [], last: false), []) },
            { $0.askDispatch(visit: 9, tag: 1, symbol: 9, []) },
            { $0.askPublish(visit: 9, tag: 1, channel: "none", []) },
        ]
        for number in 0..<DriverLimits.impatience {
            // Whatever it asks counts, and only while it does not read.
            device.owner.waiting = DriverLimits.backlog
            device.send(asks[number % asks.count])
        }
        #expect(device.driver.phase == .serving)
        device.owner.waiting = DriverLimits.backlog + 1
        for number in 0..<DriverLimits.impatience { device.send(asks[number % asks.count]) }
        #expect(device.driver.phase == .serving)
        #expect(device.send { $0.pong(1) } == [], "no request")
        let last = device.send(asks[0])
        #expect(last.count == 1 && last[0].contains("overloaded"), "\(last)")
        #expect(device.driver.phase == .closed)
        #expect(device.owner.told.last == "refused")
    }
}
