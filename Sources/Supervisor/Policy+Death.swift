// A death: who pays for it, when the next start is, and what becomes of the visits.

/// Who pays for a death; the first that fits.
enum Payer: Sendable {
    case wanted
    case outside
    case visit
    case start
    case finished
    case own

    init(_ process: PolicyProcess, _ exit: ExitReason, hasSuspects: Bool) {
        self =
            if process.cause?.isAsked == true {
                .wanted
            } else if process.cause == .stopped {
                .outside
            } else if process.cause == nil, !exit.memory, !exit.processorTime,
                PolicyNumbers.outside.contains(exit.signal)
            {
                .outside
            } else if hasSuspects {
                .visit
            } else if !process.wasReady {
                .start
            } else if process.cause == nil, exit.signal.isEmpty, exit.code == 0 {
                .finished
            } else {
                .own
            }
    }
}

/// When the next start is.
enum Price {
    case after(Double)
    case failed
    case done
}

extension PolicyDevice {
    mutating func died(
        _ index: Int, _ exit: ExitReason, _ page: PageReading?, _ load: ProcessLoad,
        _ turn: inout PolicyTurn
    ) {
        let process = processes.remove(at: index)
        let page = Self.sound(page, highest: load.highest)
        let accused = Self.suspects(load.open, page)
        let payer = Payer(process, exit, hasSuspects: !accused.isEmpty)
        let death = Death(
            exit: exit, cause: process.cause, begun: page?.begun ?? .max,
            running: page?.running ?? 0)
        // How it died after it was refused tells nobody anything.
        var reason = process.mismatch?.reason ?? death.description
        switch payer {
        case .visit: charge(process, accused, &turn)
        case .outside: suspect(process, accused, page, &turn)
        case .wanted, .start, .finished, .own: break
        }
        settle(process, load.open, page, payer, accused, &turn)
        turn.act(
            .buried(
                device: name, incarnation: process.incarnation, death,
                cell: process.role == .cell))
        if process.isOfSwap, !process.wasReady {
            failSwap(process, payer, &reason, &turn)
        }
        guard turn.isUp else { return }
        if process.role == .cell { cellDied(process, payer, reason, &turn) }
        let isHopeless = payer == .start && process.mismatch?.heals == false
        goOn(payer, reason, isHopeless: isHopeless, &turn)
    }

    /// Who waits for the swap is told, and so are the other seats: what did not start here would
    /// not there. An heir that took the place of the old one is also its restart, and paid for as
    /// one.
    private func failSwap(
        _ process: PolicyProcess, _ payer: Payer, _ reason: inout String, _ turn: inout PolicyTurn
    ) {
        let isRestart = process.role == .main
        guard isRestart ? payer == .start : payer != .wanted else { return }
        turn.act(.swapFailed(device: name, reason: reason, servesOn: isServing))
        if isRestart { reason = PolicyAction.shown(failedSwap: reason) }
    }

    private mutating func goOn(
        _ payer: Payer, _ reason: String, isHopeless: Bool, _ turn: inout PolicyTurn
    ) {
        if !wanted {
            if processes.isEmpty { rest(.off, .stopped, "stopped", &turn) }
            return
        }
        // A cell, an elder, or an heir that failed, is not missed.
        guard status == .live, index(.main) == nil else { return }
        if let heir = index(.heir), processes[heir].phase == .starting {
            // The swap goes on: the heir is the restart.
            processes[heir].role = .main
            show(&turn, .starting, reason)
            return
        }
        if isHopeless { return rest(.failed, .failed, reason, &turn) }
        switch price(payer, &turn) {
        case .after(let seconds): again(after: seconds, reason, &turn)
        case .failed: rest(.failed, .failed, reason, &turn)
        case .done: rest(.done, .done, reason, &turn)
        }
    }

    mutating func unspawned(
        _ index: Int, _ error: String, _ detail: String, _ turn: inout PolicyTurn
    ) {
        let process = processes.remove(at: index)
        // There was no process: the number is free for the next one.
        if process.incarnation == last { last -= 1 }
        if process.role == .heir {
            turn.act(.swapFailed(device: name, reason: detail, servesOn: isServing))
        }
        guard turn.isUp else { return }
        if process.role == .cell { cellUnspawned(error, &turn) }
        if !wanted {
            if processes.isEmpty { rest(.off, .stopped, "stopped", &turn) }
        } else if self.index(.main) == nil {
            // Want of means is the host's fault: wait, never give up.
            let wait = PolicyNumbers.shortage.contains(error) ? 0 : count(&turn)
            if let wait {
                again(after: max(wait, PolicyNumbers.pause), detail, &turn)
            } else {
                rest(.failed, .failed, detail, &turn)
            }
        }
    }

    // MARK: Who did it

    /// A page that contradicts the kernel's own table counts as none.
    static func sound(_ page: PageReading?, highest: UInt64) -> PageReading? {
        guard let page, page.running <= page.begun, page.begun <= highest else { return nil }
        return page
    }

    /// The open visits that may have killed it: the one that ran, else all that had begun.
    private static func suspects(_ open: [OpenVisit], _ page: PageReading?) -> [OpenVisit] {
        guard let page else { return open }
        if let running = open.first(where: { $0.id == page.running }) { return [running] }
        return open.filter { $0.id <= page.begun }
    }

