// Beginnings and ends of one device's processes.

extension PolicyDevice {
    mutating func show(_ turn: inout PolicyTurn, _ state: DeviceState, _ reason: String = "") {
        if let shown, shown == (state, reason) { return }
        shown = (state, reason)
        turn.act(.show(device: name, state, reason: reason))
    }

    mutating func spawn(
        _ turn: inout PolicyTurn, _ role: ProcessRole = .main, because reason: String = ""
    ) {
        last += 1
        processes.append(
            PolicyProcess(
                incarnation: last, role: role, isOfSwap: role == .heir,
                due: turn.seen + profile.startLimit, moved: turn.seen))
        if role != .cell {
            due = nil
            status = .live
        }
        turn.act(.spawn(device: name, incarnation: last, cell: role == .cell))
        if role == .main { show(&turn, .starting, reason) }
    }

    /// One step of an end.
    mutating func enter(
        _ turn: inout PolicyTurn, _ process: Int, _ phase: ProcessPhase, _ cause: EndCause? = nil,
        seconds: Double? = nil
    ) {
        let incarnation = processes[process].incarnation
        let usual: Double
        switch phase {
        case .starting, .ready, .finishing: usual = 0
        case .draining:
            usual = profile.drain
            turn.act(.drain(device: name, incarnation: incarnation))
        case .terminating:
            usual = profile.term
            turn.act(.term(device: name, incarnation: incarnation))
        case .parting: usual = PolicyNumbers.part
        case .killing:
            usual = PolicyNumbers.reap
            turn.act(.kill(device: name, incarnation: incarnation))
        case .stuck: usual = PolicyNumbers.stuck
        }
        processes[process].phase = phase
        processes[process].due = turn.seen + (seconds ?? usual)
        if let cause, cause.isAsked || processes[process].cause == nil {
            processes[process].cause = cause
        }
    }

    /// Begins the end of every process; one that is ending already goes on as it was.
    mutating func end(_ cause: EndCause, _ turn: inout PolicyTurn) {
        for process in processes.indices {
            switch processes[process].phase {
            case .starting, .parting: enter(&turn, process, .killing, cause)
            case .ready, .finishing: enter(&turn, process, .draining, cause)
            case .draining, .terminating, .killing, .stuck: processes[process].cause = cause
            }
        }
    }

    /// It is not coming back by itself: who waits for it is told now.
    mutating func rest(
        _ status: Status, _ state: DeviceState, _ reason: String, _ turn: inout PolicyTurn
    ) {
        self.status = status
        due = nil
        if profile.device != name {
            // They may be had of another seat.
            for _ in 0..<cellsWanted { turn.act(.cellLost(device: name, failed: false)) }
        }
        cellsWanted = 0
        turn.act(.refuse(device: name, state))
        show(&turn, state, reason)
    }

    mutating func again(after seconds: Double, _ reason: String, _ turn: inout PolicyTurn) {
        if seconds <= 0 {
            spawn(&turn, because: reason)
        } else {
            status = .waiting
            due = turn.seen + seconds
            show(&turn, .waiting, reason)
        }
    }

    // MARK: What processes say

    mutating func becameReady(_ process: Int, _ until: Double, _ turn: inout PolicyTurn) {
        guard processes[process].phase == .starting else { return }
        processes[process].phase = .ready
        processes[process].due = nil
        processes[process].wasReady = true
        processes[process].stopped = nil
        processes[process].moved = turn.seen
        processes[process].replied = turn.seen
        if processes[process].role == .cell { return }
        barren = 0
        if healthy == nil { healthy = turn.seen }
        if processes[process].role == .heir {
            let old = index(.main)
            processes[process].role = .main
            if let old {
                processes[old].role = .elder
                if processes[old].phase == .ready {
                    enter(&turn, old, .finishing, .swap, seconds: until)
                }
            }
        }
        show(&turn, .ready)
        startCells(&turn)
    }

    mutating func drained(_ process: Int, _ turn: inout PolicyTurn) {
        guard processes[process].phase == .finishing else { return }
        enter(&turn, process, .draining, .swap)
    }

    mutating func mismatched(_ process: Int, _ reason: String, heals: Bool) {
        guard processes[process].phase == .starting else { return }
        processes[process].mismatch = (reason, heals)
    }

    /// Not a death: that comes by the handle.
    mutating func cableClosed(_ process: Int, _ turn: inout PolicyTurn) {
        switch processes[process].phase {
        case .starting, .ready, .finishing: enter(&turn, process, .parting)
        case .draining, .terminating, .parting, .killing, .stuck: break
        }
    }

    /// A visit returned: the device serves, and such a visit can be served.
    mutating func returned(_ key: VisitKey) {
        ledger.dead = []
        ledger.charges[key] = nil
        ledger.coincidences[key] = nil
    }
}
