// The parent of the device processes: the real half of `Policy`.
//
// What the system and the delegate tell becomes an event; the policy answers with actions, which
// are done in order before the next event is taken. So a call of the supervisor from inside a call
// of the delegate takes effect after it, and nothing here is entered twice.

internal import Glibc
internal import Installation
package import UnixSocket

@LoopActor
package final class ProcessSupervisor {
    /// One device as it is shown and started.
    struct Entry {
        let spec: DeviceSpec
        let log: DeviceLog
        var state = DeviceState.stopped
        var reason = ""
        var incarnation = 0
        var starts = 0
        var lastExit = ""
        /// Why there was no process at the last start; empty if there was one.
        var launchFailure = ""
        var errorLines: [String] = []
        var isDirty = false
    }

    weak var delegate: (any SupervisorDelegate)?
    var policy: Policy
    var entries: [String: Entry] = [:]
    let order: [String]
    var children: [ChildProcess] = []
    var memoryKiller = MemoryKiller()
    let orphans: Orphans?

    private var events: [PolicyEvent] = []
    private var isHandling = false
    private var timer: Timer?
    private var timerAt = UInt64.max
    /// What the death that is being handled has settled so far.
    var verdicts: [(visit: UInt64, verdict: VisitVerdict)] = []
    private var refusal: String?

    /// - Parameters:
    ///   - specs: in the order of start; a name that comes twice counts once.
    ///   - logs: the folder of the devices' log files; nil: lines go to the delegate alone.
    ///   - adopting: whether this process takes in and ends what its devices leave behind; all of
    ///     its children must be the supervisor's.
    package init(
        _ specs: [DeviceSpec], delegate: any SupervisorDelegate, logs: String? = nil,
        adopting: Bool = false
    ) {
        _ = HostLimits.inherited
        orphans = adopting ? Orphans() : nil
        self.delegate = delegate
        policy = Policy(specs.map(\.profile))
        order = policy.names
        for spec in specs where entries[spec.name] == nil {
            let name = spec.name
            let log = DeviceLog(
                name, folder: logs,
                tell: { [weak delegate] in delegate?.log(name, $0, $1) },
                failed: { [weak delegate] in delegate?.logFailed(name, $0) })
            entries[name] = Entry(spec: spec, log: log)
        }
        orphans?.isOwn = { [unowned self] pid in children.contains { $0.pid == pid } }
        orphans?.spares = { [unowned self] origin in
            guard let origin else { return true }
            return origin.incarnation.map { child(origin.device, $0) != nil } ?? true
        }
    }

    // MARK: What the hub says

    /// Starts every device.
    package func boot() { post(.boot) }

    /// The device has declared itself ready. `until`: the longest deadline, in seconds, of a flow
    /// inside the process that it replaces in a swap.
    package func ready(
        _ device: String, incarnation: Int, until: Double = PolicyNumbers.finishing
    ) {
        // In a swap another process is ready, and the state does not change.
        entries[device]?.isDirty = true
        post(.ready(device: device, incarnation: incarnation, until: until))
    }

    /// The cable has ended or broke the protocol; the process may be alive.
    package func cableClosed(_ device: String, incarnation: Int) {
        post(.cableClosed(device: device, incarnation: incarnation))
    }

    /// What the process says of itself was refused; its cable ends.
    package func mismatched(_ device: String, incarnation: Int, _ reason: String, heals: Bool) {
        post(.mismatched(device: device, incarnation: incarnation, reason: reason, heals: heals))
    }

    /// No flow is inside the old process of a swap any more.
    package func drained(_ device: String, incarnation: Int) {
        post(.drained(device: device, incarnation: incarnation))
    }

    /// A visit returned; needed only while `watchesReturns`.
    package func returned(_ device: String, incarnation: Int, _ key: VisitKey) {
        post(.returned(device: device, incarnation: incarnation, key: key))
    }

    /// A visit of the device waits for a process of its own.
    package func cell(_ device: String) { post(.cell(device)) }

    /// The visit for which a cell was started has left it.
    package func emptied(_ device: String, incarnation: Int) {
        post(.emptied(device: device, incarnation: incarnation))
    }

    /// It gets no new flows, for another seat of its device runs another build.
    package func outdated(_ device: String, incarnation: Int) {
        post(.outdated(device: device, incarnation: incarnation))
    }

    package func watchesReturns(_ device: String) -> Bool { policy.watchesReturns(device) }
    package func hasCharges(_ device: String) -> Bool { policy.hasCharges(device) }
    package func verdict(_ device: String, _ key: VisitKey) -> DeliveryVerdict {
        policy.verdict(device, key)
    }

    // MARK: What the operator says, of a seat or of every seat of a device

    package func stop(_ device: String) { post(.stop(device), about: device) }
    package func start(_ device: String) { post(.start(device), about: device) }
    package func restart(_ device: String) { post(.restart(device), about: device) }

    /// Replaces the process by a new one without a gap.
    /// - Returns: why it is not done, or nil.
    package func swap(_ device: String) -> String? {
        refusal = nil
        // A failure of the last one says nothing about this one.
        for seat in policy.names(of: device) {
            entries[seat]?.reason = ""
        }
        post(.swap(device), about: device)
        return refusal
    }

    /// Sends a signal to the process of the device; KILL goes to its whole group and is a wish, not
    /// a failure.
    /// - Returns: false if the device has no process.
    @discardableResult
    package func kill(_ device: String, signal: Int32 = SIGKILL) -> Bool {
        let running = policy.names(of: device).compactMap { seat in
            policy.main(of: seat).flatMap { child(seat, $0) }
        }
        for child in running {
            if signal == SIGKILL { post(.kill(child.device)) } else { child.signalProcess(signal) }
        }
        return !running.isEmpty
    }

    /// Ends every device, in the reverse order of their start; `exited` follows. The second call
    /// kills what is left.
    package func shutdown() {
        for name in order { entries[name]?.isDirty = true }
        post(.shutdown)
    }

    /// The worst time in seconds that `shutdown` takes.
    package var longestShutdown: Double { policy.longestClose }

    /// Every device, in the order of start.
    package var statuses: [DeviceStatus] { order.compactMap { status($0) } }

    package func status(_ device: String) -> DeviceStatus? {
        guard let entry = entries[device] else { return nil }
        let main = policy.main(of: device)
        return DeviceStatus(
            name: device, state: entry.state, asked: policy.asked(of: device) ?? .start,
            pid: main.flatMap { child(device, $0)?.pid } ?? 0,
            incarnation: main ?? entry.incarnation, restarts: max(0, entry.starts - 1),
            lastExit: entry.lastExit, reason: entry.reason, errorLines: entry.errorLines)
    }

    /// Whether a process is stopped by a signal or held by a debugger now.
    package func isHeld(_ device: String, incarnation: Int) -> Bool {
        guard let held = child(device, incarnation)?.held(nil, isIdle: false) else { return false }
        return held.stopped || held.traced
    }

    // MARK: Turning

    /// Monotonic time in seconds, as the policy takes it.
    package static var now: Double { Double(Clock.monotonic) / 1e9 }

    func child(_ device: String, _ incarnation: Int) -> ChildProcess? {
        children.first { $0.incarnation == incarnation && $0.device == device }
    }

    /// A word of the operator is shown even where it changes no state.
    private func post(_ event: PolicyEvent, about device: String) {
        for seat in policy.names(of: device) { entries[seat]?.isDirty = true }
        post(event)
    }

    func post(_ event: PolicyEvent) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        while !events.isEmpty {
            let event = events.removeFirst()
            for action in policy.handle(event, at: Self.now) { perform(action) }
            tellChanges()
        }
        isHandling = false
        armTimer()
    }

    private func perform(_ action: PolicyAction) {
        switch action {
        case .spawn(let device, let incarnation, let isCell):
            spawn(device, incarnation, isCell: isCell)
        case .drain(let device, let incarnation):
            delegate?.drain(device, incarnation: incarnation)
        case .term(let device, let incarnation): child(device, incarnation)?.signalGroup(SIGTERM)
        case .kill(let device, let incarnation): child(device, incarnation)?.signalGroup(SIGKILL)
        case .ping(let device, let incarnation): delegate?.ping(device, incarnation: incarnation)
        case .cancel(let device, let incarnation, let visit):
            delegate?.cancel(device, incarnation: incarnation, visit: visit)
        case .settle(_, _, let visit, let verdict): verdicts.append((visit, verdict))
        case .buried(let device, let incarnation, let death, let isCell):
            buried(device, incarnation, death, isCell: isCell)
        case .cellLost(let device, let failed): delegate?.cellLost(device, failed: failed)
        case .refuse(let device, let state): delegate?.refuse(device, state)
        case .show(let device, let state, let reason):
            entries[device]?.state = state
            entries[device]?.reason = reason
            entries[device]?.isDirty = true
        case .swapFailed(let device, let reason, let servesOn):
            entries[device]?.reason = PolicyAction.shown(failedSwap: reason)
            entries[device]?.isDirty = true
            delegate?.swapFailed(device, reason: reason, servesOn: servesOn)
        case .swapDropped(let device, let failed):
            entries[device]?.reason = PolicyAction.shown(
                failedSwap: "that of \(failed) did, which came first")
            entries[device]?.isDirty = true
        case .refused(_, let reason): refusal = reason
        case .exit:
            tellChanges()
            leave()
        }
    }

    /// The end waits for what devices left behind, but not for what SIGKILL does not end.
    private func leave() {
        orphans?.spares = { _ in false }
        orphans?.look()
        guard let orphans, !orphans.isEmpty else {
            delegate?.exited()
            return
        }
        let deadline = Clock.monotonic &+ UInt64(PolicyNumbers.reap * 1e9)
        let limit = EventLoop.shared.schedule(at: deadline) { [weak self] in
            orphans.onEmpty = nil
            self?.delegate?.exited()
        }
        orphans.onEmpty = { [weak self] in
            limit.cancel()
            orphans.onEmpty = nil
            self?.delegate?.exited()
        }
    }

    private func tellChanges() {
        for name in order where entries[name]?.isDirty == true {
            entries[name]?.isDirty = false
            if let status = status(name) { delegate?.changed(status) }
        }
    }

    // MARK: The tick

    private func armTimer() {
        guard policy.needsTicks else {
            timer?.cancel()
            timer = nil
            timerAt = .max
            return
        }
        let wait = min(PolicyNumbers.tick, policy.dueIn ?? PolicyNumbers.tick)
        // A hair late rather than a hair early, which would cost a second tick.
        let deadline = Clock.monotonic &+ UInt64(wait * 1e9) &+ 1_000_000
        if timer != nil, timerAt <= deadline { return }
        timer?.cancel()
        timerAt = deadline
        timer = EventLoop.shared.schedule(at: deadline) { [weak self] in self?.tick() }
    }

    private func tick() {
        timer = nil
        timerAt = .max
        let now = Clock.monotonic
        memoryKiller.tick(at: Double(now) / 1e9)
        var readings: [ProcessReading] = []
        readings.reserveCapacity(children.count)
        for child in children {
            for log in child.logs { log.tick(now: now) }
            readings.append(read(child))
        }
        post(.tick(readings))
    }

    private func read(_ child: ChildProcess) -> ProcessReading {
        let load = delegate?.open(child.device, incarnation: child.incarnation) ?? ProcessLoad()
        let page = child.readPage()
        let held = child.held(page, isIdle: load.open.isEmpty)
        return ProcessReading(
            device: child.device, incarnation: child.incarnation, page: page,
            stopped: held.stopped, traced: held.traced, load: load)
    }
}
