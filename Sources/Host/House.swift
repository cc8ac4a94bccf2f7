import Control
import Driver
import Glibc
import Installation
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
    private(set) var supervisor: ProcessSupervisor!
    private var listener: Listener?
    private(set) var stopping: Stopping!
    let door: Door
    private var loadRegion: LoadRegion!
    let manifests: [Manifest]
    /// The cables of the processes of each device that run now: the one that serves, and cells.
    private var cables: [String: [Plug]] = [:]
    var clients: [ObjectIdentifier: Plug] = [:]
    private var statuses: [String: DeviceStatus] = [:]
    private var reports: [String: StartReport] = [:]
    /// The device whose death is being handled.
    private var dying: (device: String, incarnation: Int)?
    private var hasSaidReady = false
    private var startClock: StartClock?
    private var armedFor = UInt64.max
    private var alarm: Timer?

    /// Declares what the manifests say; nothing is started yet.
    /// - Throws: `KernelError` when two manifests contradict each other, `SocketError` when the
    ///   socket cannot be served, `ManifestError`.
    init(_ options: Options) throws {
        self.options = options
        let search = try ManifestSearch(
            given: options.devices, environment: Options.environment("CONCENTRIC_DEVICES"),
            executable: InstanceFolders.program)
        let found = try search.manifests()
        manifests = found.map(\.manifest).filter { $0.role == .device }
        door = try Door(devices: manifests.count)
        hub = Hub(epoch: UInt64(max(1, Clock.realtime))) { CBORCoding().join($0) }
        stopping = try Stopping { [unowned self] in asked($0) }
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
        for spec in specs { reports[spec.name] = StartReport(executable: spec.executable) }
        supervisor = ProcessSupervisor(
            specs, delegate: self, logs: options.logDirectory, adopting: true)
        try options.lockData()
        KernelLog.open(in: options.logDirectory, name: Manifest.kernelName)
        declareHost(socket: listener?.path.socket ?? "", devices: search.directory)
        declareOperators()
        loadRegion = LoadRegion(self)
        hub.observer = self
    }

    /// Starts every device at once. Nobody waits for longer than the slowest of them may take.
    func boot() {
        turn()
        supervisor.boot()
        let limit = options.startLimit(of: manifests)
        startClock = StartClock(limit) { [unowned self] in giveUp(after: limit) }
    }

    private func giveUp(after limit: Double) {
        guard !hasSaidReady, !stopping.isStopping else { return }
        let late = manifests.compactMap { statuses[$0.name] }.filter { $0.state != .ready }
        let names = late.map { status in
            let subject = reports[status.name]?.subject(status) ?? status.name
            return "\(subject) is \(status.state.rawValue): \(why(status))"
        }
        options.say("not ready after \(Int(limit.rounded())) s: \(names.joined(separator: ", "))")
        shutdown(failed: true)
    }

    /// Ends the devices, the last first, and then the process. Does nothing the second time.
    func shutdown(failed: Bool = false) {
        if stopping.begin(failed: failed) { supervisor.shutdown() }
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

    /// Whether the process of a device is stopped or traced, as it was last seen.
    func isStopped(_ device: String) -> Bool { statuses[device]?.state == .late }

    func cable(of device: String, _ incarnation: Int) -> Plug? {
        cables[device]?.first { $0.incarnation == incarnation }
    }

    func ready(_ plug: Plug) {
        guard let device = plug.device, let peer = plug.driver.peer else { return }
        turn()
        reports[device]?.becameReady(plug.incarnation)
        supervisor.ready(
            device, incarnation: plug.incarnation, until: hub.longestDeadline)
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
        reports[device]?.refused(plug.incarnation, reason)
        let line = "\(device): \(reason)"
        if reports[device]?.isNew(line) != false { complain(line) }
    }

    /// A connection has ended. A device's visits wait until its death is confirmed.
    func ended(_ plug: Plug) {
        guard let device = plug.device else {
            clients[ObjectIdentifier(plug)] = nil
            if let peer = plug.driver.peer { hub.gone(peer) }
            plug.driver.release()
            return
        }
        if let peer = plug.driver.peer { hub.away(peer) }
        supervisor.cableClosed(device, incarnation: plug.incarnation)
    }

    // MARK: - What is shown

    private func show() {
        let rows = manifests.compactMap { statuses[$0.name] }.map { status in
            row(of: status, build: cable(of: status.name, status.incarnation)?.driver.build)
        }
        hub.set(region: "Kernel.Devices", .array(rows))
    }

    private func announce(_ status: DeviceStatus) {
        guard !hasSaidReady, !stopping.isStopping else { return }
        if manifests.allSatisfy({ statuses[$0.name]?.state == .ready }) {
            hasSaidReady = true
            startClock = nil
            options.say("ready pid=\(getpid()) socket=\(listener?.path.socket ?? "")")
            if options.isDetached { KernelLog.current?.takeStreams() }
        } else if status.state == .failed {
            let subject = reports[status.name]?.subject(status) ?? status.name
            options.say("\(subject) does not start: \(why(status))")
            shutdown(failed: true)
        } else if let line = reports[status.name]?.firstFailure(status) {
            complain(line)
        }
    }

    /// What is known of the end of a device's process, in one line.
    private func why(_ status: DeviceStatus) -> String {
        reports[status.name]?.why(status) ?? status.reason
    }
}

