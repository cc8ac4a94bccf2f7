// The tick: deadlines, and whether who runs is alive. Verdicts are only on what the reading shows
// now; the clocks of a process stand while it is traced or stopped, and start afresh when it goes
// on.

extension Policy {
    mutating func tick(_ readings: [ProcessReading], _ turn: inout PolicyTurn) {
        for at in devices.indices {
            let name = devices[at].name
            devices[at].dropExpiredCharges(turn.seen)
            if let due = devices[at].due, turn.seen >= due { devices[at].spawn(&turn) }
            devices[at].startCells(&turn)
            for process in devices[at].processes.indices {
                let incarnation = devices[at].processes[process].incarnation
                let reading = readings.first { $0.incarnation == incarnation && $0.device == name }
                devices[at].look(at: process, reading, &turn)
            }
        }
    }
}

extension PolicyDevice {
    mutating func dropExpiredCharges(_ seen: Double) {
        if !ledger.charges.isEmpty {
            ledger.charges = ledger.charges.filter { $0.value.until >= seen }
        }
        if !ledger.coincidences.isEmpty {
            ledger.coincidences = ledger.coincidences.filter { $0.value.until >= seen }
        }
    }

    mutating func look(at index: Int, _ reading: ProcessReading?, _ turn: inout PolicyTurn) {
        if let reading { processes[index].take(reading.load, turn.time) }
        if processes[index].phase == .starting, let reading {
            processes[index].stopped = reading.stopped ? turn.seen : nil
            // A debugger stops the clock.
            if reading.traced { processes[index].due = turn.seen + profile.startLimit }
        }
        if let due = processes[index].due, turn.seen >= due { expire(index, &turn) }
        switch processes[index].phase {
        case .ready, .finishing:
            if let reading { judge(index, reading, &turn) }
        case .starting, .draining, .terminating, .parting, .killing, .stuck: break
        }
    }

    private mutating func expire(_ index: Int, _ turn: inout PolicyTurn) {
        switch processes[index].phase {
        case .starting:
            enter(&turn, index, .killing, processes[index].stopped == nil ? .start : .stopped)
        case .parting:
            enter(&turn, index, .killing, .cable)
        case .killing, .stuck:
            enter(&turn, index, .stuck)
            show(&turn, .unkillable, "incarnation \(processes[index].incarnation)")
        case .finishing, .draining, .terminating, .ready:
            enter(&turn, index, processes[index].phase.next)
        }
    }

    // MARK: Is it alive?

    private mutating func judge(
        _ index: Int, _ reading: ProcessReading, _ turn: inout PolicyTurn
    ) {
        if reading.traced || reading.stopped {
            judgeHeld(index, isTraced: reading.traced, &turn)
            return
        }
        if processes[index].stopped != nil || processes[index].traced {
            processes[index].startAfresh(turn.seen)
        }
        let open = reading.load.open
        let page = Self.sound(reading.page, highest: reading.load.highest)
        let hung =
            if let page {
                processes[index].isHung(page, open, turn.seen)
            } else {
                isHungWithoutPage(index, open, &turn)
            }
        if hung {
            enter(&turn, index, .killing, .hang)
            return
        }
        showLiveness(index, page, &turn)
        cancelOverdue(index, page, open, &turn)
    }

    /// A stopped process is only shown, until it holds a visit for too long; a traced one is never
    /// judged.
    private mutating func judgeHeld(_ index: Int, isTraced: Bool, _ turn: inout PolicyTurn) {
        processes[index].traced = isTraced
        if processes[index].role == .main {
            show(&turn, .late, isTraced ? "traced" : "stopped")
        }
        if isTraced {
            processes[index].stopped = nil
            processes[index].moved = turn.seen
            processes[index].resetVisits(turn.seen)
            return
        }
        let since = processes[index].stopped ?? turn.seen
        processes[index].stopped = since
        if let first = processes[index].visits.values.lazy.map(\.at).min(),
            turn.seen - max(since, first) >= PolicyNumbers.stopped
        {
            enter(&turn, index, .killing, .stopped)
            return
        }
        processes[index].moved = turn.seen
    }

