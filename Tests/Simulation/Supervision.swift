import Control
import Supervisor
import Values

@testable import Kernel

/// A place for one process of a device.
struct Seat {
    let kind: Kind
    /// From 1; 0 for the only one.
    let number: Int

    init(_ kind: Kind, _ number: Int) {
        self.kind = kind
        self.number = number
    }

    /// By its name: that of the device, unless that has several.
    init?(_ name: String) {
        let parts = name.split(separator: "/")
        guard let kind = parts.first.flatMap({ Kind(rawValue: String($0)) }) else { return nil }
        self.init(kind, parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    }

    var name: String { number == 0 ? kind.rawValue : "\(kind.rawValue)/\(number)" }
}

/// What may have gone wrong without a fault of the hub.
struct Excuses {
    /// Devices of which no process served for seconds.
    var away: Set<Kind> = []
    /// Deaths of devices' own doing, weighted as the policy weighs them.
    var strikes = 0
    /// A device turned no more, or could not start for a while.
    var delays = false
    /// A process turned no more.
    var spins = false
    /// A device was given up until somebody restarted it.
    var refusals = false
}

/// The policy of supervision at work: it hears of deaths and of the clock, and what it says is done
/// to the processes and told to the hub, as the host does it.
extension World: HubObserver {
    var seconds: Double { Double(clock) / 1e9 }

    func tell(_ event: PolicyEvent) {
        for action in policy.handle(event, at: seconds) { carryOut(action) }
    }

    private func carryOut(_ action: PolicyAction) {
        switch action {
        case .spawn(let device, let incarnation, let isCell):
            guard let seat = Seat(device), let slot = slot(of: device) else { return }
            if !isCell { hub.expect(slot, seat: seat.number) }
            starts.append(Start(seat: seat, incarnation: incarnation, isCell: isCell))
        case .drain(let device, let incarnation):
            process(device, incarnation)?.isDraining = true
        case .term(let device, let incarnation): end(device, incarnation, "TERM")
        case .kill(let device, let incarnation): end(device, incarnation, "KILL")
        // Whoever turns answers before the next tick.
        case .ping: break
        case .cancel(let device, let incarnation, let visit):
            guard let process = process(device, incarnation) else { return }
            hub.attemptOver(process.peer, visit: visit)
        case .settle(_, _, let visit, let verdict):
            verdicts[visit] =
                switch verdict {
                case .replay: .replay
                case .lost: .lost
                case .poisoned: .poisoned
                case .cell: .cell
                }
        case .buried(let device, let incarnation, let death, _):
            bury(device, incarnation, death)
        case .cellLost(let device, let failed):
            if let slot = slot(of: device) { hub.cellLost(slot, failed: failed) }
        case .refuse(let device, let state):
            guard let slot = slot(of: device), let seat = Seat(device) else { return }
            note("\(device) is \(state)")
            excuses.refusals = true
            excuses.away.insert(seat.kind)
            hub.refuse(slot, seat: seat.number, state.rawValue)
        case .show(let device, let state, let reason):
            note("\(device) is shown \(state) \(reason)")
            guard state == .waiting, let seat = Seat(device) else { return }
            excuses.delays = true
            excuses.away.insert(seat.kind)
        case .swapFailed, .swapDropped, .refused, .exit: break
        }
    }

    private func slot(of seat: String) -> DeviceSlot? {
        Seat(seat).flatMap { hub.devices[$0.kind.rawValue] }
    }

    private func process(_ device: String, _ incarnation: Int) -> SimProcess? {
        processes.first { $0.seat.name == device && $0.number == incarnation }
    }

    /// A signal is under way to a process, or to one that has not come up yet.
    private func end(_ device: String, _ incarnation: Int, _ signal: String) {
        let pending = starts.firstIndex {
            $0.seat.name == device && $0.incarnation == incarnation
        }
        if let pending {
            notices.append(.unborn(starts.remove(at: pending)))
        } else if let process = process(device, incarnation),
            !process.isStopped || signal == "KILL"
        {
            process.doom = ExitReason(signal: signal)
        }
    }

    private func bury(_ device: String, _ incarnation: Int, _ death: Death) {
        slot(of: device)?.charged = policy.watchesReturns(device)
        guard let process = process(device, incarnation) else { return }
        let settled = verdicts
        verdicts = [:]
        hub.lost(process.peer, begun: death.begun, reason: death.description) {
            settled[$0] ?? .replay
        }
    }

    // MARK: - What the hub asks

    func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {
        tell(
            .returned(
                device: device, incarnation: incarnation,
                key: VisitKey(symbol: symbol, digest: digest)))
        slot(of: device)?.charged = policy.watchesReturns(device)
    }

    func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate {
        switch policy.verdict(device, VisitKey(symbol: symbol, digest: digest)) {
        case .free: .free
        case .cell: .cell
        case .poisoned: .poisoned
        }
    }

    // The hub is in the middle of an event: the policy is told after it.

    func cellWanted(device: String) {
        errands.append(.cell(device))
    }

    func elderEmptied(device: String, incarnation: Int) {
        errands.append(.drained(device: device, incarnation: incarnation))
    }

    func outdated(device: String, incarnation: Int) {
        errands.append(.outdated(device: device, incarnation: incarnation))
    }

    func cellEmptied(device: String, incarnation: Int) {
        errands.append(.emptied(device: device, incarnation: incarnation))
    }

    /// A flow meets one build of a device, as long as the process lives that it has met.
    func delivered(_ order: borrowing VisitOrder, to process: SimProcess) {
        let number = order.flow
        if !process.isCell, let flow = hub.flows.first(where: { $0.number == number }) {
            if let met = met[flow.root]?[process.kind], met.program != process.program,
                met.canServe
            {
                breach("\(flow.symbol.name) left \(met.seat.name) for another build")
            }
            met[flow.root, default: [:]][process.kind] = process
        }
        checkCharges(order, process)
    }