extension House: @LoopActor HubObserver {
    func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {
        supervisor.returned(
            device, incarnation: incarnation, VisitKey(symbol: symbol, digest: digest))
        hub.devices[device]?.charged = supervisor.watchesReturns(device)
    }

    func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate {
        switch supervisor.verdict(device, VisitKey(symbol: symbol, digest: digest)) {
        case .free: .free
        case .cell: .cell
        case .poisoned: .poisoned
        }
    }

    func followed(region: String) {
        if region == LoadRegion.name { loadRegion.followed() }
    }

    // The hub is in the middle of an event: the supervisor, which answers with others, is told
    // after it.

    func cellWanted(device: String) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in supervisor.cell(device) }
    }

    func elderEmptied(device: String, incarnation: Int) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in
            supervisor.drained(device, incarnation: incarnation)
        }
    }

    func cellEmptied(device: String, incarnation: Int) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in
            supervisor.emptied(device, incarnation: incarnation)
        }
    }
}

extension House: SupervisorDelegate {
    func launched(
        _ device: String, incarnation: Int, isCell: Bool, pid: Int32,
        cable: consuming OwnedDescriptor
    ) {
        guard let slot = hub.devices[device] else { return }
        if !isCell {
            hub.expect(slot)
            reports[device]?.launched(incarnation, at: Clock.monotonic)
        }
        let driver = CableDriver(
            hub: hub, device: slot, incarnation: incarnation, isCell: isCell, pid: getpid())
        cables[device, default: []].append(
            Plug(cable, driver: driver, device: device, incarnation: incarnation, house: self))
    }

    func cellLost(_ device: String, failed: Bool) {
        guard let slot = hub.devices[device] else { return }
        turn()
        hub.cellLost(slot, failed: failed)
        arm()
    }

    func readDry(_ device: String, incarnation: Int) {
        dying = (device, incarnation)
        cable(of: device, incarnation)?.readDry()
    }

    func open(_ device: String, incarnation: Int) -> ProcessLoad {
        guard let plug = cable(of: device, incarnation), let peer = plug.driver.peer else {
            return ProcessLoad()
        }
        turn()
        let now = Double(EventLoop.shared.now) / 1e9
        func moment(_ seen: UInt64) -> Double {
            now - Double(hub.seen - min(hub.seen, seen)) / 1e9
        }
        let isDying = dying?.device == device && dying?.incarnation == incarnation
        // Only a death is charged to payloads; a tick would read all of them every second.
        let open = hub.open(peer, digests: isDying).map {
            OpenVisit(
                id: $0.number, symbol: $0.symbol, digest: $0.digest, limit: $0.limit,
                replayable: $0.replayable, deliveredAt: moment($0.since), cancelled: $0.cancelled)
        }
        return ProcessLoad(
            open: open, lastHeard: Double(plug.lastHeard) / 1e9,
            lastReply: moment(peer.lastReply), highest: peer.deliveries)
    }

    func died(
        _ device: String, incarnation: Int, begun: UInt64, running: UInt64,
        verdicts: [(visit: UInt64, verdict: VisitVerdict)], exit: ExitReason
    ) {
        dying = nil
        guard let plug = cable(of: device, incarnation) else { return }
        reports[device]?.died(
            incarnation, at: Clock.monotonic, hasGreeted: plug.driver.peer != nil)
        cables[device]?.removeAll { $0 === plug }
        plug.close()
        turn()
        hub.devices[device]?.charged = supervisor.watchesReturns(device)
        if let peer = plug.driver.peer {
            let settled = Dictionary(verdicts.map { ($0.visit, $0.verdict) }) { $1 }
            hub.lost(peer, begun: begun, reason: exit.description) { number in
                switch settled[number] {
                case .lost: .lost
                case .poisoned: .poisoned
                case .cell: .cell
                case .replay, nil: .replay
                }
            }
        }
        plug.driver.release()
        arm()
    }

    func drain(_ device: String, incarnation: Int) {
        cable(of: device, incarnation)?.driver.drain()
    }

    func ping(_ device: String, incarnation: Int) {
        cable(of: device, incarnation)?.driver.ping()
    }

    func cancel(_ device: String, incarnation: Int, visit: UInt64) {
        guard let peer = cable(of: device, incarnation)?.driver.peer else { return }
        turn()
        hub.attemptOver(peer, visit: visit)
        arm()
    }

    func refuse(_ device: String, _ state: DeviceState) {
        guard let slot = hub.devices[device] else { return }
        turn()
        hub.refuse(slot, state.rawValue)
        arm()
    }

    func swapFailed(_ device: String, reason: String) {
        complain("\(device): the swap failed: \(reason)")
        turn()
        hub.report(
            device,
            KernelError(
                .unavailable,
                "the swap of \(device) failed (\(reason)): the old process serves on"),
            flow: nil)
    }

    func changed(_ status: DeviceStatus) {
        turn()
        statuses[status.name] = status
        if status.state == .failed {
            hub.report(
                status.name,
                KernelError(
                    .unavailable,
                    "the device is failed (\(why(status))): `concentric restart \(status.name)`"),
                flow: nil)
        }
        show()
        announce(status)
    }

    func exited() {
        listener?.close()
        exit(stopping.code)
    }

    func log(_ device: String, _ stream: LogStream, _ line: String) {
        // It is in the device's log; here it is only for whoever looks on.
        guard !options.isDetached else { return }
        // A device that fails in the same way again and again is told of once.
        if stream == .kernel, reports[device]?.isNew(line) == false { return }
        sayOnError("\(device): \(line)")
    }
}
