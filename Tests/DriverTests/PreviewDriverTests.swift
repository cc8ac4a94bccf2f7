import Control
import Driver
import Kernel
import Testing
import Values
import Wire

/// Time travel on the cable of a client.
@Suite struct PreviewDriverTests {
    /// A hub whose clients may travel by `Kernel.go`, to the counter that the payload is, and
    /// return by `Kernel.back`.
    private func travelHub() throws -> TestHub {
        let house = try TestHub()
        house.hub.declare(personal: "Kernel.go", summary: "") { peer, bytes in
            do throws(KernelError) {
                let revision = Revision(epoch: 7, counter: UInt64(bytes.first ?? 0))
                _ = try house.hub.preview(peer, .revision(revision))
                return .success([])
            } catch {
                return .failure(error)
            }
        }
        house.hub.declare(personal: "Kernel.back", summary: "") { peer, _ in
            house.hub.leavePreview(peer)
            return .success([])
        }
        return house
    }

    private func commit(_ device: TestCable, _ tag: UInt64, _ base: UInt64) {
        let patch = Patch([.replace([], .int(Int64(base) + 1))])
        device.send {
            $0.askCommit(visit: 1, tag: tag, [.init(region: "r", base: base, patch: patch)])
        }
    }

    /// wire 11.2, 11.4, 11.5
    @Test func `a preview is a patch before the reply, and requests are refused until it is left`()
        throws
    {
        let house = try travelHub()
        let (device, client) = (house.device(), house.client())
        client.send {
            $0.call(id: 1, symbol: 0, deadline: 0, key: nil, [])
            $0.name(index: 1, "Kernel.go")
            $0.name(index: 2, "Kernel.back")
            $0.follow(id: 2, region: "r")
        }
        for number in UInt64(0)..<3 { commit(device, number, number) }
        _ = client.heard()
        #expect(
            client.send { $0.call(id: 3, symbol: 1, deadline: 0, key: nil, [1]) }
                == [#"patch ["r"] 1"#, "reply 3 []"])
        let refused = client.send {
            $0.call(id: 4, symbol: 0, deadline: 0, key: nil, [])
            $0.dispatch(id: 5, symbol: 0, key: nil, [])
            $0.follow(id: 6, region: "s")
            $0.ping(7)
        }
        #expect(
            refused == [
                "reply 4 ! previewing", "reply 5 ! previewing", "snapshot s 1", "digest s 1",
                "reply 6 [246]", "pong 7",
            ])
        commit(device, 9, 3)
        #expect(client.heard() == [])
        // What was asked for before is answered.
        #expect(device.send { $0.returned(visit: 1, .next([9])) } == [])
        #expect(client.heard() == ["reply 1 [9]"])
        #expect(
            client.send { $0.call(id: 8, symbol: 2, deadline: 0, key: nil, []) }
                == ["together 2", #"patch ["s"] 0"#, #"patch ["r"] 4"#, "reply 8 []"])
        #expect(client.send { $0.dispatch(id: 9, symbol: 0, key: nil, []) } == ["accepted 9"])
        #expect(
            client.send { $0.call(id: 10, symbol: 1, deadline: 0, key: nil, [99]) }
                == ["reply 10 ! unavailable"])
        #expect(client.driver.phase == .serving)
    }

    /// wire 11.1
    @Test func `a device is denied`() throws {
        let house = try travelHub()
        let slot = try house.hub.declare(
            DeviceDeclaration(
                name: "f", pure: false, provides: [], calls: nil, reads: ["r"], writes: []))
        let device = TestCable(house.hub, device: slot)
        device.send {
            $0.hello(Hello(name: "f", bindings: []))
            $0.ready()
            $0.name(index: 0, "Kernel.go")
        }
        #expect(
            device.send { $0.call(id: 1, symbol: 0, deadline: 0, key: nil, [0]) }
                == ["reply 1 ! denied"])
    }

    /// wire 11.6
    @Test func `a client that lags while it looks at the past is in the present`() throws {
        let house = try travelHub()
        let (device, client) = (house.device(), house.client())
        client.send {
            $0.call(id: 1, symbol: 0, deadline: 0, key: nil, [])
            $0.name(index: 1, "Kernel.go")
            $0.follow(id: 2, region: "r")
        }
        for number in UInt64(0)..<3 { commit(device, number, number) }
        client.send { $0.call(id: 3, symbol: 1, deadline: 0, key: nil, [1]) }
        client.owner.waiting = DriverLimits.backlog + 1
        #expect(client.send { $0.call(id: 4, symbol: 1, deadline: 0, key: nil, [2]) } == [])
        client.owner.waiting = 0
        client.driver.caughtUp()
        #expect(client.heard() == ["snapshot r 3", "digest r 3", "reply 4 []"])
        #expect(client.send { $0.dispatch(id: 5, symbol: 0, key: nil, []) } == ["accepted 5"])
    }
}
