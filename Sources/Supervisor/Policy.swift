// The policy of supervision: what to do about processes, as a deterministic machine. No process,
// clock or descriptor is touched here: the host turns what it sees into events and carries the
// actions out; a test does the same with a world of its own.
//
// A device has at most one `main` process; during a swap also an `heir` (the new one, until it is
// ready) or an `elder` (the old one, until its flows have left). A visit that was in the death of a
// process is tried again in a `cell`, a process beside the main one that is started for it and
// ended after it, so that it can hurt nobody. A process stays in the table until
// its death was seen through its handle: nothing is replayed and no successor of the same role
// starts before that. Every phase but `ready` has a deadline, so nothing waits for ever.
//
// Who pays for a death? `Payer` is the first that fits:
//   wanted    the supervisor was asked to end it      nobody
//   outside   a signal that it did not earn, or it was left stopped    nobody
//   visit     its own doing while a visit was begun      that visit (by symbol and digest)
//   start     its own doing before it was ready      the device's budget
//   finished  exit 0, nothing open      transient: nobody, permanent: budget
//   own       any other exit, trap or hang, a closed cable      the device's budget
//
// The host sends a tick at `dueIn`, and at least every second while a device is not off. Before a
// tick it has read everything that was readable on the cables. At a death its order is: handle
// readable, cable read dry, page read, the group killed, the process reaped, then `died`.

// A device whose manifest asks for several instances has as many seats. Each is a device of its
// own here, but for three things: what is remembered of visits is the same for all, a cell is
// started by whichever can, and swaps go from seat to seat, so that only one of them starts at a
// time.

