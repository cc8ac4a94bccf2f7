import Control
package import Kernel
package import Wire

/// What a driver tells the room that owns its connection.
package protocol DriverOwner: AnyObject {
    /// The handshake is done; a device's process is not yet ready.
    func welcomed(_ driver: CableDriver)
    /// The device's process declares that it serves.
    func ready(_ driver: CableDriver)
    /// The device's process has no visit left and takes no more.
    func drained(_ driver: CableDriver)
    /// The connection is to be closed once what was written has been sent.
    func refused(_ driver: CableDriver, _ reason: String)
    /// There is something to write: it is taken now, or soon, with what is written meanwhile.
    func wrote(_ driver: CableDriver)
    /// Bytes that were taken and that the peer has not.
    func backlog(_ driver: CableDriver) -> Int
}

/// The kernel's end of one cable: bytes from the peer become events of the hub, and what the hub
/// says becomes bytes in `output`. It does no I/O and holds no clock.
package final class CableDriver {
    /// Where the connection stands.
    package enum Phase {
        /// -> serving, closed
        case greeting
        /// -> closed
        case serving
        case closed
    }

    package let hub: Hub
    /// What is to be sent, in order.
    package let output = CBORWriter(capacity: 4_096)
    /// Held until the connection is closed.
    package var owner: (any DriverOwner)?
    package private(set) var phase = Phase.greeting
    /// The peer after the handshake.
    package private(set) var peer: Peer?
    /// What the peer says that it was built as; nil before its hello.
    package private(set) var build: String?
    /// Whether a hello that was refused may be accepted later, without another build; nil for one
    /// that was not refused.
    package private(set) var mismatchHeals: Bool?
    /// Frames that were read.
    package private(set) var frames: UInt64 = 0
    /// Answers to pings, and replies: the peer's loop turns.
    package private(set) var pongs: UInt64 = 0

    private let device: DeviceSlot?
    private let incarnation: Int
    private let isCell: Bool
    private let seat: Int
    private let program: UInt64
    private let pid: UInt64
    private var names: [(slot: SymbolSlot?, text: String)] = []
    /// The owner knows that something is written, and has not taken it yet.
    private var isTold = false
    /// Patches were dropped; whole values follow when the peer has caught up.
    var lagging = false
    /// The places whose changes were dropped.
    var missed: Set<String> = []
    /// What is to be told after them.
    let held = CBORWriter(capacity: 16)
    /// How many of the next snapshots and patches belong together.
    var batch = 0
    /// Events wait until it has caught up.
    var owesEvents = false
    /// What the peer had not taken when the last bytes of it came.
    private var backlog = 0
    /// Requests that have come since the peer last took what it was sent.
    private var impatience = 0

    /// The end of a cable.
    ///
    /// - Parameters:
    ///   - device: the device whose process holds the other end; nil for a client.
    ///   - incarnation: which process of it.
    ///   - isCell: it takes one visit, beside the process that serves.
    ///   - seat: which of the processes that serve beside each other; 0 if there is but one.
    ///   - program: stands for the program that it runs.
    ///   - pid: the kernel's, for the welcome.
    package init(
        hub: Hub, device: DeviceSlot?, incarnation: Int, isCell: Bool = false, seat: Int = 0,
        program: UInt64 = 0, pid: Int32
    ) {
        self.seat = seat
        self.program = program
        self.isCell = isCell
        self.hub = hub
        self.device = device
        self.incarnation = incarnation
        self.pid = UInt64(max(0, pid))
    }

    /// Takes what has arrived; returns how many bytes were whole frames.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        backlog = owner?.backlog(self) ?? 0
        while phase != .closed {
            switch Frame.next(in: bytes, at: offset) {
            case .incomplete: return offset
            case .refused(let length):
                refuse(
                    .malformed,
                    "a frame of \(length) bytes; a frame has \(WireLimits.shortestFrame) to "
                        + "\(WireLimits.frame) bytes")
                return bytes.count
            case .body(let body, let end):
                offset = end
                frames += 1
                if takePlain(body) { continue }
                do {
                    try take(PeerMessage(body))
                } catch {
                    refuse(.malformed, error.description)
                }
            }
        }
        return bytes.count
    }

    /// The connection has ended.
    package func closed() {
        phase = .closed
        owner = nil
    }

    /// What was written has been taken.
    package func taken() {
        output.reset()
        isTold = false
    }

    /// Tells the owner that something is written, once until it is taken or has become much.
    @inline(__always)
    func tell() {
        guard !isTold || output.count >= DriverLimits.gathered else { return }
        isTold = true
        owner?.wrote(self)
    }

    /// The hub knows the peer no more: they let go of each other.
    package func release() {
        peer = nil
    }

    /// Ends the cable because of what its owner has seen.
    package func distrust(_ reason: String) {
        refuse(.malformed, reason)
    }

    /// Asks a device to finish its visits and to say so.
    package func drain() {
        guard phase != .closed else { return }
        ordered.drain()
        tell()
    }

    /// Asks for a sign of life.
    package func ping() {
        guard phase == .serving else { return }
        output.ping(frames)
        tell()
    }

    // MARK: - From the peer

    /// Takes what comes with every visit; returns false, having done nothing, for all else.
    @inline(__always)
    private func takePlain(_ body: UnsafeRawBufferPointer) -> Bool {
        guard let peer else { return false }
        if device != nil, let output = PeerMessage.plainOutput(body) {
            hub.returned(peer, visit: output.number, output: output.bytes)
            return true
        }
        guard isPatient, let sent = PeerMessage.plainCall(body) else { return false }
        call(peer, sent.id, sent.symbol, sent.deadline, nil, sent.payload)
        return true
    }

    /// The peer reads what it is sent.
    @inline(__always)
    private var isPatient: Bool {
        impatience == 0 && backlog + output.count <= DriverLimits.backlog
    }

    private func take(_ message: PeerMessage) throws(WireError) {
        guard let peer else {
            guard case .hello(let hello) = message else {
                throw .order("the first message must be a hello")
            }
            return greet(hello)
        }
        guard !asksWithoutReading(message) else { return }
        switch message {
        case .call(let id, let symbol, let deadline, let key, let payload):
            call(peer, id, symbol, deadline, key, payload)
        case .returned(let visit, let verb): hub.returned(peer, visit: visit, verb)
        case .askCall(let visit, let tag, let symbol, let deadline, let payload):
            ask(peer, visit, tag, symbol) { .call($0, [UInt8](payload), deadline: deadline) }
        case .askCommit(let visit, let tag, let offers):
            hub.ask(peer, visit: visit, tag: tag, .commit(offers))
        case .askRun(let visit, let tag, let route, let payload):
            hub.ask(peer, visit: visit, tag: tag, .run(route, [UInt8](payload)))
        case .askDispatch(let visit, let tag, let symbol, let payload):
            ask(peer, visit, tag, symbol) { .dispatch($0, [UInt8](payload)) }
        case .askPublish(let visit, let tag, let channel, let payload):
            hub.askPublish(peer, visit: visit, tag: tag, channel: channel, [UInt8](payload))
        case .publish(let id, let channel, let key, let payload):
            hub.publish(peer, id, channel: channel, [UInt8](payload), key: key)
        case .read(let id, let channel, let epoch, let after):
            hub.read(peer, id, channel: channel, epoch: epoch, after: after)
        case .note(let visit, let region, let number, let revision):
            hub.note(peer, visit: visit, region: region, number: number, revision: revision)
        case .parked(let visit): hub.parked(peer, visit: visit)
        case .dispatch(let id, let symbol, let key, let payload):
            guard let name = granted(id, symbol) else { return }
            hub.dispatch(peer, id, name.slot, [UInt8](payload), key: key)
        case .name(let index, let text): try name(index, text)
        case .cancel(let id): hub.cancel(peer, call: id)
        case .follow(let id, let region): follow(peer, id, region)
        case .unfollow(let region): hub.unfollow(peer, region: region)
        case .resume(let id, let places): resume(peer, id, places)
        case .check(let id, let region): check(peer, id, region)
        case .mismatch(let region, let epoch, let counter):
            hub.mismatched(peer, region, at: Revision(epoch: epoch, counter: counter))
        case .ready: owner?.ready(self)
        case .drained: owner?.drained(self)
        case .ping(let number):
            output.pong(number)
            tell()
        case .pong: pongs += 1
        case .hello: throw .order("a second hello")
        }
    }

    /// Every request is answered, so who asks and reads nothing would fill this process with
    /// answers. A client is not read meanwhile; a device must be, for its replies.
    @inline(__always)
    private func asksWithoutReading(_ message: PeerMessage) -> Bool {
        switch message {
        case .ping, .call, .dispatch, .follow, .resume, .check, .mismatch, .publish, .read,
            .askCall, .askCommit, .askRun, .askDispatch, .askPublish:
            break
        default: return false
        }
        let waiting = backlog + output.count
        guard waiting > DriverLimits.backlog else {
            impatience = 0
            return false
        }
        impatience += 1
        guard impatience > DriverLimits.impatience else { return false }
        refuse(
            .overloaded,
            "\(impatience) requests came while \(waiting) bytes of answers were not read")
        return true
    }

    private func name(_ index: UInt64, _ text: String) throws(WireError) {
        guard index == UInt64(names.count), names.count < WireLimits.names else {
            throw .order(
                "the name number \(index) stands in the place of number \(names.count)")
        }
        names.append((hub.symbol(text), text))
    }

    private func call(
        _ peer: Peer, _ id: UInt64, _ symbol: UInt64, _ deadline: UInt32, _ key: String?,
        _ payload: UnsafeRawBufferPointer
    ) {
        guard let name = granted(id, symbol) else { return }
        hub.call(peer, id, name.slot, [UInt8](payload), deadline: deadline, key: key)
    }

    /// The name of a number, if the peer may call it; otherwise the call has been answered.
    private func granted(_ id: UInt64, _ symbol: UInt64) -> (slot: SymbolSlot, text: String)? {
        guard let name = resolve(symbol) else {
            fail(
                id,
                KernelError(
                    .malformed, "the symbol number \(symbol) was never declared", outcome: .none))
            return nil
        }
        guard let slot = name.slot else {
            fail(id, Hub.unbound(name.text))
            return nil
        }
        if let device, !device.mayCall(name.text) {
            fail(id, denied(device, name.text))
            return nil
        }
        return (slot, name.text)
    }

    @inline(__always)
    private func resolve(_ symbol: UInt64) -> (slot: SymbolSlot?, text: String)? {
        guard symbol < UInt64(names.count) else { return nil }
        return names[Int(symbol)]
    }

    private func ask(
        _ peer: Peer, _ visit: UInt64, _ tag: UInt64, _ symbol: UInt64,
        _ operation: (SymbolSlot) -> Operation
    ) {
        guard let name = resolve(symbol), let slot = name.slot else {
            let text = resolve(symbol)?.text ?? "number \(symbol)"
            return hub.askUnknown(peer, visit: visit, tag: tag, text, Hub.unbound(text))
        }
        if let device, !device.mayCall(name.text) {
            return hub.askUnknown(
                peer, visit: visit, tag: tag, name.text, denied(device, name.text))
        }
        hub.ask(peer, visit: visit, tag: tag, operation(slot))
    }

    func fail(_ id: UInt64, _ error: KernelError) {
        reply(call: id, .failure(error))
    }

    private func denied(_ device: DeviceSlot, _ name: String) -> KernelError {
        KernelError(
            .denied, "the manifest of \(device.name) does not grant calling \(name)",
            outcome: .none)
    }

    // MARK: - Handshake

    private func greet(_ hello: Hello) {
        guard hello.wire == WireVersion.wire else {
            let older = hello.wire < WireVersion.wire
            mismatchHeals = false
            let who = device.map { "the device \($0.name)" } ?? "the client \(hello.name)"
            return refuse(
                .unsupported,
                "\(who) (build \(hello.build)) speaks wire \(hello.wire), this kernel (build "
                    + "\(WireVersion.build)) speaks wire \(WireVersion.wire): rebuild "
                    + (older
                        ? "the older \(device == nil ? "client" : "device")" : "the older kernel"))
        }
        let peer = Peer(
            cable: self, device: device, incarnation: incarnation, isCell: isCell,
            name: hello.name, seat: seat, program: program)
        if device != nil {
            do {
                try hub.announce(peer, hello.bindings ?? [], publishes: hello.publishes)
            } catch {
                mismatchHeals = error.retry
                return refuse(error.code, error.message)
            }
        }
        self.peer = peer
        build = hello.build
        phase = .serving
        let regions = hub.grantedRegions(device)
        output.welcome(
            Welcome(
                epoch: hub.epoch, incarnation: UInt64(max(0, incarnation)), regions: regions,
                openCalls: UInt64(hub.limits.openCalls), openBytes: UInt64(hub.limits.openBytes),
                pid: pid, isCell: isCell))
        _ = try? hub.follow(peer, regions.map { Hub.Subscription(name: $0) })
        owner?.welcomed(self)
        tell()
    }

    private func refuse(_ code: KernelError.Code, _ message: String) {
        guard phase != .closed else { return }
        phase = .closed
        output.refused(code: code.rawValue, message: message)
        tell()
        owner?.refused(self, message)
    }
}