    /// What becomes of the visits that the dead process held, once and after the death.
    private func settle(
        _ process: PolicyProcess, _ open: [OpenVisit], _ page: PageReading?, _ payer: Payer,
        _ accused: [OpenVisit], _ turn: inout PolicyTurn
    ) {
        let guilty = payer == .visit ? Set(accused.map(\.id)) : []
        for visit in open {
            let begun = page.map { visit.id <= $0.begun } ?? true
            let fate: VisitVerdict =
                if begun, !visit.replayable {
                    .lost
                } else if !guilty.contains(visit.id) {
                    .replay
                } else if verdict(visit.key, at: turn.seen) == .poisoned {
                    .poisoned
                } else {
                    .cell
                }
            turn.act(
                .settle(
                    device: name, incarnation: process.incarnation, visit: visit.id, fate))
        }
    }

    // MARK: Who pays

    func verdict(_ key: VisitKey, at seen: Double) -> DeliveryVerdict {
        guard let charge = ledger.charges[key], charge.until >= seen else { return .free }
        return charge.weight >= PolicyNumbers.strikes ? .poisoned : .cell
    }

    /// Charges a death to the visit; with several suspects nobody is charged, and each is tried in
    /// a cell.
    private mutating func charge(
        _ process: PolicyProcess, _ accused: [OpenVisit], _ turn: inout PolicyTurn
    ) {
        let weight = process.cause == .hang ? PolicyNumbers.hangWeight : 1
        for visit in accused {
            var old = ledger.charges[visit.key]?.weight ?? 0
            if let charge = ledger.charges[visit.key], charge.until < turn.seen { old = 0 }
            ledger.charges[visit.key] = Charge(
                weight: old + (accused.count == 1 ? weight : 0),
                until: turn.seen + PolicyNumbers.memory)
        }
        forgetOldCharges()
        visited.append(turn.seen)
        visited = Array(visited.suffix(PolicyNumbers.visits.count + 1))
        if accused.count == 1 { ledger.dead.insert(accused[0].key) }
    }

    /// A death from outside charges nobody. But a visit whose process dies so again and again may
    /// be the one who sends the signal, or stops it: it is tried apart, so that it holds up no
    /// other.
    private mutating func suspect(
        _ process: PolicyProcess, _ accused: [OpenVisit], _ page: PageReading?,
        _ turn: inout PolicyTurn
    ) {
        for visit in accused {
            let isStopper = process.cause == .stopped && visit.id == page?.running
            let known = ledger.coincidences[visit.key]?.weight ?? 0
            let weight = isStopper ? PolicyNumbers.coincidences : known + 1
            ledger.coincidences[visit.key] = Charge(
                weight: weight, until: turn.seen + PolicyNumbers.coincidence)
            guard weight >= PolicyNumbers.coincidences, ledger.charges[visit.key] == nil else {
                continue
            }
            ledger.charges[visit.key] = Charge(weight: 0, until: turn.seen + PolicyNumbers.memory)
        }
        forgetOldCharges()
        if ledger.coincidences.count > PolicyNumbers.charges { ledger.coincidences = [:] }
    }

    private mutating func forgetOldCharges() {
        let surplus = ledger.charges.count - PolicyNumbers.charges
        guard surplus > 0 else { return }
        let oldest = ledger.charges.sorted { $0.value.until < $1.value.until }.prefix(surplus)
        for (key, _) in oldest { ledger.charges[key] = nil }
    }

    /// Puts a death on the budget: the seconds to wait, or nil if the device is given up.
    mutating func count(_ turn: inout PolicyTurn) -> Double? {
        if let healthy {
            // A year of health would do as well as any; the bound keeps the conversion safe.
            let steps = min((turn.seen - healthy) / PolicyNumbers.health, 1_000_000)
            level = max(0, level - Int(steps.rounded(.down)))
        }
        healthy = nil
        barren += 1
        counted.append(turn.seen)
        counted = Array(counted.suffix(PolicyNumbers.long.count))
        if Self.exceeds(counted, turn.seen, PolicyNumbers.short, atLimit: true)
            || Self.exceeds(counted, turn.seen, PolicyNumbers.long, atLimit: true)
            || barren >= PolicyNumbers.barren
        {
            return nil
        }
        let wait = PolicyNumbers.backoff[min(level, PolicyNumbers.backoff.count - 1)]
        level += 1
        return wait
    }

    static func exceeds(
        _ times: [Double], _ seen: Double, _ rate: PolicyNumbers.Rate, atLimit: Bool = false
    ) -> Bool {
        let count = times.count { seen - $0 < rate.span }
        return atLimit ? count >= rate.count : count > rate.count
    }

    private mutating func price(_ payer: Payer, _ turn: inout PolicyTurn) -> Price {
        switch payer {
        case .wanted:
            return .after(0)
        case .outside:
            outside.append(turn.seen)
            outside = Array(outside.suffix(PolicyNumbers.burst.count + 1))
            let tooMany = Self.exceeds(outside, turn.seen, PolicyNumbers.burst)
            return .after(tooMany ? PolicyNumbers.pause : 0)
        case .visit where ledger.dead.count < PolicyNumbers.distinct:
            let tooMany = Self.exceeds(visited, turn.seen, PolicyNumbers.visits)
            return .after(tooMany ? PolicyNumbers.pause : 0)
        case .finished where profile.restart == .transient:
            return .done
        case .visit, .start, .finished, .own:
            return count(&turn).map { .after($0) } ?? .failed
        }
    }
}
