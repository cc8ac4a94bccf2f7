import Driver
import Kernel
import Testing
import Wire

/// Channels on a cable.
@Suite struct ChannelDriverTests {
    /// wire 10.1
    @Test func `a client and a visit publish, and are told the number`() throws {
        let house = try TestHub()
        let (device, client) = (house.device(), house.client())
        #expect(
            client.send { $0.publish(id: 1, channel: "c", key: nil, [1]) }
                == ["reply 1 published 1"])
        client.send { $0.call(id: 2, symbol: 0, deadline: 0, key: nil, []) }
        _ = device.heard()
        #expect(
            device.send { $0.askPublish(visit: 1, tag: 4, channel: "c", [2]) }
                == ["answer 1 4 published 2"])
        #expect(
            device.send { $0.askPublish(visit: 1, tag: 5, channel: "none", [2]) }
                == ["answer 1 5 ! unbound"])
        #expect(
            device.send { $0.publish(id: 3, channel: "c", key: nil, [3]) }
                == ["reply 3 published 3"])
        #expect(
            client.send { $0.publish(id: 3, channel: "none", key: nil, []) }
                == ["reply 3 ! unbound"])
    }

    /// wire 10.4
    @Test func `a reader is answered with a page, a gap, or when there is an event`() throws {
        let client = try TestHub().client()
        func read(_ id: UInt64, _ after: UInt64?, epoch: UInt64? = nil) -> [String] {
            client.send { $0.read(id: id, channel: "c", epoch: epoch, after: after) }
        }
        func publish(_ byte: UInt8) -> [String] {
            client.send { $0.publish(id: 100, channel: "c", key: nil, [byte]) }
        }
        #expect(read(1, nil) == ["reply 1 events [] to 0"])
        #expect(read(2, 0, epoch: 7) == [])
        #expect(publish(5) == ["reply 100 published 1", "reply 2 events [[5]] to 1"])
        #expect(read(3, 1) == [])
        #expect(client.send { $0.cancel(id: 3) } == ["reply 3 ! cancelled"])
        #expect(publish(6) == ["reply 100 published 2"])
        #expect(publish(7) == ["reply 100 published 3"])
        #expect(read(4, 1) == ["reply 4 events [[6], [7]] to 3"])
        #expect(read(5, 0) == ["reply 5 gap 1 1"])
        #expect(read(6, 4) == ["reply 6 ! malformed"])
        #expect(read(7, 3, epoch: 6) == ["reply 7 ! kernelLost"])
    }

    @Test func `a device does not read channels`() throws {
        let device = try TestHub().device()
        #expect(
            device.send { $0.read(id: 1, channel: "c", epoch: nil, after: nil) }.last
                == "reply 1 ! denied")
    }

    @Test func `a reader whose connection is full waits until it has caught up`() throws {
        let client = try TestHub().client()
        client.send { $0.read(id: 1, channel: "c", epoch: nil, after: 0) }
        client.owner.waiting = DriverLimits.backlog + 1
        #expect(
            client.send { $0.publish(id: 2, channel: "c", key: nil, [1]) }
                == ["reply 2 published 1"])
        client.owner.waiting = 0
        client.driver.caughtUp()
        #expect(client.heard() == ["reply 1 events [[1]] to 1"])
    }
}
