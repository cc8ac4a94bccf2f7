import Control
import Driver
import Kernel
import Testing
import Values
import Wire

/// The room that owns a driver's connection: it counts what it is told.
final class TestOwner: DriverOwner {
    var told: [String] = []
    var reasons: [String] = []
    /// Bytes that the peer has not taken.
    var waiting = 0

    func welcomed(_ driver: CableDriver) { told.append("welcomed") }
    func ready(_ driver: CableDriver) {
        told.append("ready")
        if let peer = driver.peer { driver.hub.ready(peer) }
    }
    func drained(_ driver: CableDriver) { told.append("drained") }
    func refused(_ driver: CableDriver, _ reason: String) {
        told.append("refused")
        reasons.append(reason)
    }
    func wrote(_ driver: CableDriver) {}
    func backlog(_ driver: CableDriver) -> Int { waiting }
}

/// Both ends of a cable without a socket: what is sent is read by the driver at once, and what it
/// writes is read back as messages.
final class TestCable {
    let driver: CableDriver
    let owner = TestOwner()

    init(_ hub: Hub, device: DeviceSlot? = nil) {
        driver = CableDriver(hub: hub, device: device, incarnation: device == nil ? 0 : 3, pid: 42)
        driver.owner = owner
    }

    /// Sends frames; the messages that came back, as text.
    @discardableResult
    func send(_ write: (CBORWriter) -> Void) -> [String] {
        let writer = CBORWriter()
        write(writer)
        return send(writer.bytes)
    }

    @discardableResult
    func send(_ bytes: [UInt8]) -> [String] {
        taken = bytes.withUnsafeBytes { driver.receive($0) }
        return heard()
    }

    /// How many bytes of the last send were whole frames.
    private(set) var taken = 0

    func heard() -> [String] {
        defer { driver.output.reset() }
        return driver.output.withBytes { raw in
            var all: [String] = []
            var offset = 0
            while case .body(let body, let end) = Frame.next(in: raw, at: offset) {
                offset = end
                do {
                    all.append(Self.text(try KernelMessage(body)))
                } catch {
                    Issue.record("the driver wrote a broken frame: \(error)")
                }
            }
            #expect(offset == raw.count, "what is written are whole frames")
            return all
        }
    }

    private static func text(_ message: KernelMessage) -> String {
        switch message {
        case .welcome(let welcome): "welcome \(welcome.regions) epoch \(welcome.epoch)"
        case .refused(let code, let message): "refused \(code): \(message)"
        case .visitClosure: "visitClosure"
        case .visit(let order):
            "visit \(order.number) symbol \(order.symbol) \([UInt8](order.payload))"
        case .cancelVisit(let visit): "cancel \(visit)"
        case .answer(let visit, let tag, let reply): "answer \(visit) \(tag) \(text(reply))"
        case .reply(let id, let reply): "reply \(id) \(text(reply))"
        case .accepted(let id): "accepted \(id)"
        case .snapshot(let part): "snapshot \(part.region) \(part.counter)"
        case .patch(_, let counter, let changes):
            "patch \(changes.map(\.region)) \(counter)"
        case .together(let count): "together \(count)"
        case .digest(let region, _, let counter, _): "digest \(region) \(counter)"
        case .drain: "drain"
        case .piece(let left, let bytes): "piece \(left) \(bytes.count)"
        case .ping: "ping"
        case .pong(let number): "pong \(number)"
        }
    }

    private static func text(_ reply: KernelMessage.Reply) -> String {
        switch reply {
        case .output(let bytes): "\([UInt8](bytes))"
        case .failure(let error): "! \(error.code.rawValue)"
        case .committed(let revision, let values): "committed \(revision) \(values?.count ?? -1)"
        case .repeated(let revision, let earlier, let patches):
            "repeated \(revision) since \(earlier) \(patches.map { $0.value.json() })"
        case .conflict: "conflict"
        case .published(let sequence): "published \(sequence)"
        case .events(let after, let events): "events \(events.map(\.payload)) to \(after)"
        case .gap(let from, let to): "gap \(from) \(to)"
        }
    }
}

/// A hub with a device that answers `D.work` and writes `r`, and a device that answers `E.work`.
struct TestHub {
    let hub = Hub(epoch: 7) { $0.flatMap { $0 } }
    let slot: DeviceSlot
    static let work = Binding(
        name: "D.work", traits: .replayable, stages: nil, last: false)

    init() throws {
        slot = try hub.declare(
            DeviceDeclaration(
                name: "d", pure: false, provides: ["D.work"], calls: ["D.*"], reads: ["s"],
                writes: ["r"], publishes: ["c"]))
        try hub.declare(
            DeviceDeclaration(
                name: "e", pure: true, provides: ["E.work"], calls: [], reads: [], writes: []))
        hub.declare(region: "r", initial: .int(0))
        hub.declare(region: "s", initial: .text("s"))
        try hub.declare(channel: "c", events: 2)
        hub.turn(now: 1, wall: 1)
    }

    /// A device that serves.
    func device() -> TestCable {
        let cable = TestCable(hub, device: slot)
        cable.send {
            $0.hello(Hello(name: "d", bindings: [Self.work]))
            $0.ready()
        }
        return cable
    }

    /// A client that has declared `D.work` as 0.
    func client() -> TestCable {
        let cable = TestCable(hub)
        cable.send {
            $0.hello(Hello(name: "c", bindings: nil))
            $0.name(index: 0, "D.work")
        }
        return cable
    }
}