/// The machine. A value: a copy is another world.
package struct Policy: Sendable {
    enum Phase: Sendable {
        case up  // → closing
        case closing  // → closed
        case closed
    }

    /// In the order of start.
    var devices: [PolicyDevice]
    var phase = Phase.up
    private var time = SeenTime()
    private let indices: [String: Int]
    /// The seats of each device, by its name.
    private let groups: [String: [Int]]
    /// The swaps to come, in order.
    var rollouts: [Rollout] = []

    /// A profile whose name has come before is left out.
    package init(_ profiles: [DeviceProfile]) {
        var indices: [String: Int] = [:]
        var groups: [String: [Int]] = [:]
        var devices: [PolicyDevice] = []
        for profile in profiles where indices[profile.name] == nil {
            indices[profile.name] = devices.count
            groups[profile.device, default: []].append(devices.count)
            devices.append(PolicyDevice(profile))
        }
        self.indices = indices
        self.groups = groups
        self.devices = devices
    }

    /// Takes an event in at `now`, monotonic time in seconds, and says what to do.
    package mutating func handle(_ event: PolicyEvent, at now: Double) -> [PolicyAction] {
        if phase == .closed { return [] }
        var isTick = false
        if case .tick = event { isTick = true }
        time.advance(to: now, isTick: isTick)
        var turn = PolicyTurn(time: time, isUp: phase == .up)
        switch event {
        case .boot: boot(&turn)
        case .tick(let readings): tick(readings, &turn)
        case .shutdown: shutdown(&turn)
        case .stop(let name): for at in operable(name) { change(at) { $0.stop(&turn) } }
        case .start(let name): for at in operable(name) { change(at) { $0.start(&turn) } }
        case .restart(let name): for at in operable(name) { change(at) { $0.restart(&turn) } }
        case .swap(let name): swap(name, operable(name), &turn)
        case .kill(let name): for at in operable(name) { change(at) { $0.kill(&turn) } }
        case .cell(let name): wantCell(operable(name), &turn)
        default: handleProcess(event, &turn)
        }
        if !rollouts.isEmpty { rollOn(&turn) }
        if phase == .closing { close(&turn) }
        return turn.actions
    }

    private func operable(_ name: String) -> [Int] { phase == .up ? seats(name) : [] }

    /// The seat of a name, or the seats of a device.
    private func seats(_ name: String) -> [Int] {
        indices[name].map { [$0] } ?? groups[name] ?? []
    }

    func siblings(of at: Int) -> [Int] { groups[devices[at].profile.device] ?? [at] }

    /// What one seat has learnt of visits, all know.
    mutating func change(_ at: Int, _ body: (inout PolicyDevice) -> Void) {
        body(&devices[at])
        guard devices[at].profile.device != devices[at].name else { return }
        let ledger = devices[at].ledger
        for other in siblings(of: at) where other != at { devices[other].ledger = ledger }
    }

    private mutating func handleProcess(_ event: PolicyEvent, _ turn: inout PolicyTurn) {
        guard let (name, incarnation) = event.process, let at = indices[name],
            let process = devices[at].index(of: incarnation)
        else { return }
        switch event {
        case .died(_, _, let exit, let page, let load):
            change(at) { $0.died(process, exit, page, load, &turn) }
        case .unspawned(_, _, let error, let detail):
            change(at) { $0.unspawned(process, error, detail, &turn) }
        case .ready(_, _, let until):
            change(at) { $0.becameReady(process, until, &turn) }
        case .drained:
            change(at) { $0.drained(process, &turn) }
        case .cableClosed:
            change(at) { $0.cableClosed(process, &turn) }
        case .returned(_, _, let key):
            change(at) { $0.returned(key) }
        case .emptied:
            change(at) { $0.emptied(process, &turn) }
        case .outdated:
            follow(at, process)
        case .mismatched(_, _, let reason, let heals):
            change(at) { $0.mismatched(process, reason, heals: heals) }
        default: break
        }
    }

    // MARK: Questions

    /// Why the machine ends a process; nil if it does not.
    package func cause(_ device: String, _ incarnation: Int) -> EndCause? {
        guard let at = indices[device], let process = devices[at].index(of: incarnation) else {
            return nil
        }
        return devices[at].processes[process].cause
    }

    /// How a visit may be delivered to the device now.
    package func verdict(_ device: String, _ key: VisitKey) -> DeliveryVerdict {
        guard let at = seats(device).first else { return .free }
        return devices[at].verdict(key, at: time.now)
    }

    /// False: every visit of the device is `free`, no need to ask.
    package func hasCharges(_ device: String) -> Bool {
        seats(device).first.map { !devices[$0].ledger.charges.isEmpty } ?? false
    }

    /// Whether the machine must be told of visits that return.
    package func watchesReturns(_ device: String) -> Bool {
        seats(device).first.map { !devices[$0].ledger.isEmpty } ?? false
    }

    /// Seconds after the last event at which a tick must come at the latest; nil if nothing waits.
    package var dueIn: Double? {
        var earliest = Double.infinity
        for device in devices {
            if let due = device.due { earliest = min(earliest, due) }
            if phase == .up, device.startsCells, let due = device.cellsDue {
                earliest = min(earliest, due)
            }
            for process in device.processes {
                if let due = process.due { earliest = min(earliest, due) }
            }
        }
        return earliest.isFinite ? max(0, earliest - time.now) : nil
    }

    /// Whether ticks are needed: something runs or is to run.
    package var needsTicks: Bool {
        phase != .closed && devices.contains { !$0.processes.isEmpty || $0.due != nil }
    }

    /// The worst time that the end takes from now, in seconds.
    package var longestClose: Double {
        devices.reduce(0) { sum, device in
            device.processes.isEmpty
                ? sum : sum + device.profile.drain + device.profile.term + PolicyNumbers.reap
        }
    }

    /// In the order of start.
    package var names: [String] { devices.map(\.name) }

    /// The seats that a word of an operator means: one, or all of a device.
    package func names(of word: String) -> [String] { seats(word).map { devices[$0].name } }

    /// The incarnation of the process that serves or is to serve.
    package func main(of device: String) -> Int? {
        guard let at = indices[device], let main = devices[at].index(.main) else { return nil }
        return devices[at].processes[main].incarnation
    }

    /// What was asked of the device last.
    package func asked(of device: String) -> AskedWord? {
        indices[device].map { devices[$0].asked }
    }

    package var isClosing: Bool { phase != .up }
}

/// One event's draft: the time, and what to do.
struct PolicyTurn {
    let time: SeenTime
    let isUp: Bool
    var actions: [PolicyAction] = []

    var seen: Double { time.now }

    init(time: SeenTime, isUp: Bool) {
        self.time = time
        self.isUp = isUp
    }

    mutating func act(_ action: PolicyAction) { actions.append(action) }
}

extension PolicyEvent {
    /// The process that the event is about.
    var process: (device: String, incarnation: Int)? {
        switch self {
        case .died(let device, let incarnation, _, _, _), .ready(let device, let incarnation, _),
            .unspawned(let device, let incarnation, _, _), .drained(let device, let incarnation),
            .cableClosed(let device, let incarnation), .returned(let device, let incarnation, _),
            .emptied(let device, let incarnation), .outdated(let device, let incarnation),
            .mismatched(let device, let incarnation, _, _):
            (device, incarnation)
        case .stop, .start, .restart, .swap, .kill, .cell, .boot, .tick, .shutdown:
            nil
        }
    }
}