    private mutating func isHungWithoutPage(
        _ index: Int, _ open: [OpenVisit], _ turn: inout PolicyTurn
    ) -> Bool {
        if processes[index].turns != nil {
            processes[index].turns = nil
            processes[index].moved = turn.seen
            processes[index].pinged = nil
            processes[index].pageBroke = true
        }
        processes[index].markBegun(through: .max, nil)
        let limit = open.lazy.map(\.limit).max() ?? PolicyNumbers.hang
        let first = processes[index].visits.values.lazy.map(\.at).min() ?? 0
        let patience = open.isEmpty ? PolicyNumbers.quiet : PolicyNumbers.tick
        if processes[index].pinged == nil, turn.seen - processes[index].moved >= patience {
            processes[index].pinged = turn.seen
            turn.act(.ping(device: name, incarnation: processes[index].incarnation))
        }
        // Never without having asked.
        guard let pinged = processes[index].pinged else { return false }
        return turn.seen - max(pinged, first) >= limit
    }

    private mutating func showLiveness(
        _ index: Int, _ page: PageReading?, _ turn: inout PolicyTurn
    ) {
        guard processes[index].phase == .ready, processes[index].role == .main else { return }
        let isIdle = page?.asleep ?? true
        if !isIdle, turn.seen - processes[index].moved >= PolicyNumbers.lateShown {
            show(&turn, .late, "it does not turn")
        } else {
            let reason = processes[index].pageBroke ? "its status page is not usable" : ""
            show(&turn, .ready, reason)
        }
    }

    /// It turns: what takes too long is only cancelled.
    private mutating func cancelOverdue(
        _ index: Int, _ page: PageReading?, _ open: [OpenVisit], _ turn: inout PolicyTurn
    ) {
        for visit in open {
            guard let memory = processes[index].visits[visit.id], memory.begun, !memory.cancelled
            else { continue }
            let since = page == nil ? max(memory.at, processes[index].replied) : memory.at
            guard turn.seen - since >= visit.limit else { continue }
            processes[index].visits[visit.id]?.cancelled = true
            turn.act(
                .cancel(
                    device: name, incarnation: processes[index].incarnation, visit: visit.id))
        }
    }
}

extension PolicyProcess {
    /// Takes the hub's table over: visits that left are forgotten, new ones start their clocks.
    mutating func take(_ load: ProcessLoad, _ time: SeenTime) {
        if load.lastHeard > heardRaw {
            heardRaw = load.lastHeard
            // A page tells more: who writes for ever and reads nothing does not turn.
            if turns == nil { moved = max(moved, time.seen(at: load.lastHeard)) }
            pinged = nil
        }
        if load.lastReply > repliedRaw {
            repliedRaw = load.lastReply
            replied = max(replied, time.seen(at: load.lastReply))
        }
        if visits.isEmpty, load.open.isEmpty { return }
        var held: [UInt64: VisitMemory] = [:]
        held.reserveCapacity(load.open.count)
        for visit in load.open {
            let at = time.seen(at: visit.deliveredAt)
            var memory = visits[visit.id] ?? VisitMemory(at: at)
            // The hub moves it on while the visit waits for the kernel, and at each answer.
            memory.at = max(memory.at, at)
            memory.cancelled = memory.cancelled || visit.cancelled
            held[visit.id] = memory
        }
        visits = held
    }

    /// Continued or let go: every clock starts afresh.
    mutating func startAfresh(_ seen: Double) {
        stopped = nil
        traced = false
        moved = seen
        pinged = nil
        resetVisits(seen)
    }

    mutating func resetVisits(_ seen: Double) {
        for id in Array(visits.keys) { visits[id]?.at = seen }
    }

    /// Visits up to `highest` have begun; their clocks start at `seen`, when that is first known.
    mutating func markBegun(through highest: UInt64, _ seen: Double?) {
        for (id, memory) in visits where !memory.begun && id <= highest {
            visits[id]?.begun = true
            if let seen { visits[id]?.at = seen }
        }
    }

    mutating func isHung(_ page: PageReading, _ open: [OpenVisit], _ seen: Double) -> Bool {
        if page.turns != turns {
            turns = page.turns
            moved = seen
        }
        if page.begun != begun.highest { begun = (page.begun, seen) }
        markBegun(through: page.begun, seen)
        if let visit = open.first(where: { $0.id == page.running }),
            let memory = visits[page.running]
        {
            return seen - max(moved, memory.at) >= visit.limit
        }
        // Idle is healthy, deaf is not.
        if page.asleep {
            let unread = visits.values.filter { !$0.begun && $0.at > moved }
            guard let first = unread.lazy.map(\.at).min() else { return false }
            return seen - first >= PolicyNumbers.hang
        }
        // One turn may run many visits that do not wait.
        return seen - max(moved, begun.at) >= PolicyNumbers.hang
    }
}