    /// A visit that may end its process is given to no process that serves others.
    private func checkCharges(_ order: borrowing VisitOrder, _ process: SimProcess) {
        guard !process.isCell, order.asker == nil, policy.hasCharges(process.seat.name) else {
            return
        }
        let key = VisitKey(symbol: process.names[order.symbol], digest: Digest.of(order.value))
        let number = order.flow
        guard policy.verdict(process.seat.name, key) != .free,
            hub.flows.first(where: { $0.number == number })?.trial != .ordinary
        else { return }
        breach("\(key.symbol) is suspect and came to \(process.seat.name)#\(process.number)")
    }

    // MARK: - Processes

    func swap(_ kind: Kind) {
        let before = starts.count
        // What starts from now on may be another build.
        if Bool.random(using: &chance) { builds[kind, default: 0] += 1 }
        tell(.swap(kind.rawValue))
        if starts.count > before { swaps += 1 }
    }

    func harm(_ victim: SimProcess, _ fault: Fault) {
        switch fault {
        case .stop: victim.isStopped = true
        case .spin:
            victim.spin()
            excuses.strikes += PolicyNumbers.hangWeight
            excuses.delays = true
            excuses.spins = true
            excuses.away.insert(victim.kind)
        case .cut:
            victim.isCut = true
            excuses.strikes += 1
            notices.append(.closed(victim))
        case .exit:
            excuses.strikes += 1
            die(victim, ExitReason(code: 3))
        default: die(victim, ExitReason(signal: "KILL"))
        }
        // The first victim of a device that has an outage before it stays away.
        if outages[victim.kind] == 0, !victim.isAlive {
            outages[victim.kind] = clock + 12 * World.second
            excuses.delays = true
            excuses.away.insert(victim.kind)
        }
    }

    func die(_ process: SimProcess, _ exit: ExitReason) {
        note("\(process.seat.name)#\(process.number) dies: \(exit)")
        process.isAlive = false
        process.exit = exit
        notices += [.closed(process), .reaped(process)]
    }

    func comeUp(_ start: Start) {
        let device = start.seat.name
        if clock < outages[start.seat.kind, default: 0] {
            return tell(
                .unspawned(
                    device: device, incarnation: start.incarnation, error: "EAGAIN",
                    detail: "no means"))
        }
        if start.isCell ? Int.random(in: 0..<6, using: &chance) == 0 : badStarts > 0 {
            // Whom a signal ended is tried again, and who exits would always do so.
            let isOwn = !start.isCell || Bool.random(using: &chance)
            if !start.isCell { badStarts -= 1 }
            return tell(
                .died(
                    device: device, incarnation: start.incarnation,
                    exit: isOwn ? ExitReason(code: 1) : ExitReason(signal: "KILL"), page: nil,
                    load: ProcessLoad()))
        }
        born += 1
        cells += start.isCell ? 1 : 0
        do {
            let process = try SimProcess(self, start, born: born)
            processes.append(process)
            tell(
                .ready(
                    device: device, incarnation: start.incarnation, until: hub.longestDeadline))
            process.isReady = true
            hub.ready(process.peer)
        } catch {
            breach("\(device) was refused: \(error)")
        }
    }

    func take(_ index: Int) {
        switch notices.remove(at: index) {
        case .closed(let process):
            hub.away(process.peer)
            tell(.cableClosed(device: process.seat.name, incarnation: process.number))
        case .reaped(let process):
            // The host reads the cable dry; the hub must not rely on it.
            if Bool.random(using: &chance) { process.readDry() }
            tell(
                .died(
                    device: process.seat.name, incarnation: process.number,
                    exit: process.exit, page: process.page, load: load(of: process, true)))
        case .unborn(let start):
            tell(
                .died(
                    device: start.seat.name, incarnation: start.incarnation,
                    exit: ExitReason(signal: "KILL"), page: nil, load: ProcessLoad()))
        }
    }

    /// What the policy reads at a tick.
    func readings() -> [ProcessReading] {
        processes.filter(\.isAlive).map { process in
            ProcessReading(
                device: process.seat.name, incarnation: process.number, page: process.page,
                stopped: process.isStopped, load: load(of: process, false))
        }
    }

    private func load(of process: SimProcess, _ digests: Bool) -> ProcessLoad {
        func moment(_ seen: UInt64) -> Double { seconds - Double(hub.seen - seen) / 1e9 }
        let open = hub.open(process.peer, digests: digests).map {
            OpenVisit(
                id: $0.number, symbol: $0.symbol, digest: $0.digest, limit: $0.limit,
                replayable: $0.replayable, deliveredAt: moment($0.since), cancelled: $0.cancelled)
        }
        return ProcessLoad(
            open: open, lastHeard: process.hear(at: seconds),
            lastReply: moment(process.peer.lastReply), highest: process.peer.deliveries)
    }

    func checkProcesses() {
        for process in processes where process.isAlive && process.isFree && !process.isDraining {
            if process.isCell {
                breach("a cell is left")
            } else if policy.main(of: process.seat.name) != process.number {
                breach("the old \(process.kind) of a swap is left")
            }
        }
        for cell in processes where cell.isCell && cell.orders > 1 {
            breach("a cell got a second visit")
        }
        for device in hub.devices.values {
            if device.cellsBusy != 0, !processes.contains(where: { $0.isCell && !$0.isFree }) {
                breach("\(device.name) has \(device.cellsBusy) busy cells")
            }
            if !device.apart.isEmpty { breach("\(device.name) still has visits apart") }
        }
    }
}
