import Control
import Driver
import Glibc
import Kernel
import Supervisor
import UnixSocket
import Values
import Wire

/// Where everything meets: the hub, the supervisor, the socket, and the cables between them.
@LoopActor
final class House {
    let hub: Hub
    let options: Options
    private(set) var supervisor: Supervisor!
    private var listener: Listener?
    private var signals: SignalWatcher?
    private let manifests: [Manifest]
    /// The cable of the process of each device that runs now.
    private var cables: [String: Plug] = [:]
    private var clients: [ObjectIdentifier: Plug] = [:]
    private var statuses: [String: DeviceStatus] = [:]
    private var hasSaidReady = false
    private var armedFor = UInt64.max
    private var alarm: Timer?

    /// Declares what the manifests say; nothing is started yet.
    /// - Throws: `KernelError` when two manifests contradict each other, `SocketError` when the
    ///   socket cannot be served, `ManifestError`.
    init(_ options: Options) throws {
        self.options = options
        let search = try ManifestSearch(
            given: options.devices, environment: Options.environment("CONCENTRIC_DEVICES"),
            executable: Options.executable)
        let found = try search.manifests()
        manifests = found.map(\.manifest).filter { $0.role == .device }
        hub = Hub(epoch: UInt64(max(1, Clock.realtime))) { CBORCoding().join([$0, $1]) }
        for manifest in manifests {
            try hub.declare(manifest.declaration)
            for region in manifest.regions {
                hub.declare(region: region.name, initial: region.initial)
            }
        }
        try options.makeDataDirectory()
        // The socket comes first: of two hosts that start at once, only one starts devices.
        listener = try Listener(path: try SocketPath(name: options.name), delegate: self)
        let specs = found.filter { $0.manifest.role == .device }.map {
            options.spec(of: $0.manifest, executable: $0.executable)
        }
        supervisor = Supervisor(specs, delegate: self)
        declareOperators()
        hub.observer = self
        signals = try SignalWatcher([SIGTERM, SIGINT, SIGHUP]) { [unowned self] _ in shutdown() }
    }

    /// Starts every device at once.
    func boot() {
        turn()
        supervisor.boot()
    }

    /// Ends the devices, the last first; the second call ends them at once.
    func shutdown() {
        supervisor.shutdown()
    }

    // MARK: - Time

    /// Tells the hub the time before it is told anything else.
    func turn(tick: Bool = false) {
        hub.turn(now: EventLoop.shared.now, wall: Clock.realtime, tick: tick)
    }

    /// Sees to it that the hub is woken at its next deadline, and every second while flows run.
    func arm() {
        guard hub.liveFlows > 0 else { return }
        let second: UInt64 = 1_000_000_000
        let wanted = min(hub.due, hub.seen + second)
        guard alarm == nil || wanted < armedFor else { return }
        alarm?.cancel()
        armedFor = wanted
        let delay = wanted > hub.seen ? wanted - hub.seen : 0
        alarm = EventLoop.shared.schedule(at: EventLoop.shared.now + delay) { [unowned self] in
            alarm = nil
            armedFor = .max
            turn(tick: true)
            hub.tick()
            arm()
        }
    }

    // MARK: - Cables

    func cable(of device: String, _ incarnation: Int) -> Plug? {
        guard let plug = cables[device], plug.incarnation == incarnation else { return nil }
        return plug
    }

    func ready(_ plug: Plug) {
        guard let device = plug.device, let peer = plug.driver.peer else { return }
        supervisor.ready(device, incarnation: plug.incarnation)
        hub.ready(peer)
    }

    func drained(_ plug: Plug) {
        guard let device = plug.device else { return }
        supervisor.drained(device, incarnation: plug.incarnation)
    }

    /// A handshake or a frame was refused.
    func refused(_ plug: Plug, _ reason: String) {
        guard let device = plug.device else { return }
        hub.report(device, KernelError(.malformed, "\(device): \(reason)"), flow: nil)
        complain("\(device): \(reason)")
    }

