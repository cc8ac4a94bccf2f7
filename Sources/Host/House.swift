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
    var listener: Listener?
    private(set) var stopping: Stopping!
    /// Keeps others from the data.
    private var keeper: DataKeeper?
    let door: Door
    private(set) var loadRegion: LoadRegion!
    private(set) var unread: Unread!
    let manifests: [Manifest]
    /// The names of all seats of all devices, in the order of start. What is kept of a process goes
    /// by that of its seat.
    let seats: [String]
    /// The cables of the processes of each seat that run now: the one that serves, and cells.
    var cables: [String: [Plug]] = [:]
    var clients: [ObjectIdentifier: Plug] = [:]
    var statuses: [String: DeviceStatus] = [:]
    var reports: [String: StartReport] = [:]
    /// The device whose death is being handled.
    var dying: (device: String, incarnation: Int)?
    private var hasSaidReady = false
    private var progress = StartProgress()
    private var startClock: StartClock?
    private var armedFor = UInt64.max
    private var alarm: Timer?
    private var trim: Timer?
    /// When memory was last given back, and how often.
    private var trimmedAt: UInt64 = 0
    private(set) var trims = 0

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
        seats = manifests.flatMap(\.seats)
        door = try Door(devices: manifests.count, seats: seats.count)
        hub = Hub(epoch: 1) { CBORCoding().join($0) }
        stopping = try Stopping { [unowned self] in asked($0) }
        for manifest in manifests {
            try hub.declare(manifest.declaration)
        }
        let declared = found.filter { $0.manifest.role == .device }
        try Self.declareRegions(declared, in: hub)
        try Self.declareChannels(declared, in: hub)
        // The name first: it is also that of a folder.
        let path = try SocketPath(name: options.name)
        // Before the socket, so that a folder that cannot be made costs no other host its place.
        try options.folders.make()
        // The socket comes first: of two hosts that start at once, only one starts devices.
        let listener = try Listener(path: path, delegate: self)
        self.listener = listener
        do {
            // Nothing is written among the data before they are this kernel's, and what befalls the
            // logs of devices is told in its own.
            keeper = try DataKeeper(options.folders) { complain($0) }
        } catch {
            listener.close()
            throw error
        }
        KernelLog.open(in: options.logDirectory, name: Manifest.kernelName)
        var epoch = EpochFile(options.folders)
        hub.epoch = epoch.next(now: Clock.realtime) { complain($0) }
        keeper?.keep(epoch)
        endLeftovers()
        let specs = found.filter { $0.manifest.role == .device }.flatMap {
            options.specs(of: $0.manifest, executable: $0.executable)
        }
        for spec in specs { reports[spec.name] = StartReport(executable: spec.executable) }
        supervisor = ProcessSupervisor(
            specs, delegate: self, logs: options.logDirectory, adopting: true)
        declareHost(
            socket: listener.path.socket, devices: search.directory,
            manifests: found.filter { $0.manifest.role == .device })
        declareOperators()
        loadRegion = LoadRegion(self)
        unread = Unread(self, most: options.unread)
        hub.observer = self
    }

    private func endLeftovers() {
        let name = InstanceFolders.program.split(separator: "/").last.map(String.init)
        for process in Leftovers.end(data: options.dataDirectory, kernel: name ?? "") {
            complain(
                "ended process \(process.pid), which \(process.device) of a killed kernel left")
        }
    }

    /// Starts every device at once. Nobody waits for longer than the slowest of them may take.
    func boot() {
        turn()
        supervisor.boot()
        let limit = options.startLimit(of: manifests)
        // The shell that waits for a detached kernel gives up after it, should the kernel be
        // stopped.
        if options.isDetached { put("starting deadline=\(Int(limit.rounded(.up)))\n", on: 1) }
        startClock = StartClock(limit) { [unowned self] in giveUp(after: limit) }
    }

    private func giveUp(after limit: Double) {
        guard !hasSaidReady, !stopping.isStopping else { return }
        let late = seats.compactMap { statuses[$0] }.filter {
            progress.waits(for: $0.name, in: $0.state)
        }
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
            if hub.haveFlowsShrunk(from: HouseLimits.trimmedFlows) { giveMemoryBack() }
            arm()
        }
    }

    // MARK: - Cables

    /// Whether this process of a device is stopped or traced now.
    func isHeld(_ device: String, _ incarnation: Int) -> Bool {
        supervisor.isHeld(device, incarnation: incarnation)
    }

    /// The device of a seat.
    func slot(of seat: String) -> DeviceSlot? { hub.devices[SeatName.device(of: seat)] }

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
        guard let device = plug.device else {
            return door.say("the client \(plug.who) was cut off: \(reason)")
        }
        hub.report(device, KernelError(.malformed, "\(device): \(reason)"), flow: nil)
        reports[device]?.refused(plug.incarnation, reason)
        if let heals = plug.driver.mismatchHeals {
            supervisor.mismatched(device, incarnation: plug.incarnation, reason, heals: heals)
        }
        let line = "\(device): \(reason)"
        if reports[device]?.isNew(line) != false { complain(line) }
    }

    /// A connection has ended. A device's visits wait until its death is confirmed.
    func ended(_ plug: Plug) {
        guard let device = plug.device else {
            clients[ObjectIdentifier(plug)] = nil
            if let peer = plug.driver.peer { hub.gone(peer) }
            plug.driver.release()
            if plug.wasHeavy { giveMemoryBack() }
            return
        }
        if let peer = plug.driver.peer { hub.away(peer) }
        supervisor.cableClosed(device, incarnation: plug.incarnation)
    }

    /// Soon, and once for all that have let go of some.
    func giveMemoryBack() {
        guard trim == nil else { return }
        let soon = EventLoop.shared.now + HouseLimits.trimPause
        let next = max(soon, trims > 0 ? trimmedAt + HouseLimits.trimInterval : 0)
        trim = EventLoop.shared.schedule(at: next) { [unowned self] in
            trim = nil
            trimmedAt = EventLoop.shared.now
            trims += 1
            FreeMemory.giveBack()
        }
    }

    // MARK: - What is shown

    func show() {
        let rows = seats.compactMap { statuses[$0] }.map { status in
            row(of: status, build: cable(of: status.name, status.incarnation)?.driver.build)
        }
        hub.set(region: "Kernel.Devices", .array(rows))
    }

    func announce(_ status: DeviceStatus) {
        guard !hasSaidReady, !stopping.isStopping else { return }
        progress.note(status.name, status.state)
        let isWaiting = seats.contains { progress.waits(for: $0, in: statuses[$0]?.state) }
        if !isWaiting {
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
    func why(_ status: DeviceStatus) -> String {
        reports[status.name]?.why(status) ?? status.reason
    }
}