    /// A connection has ended. A device's visits wait until its death is confirmed.
    func ended(_ plug: Plug) {
        guard let device = plug.device else {
            clients[ObjectIdentifier(plug)] = nil
            if let peer = plug.driver.peer { hub.gone(peer) }
            return
        }
        if let peer = plug.driver.peer { hub.away(peer) }
        supervisor.cableClosed(device, incarnation: plug.incarnation)
    }

    // MARK: - What is shown

    private func show() {
        let rows = manifests.compactMap { statuses[$0.name] }.map { status in
            Value.map([
                "name": .text(status.name), "state": .text(status.state.rawValue),
                "pid": status.pid > 0 ? .int(Int64(status.pid)) : .null,
                "incarnation": .int(Int64(status.incarnation)),
                "restarts": .int(Int64(status.restarts)), "lastExit": .text(status.lastExit),
            ])
        }
        hub.set(region: "Kernel.Devices", .array(rows))
    }

    private func announce(_ status: DeviceStatus) {
        guard !hasSaidReady else { return }
        if manifests.allSatisfy({ statuses[$0.name]?.state == .ready }) {
            hasSaidReady = true
            options.say("ready pid=\(getpid()) socket=\(listener?.path.socket ?? "")")
        } else if status.state == .failed {
            options.say("failed \(status.name): \(status.lastExit) \(status.reason)")
            complain("the device \(status.name) does not start: \(status.reason)")
            shutdown()
        } else if status.state == .waiting {
            complain("the device \(status.name) did not start (\(status.reason)); trying again")
        }
    }
}

extension House: ListenerDelegate {
    func listener(
        _ listener: Listener, accepted socket: consuming OwnedDescriptor,
        from peer: UnixSocket.Peer
    ) {
        let driver = Driver(hub: hub, device: nil, incarnation: 0, pid: getpid())
        let plug = Plug(socket, driver: driver, device: nil, incarnation: 0, house: self)
        clients[ObjectIdentifier(plug)] = plug
    }

    func listener(
        _ listener: Listener, refused peer: UnixSocket.Peer?, because error: SocketError
    ) {
        complain("a connection was refused: \(error)")
    }
}

extension House: @LoopActor HubObserver {
    func returned(device: String, symbol: String, digest: UInt64) {}
}

extension House: SupervisorDelegate {
    func launched(
        _ device: String, incarnation: Int, pid: Int32, cable: consuming OwnedDescriptor
    ) {
        guard let slot = hub.devices[device] else { return }
        hub.expect(slot)
        let driver = Driver(hub: hub, device: slot, incarnation: incarnation, pid: getpid())
        cables[device] = Plug(
            cable, driver: driver, device: device, incarnation: incarnation, house: self)
    }

    func readDry(_ device: String, incarnation: Int) {
        cable(of: device, incarnation)?.readDry()
    }

    func died(
        _ device: String, incarnation: Int, begun: UInt64, reason: String,
        verdicts: [UInt64: VisitVerdict]
    ) {
        guard let plug = cable(of: device, incarnation) else { return }
        cables[device] = nil
        plug.close()
        turn()
        if let peer = plug.driver.peer {
            hub.lost(peer, begun: begun, reason: reason) { number in
                switch verdicts[number] {
                case .lost: .lost
                case .poisoned: .poisoned
                case .replay, .alone, nil: .replay
                }
            }
        }
        arm()
    }

    func drain(_ device: String, incarnation: Int) {
        cable(of: device, incarnation)?.driver.drain()
    }

    func changed(_ status: DeviceStatus) {
        turn()
        statuses[status.name] = status
        if status.state == .failed {
            hub.report(
                status.name,
                KernelError(.unavailable, "the device is failed: \(status.reason); restart it"),
                flow: nil)
        }
        show()
        announce(status)
    }

    func exited() {
        listener?.close()
        exit(hasSaidReady ? 0 : 69)
    }
}
