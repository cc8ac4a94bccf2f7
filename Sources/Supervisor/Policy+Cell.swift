// Cells: processes of a device beside the one that serves, each for one visit that was in the death
// of another process. Whatever such a visit does, it ends nobody's work but its own.

extension PolicyDevice {
    mutating func wantCell(_ turn: inout PolicyTurn) {
        // A device that rests has refused who waits already.
        guard status == .live || status == .waiting else { return }
        cellsWanted += 1
        startCells(&turn)
    }

    /// Only beside a process that serves: while none can, a cell could not either.
    var startsCells: Bool {
        guard cellsWanted > 0, wanted, status == .live, let main = index(.main) else {
            return false
        }
        return processes[main].phase == .ready
    }

    mutating func startCells(_ turn: inout PolicyTurn) {
        guard startsCells, turn.isUp, turn.seen >= cellsDue ?? 0 else { return }
        cellsDue = nil
        while cellsWanted > 0 {
            cellsWanted -= 1
            spawn(&turn, .cell)
        }
    }

    /// Its visit has left it, or never came.
    mutating func emptied(_ process: Int, _ turn: inout PolicyTurn) {
        guard processes[process].role == .cell else { return }
        switch processes[process].phase {
        case .starting, .parting: enter(&turn, process, .killing, .emptied)
        case .ready, .finishing: enter(&turn, process, .draining, .emptied)
        case .draining, .terminating, .killing, .stuck: break
        }
    }

    /// Its visit is settled already; here is what the death costs the device.
    mutating func cellDied(
        _ process: PolicyProcess, _ payer: Payer, _ reason: String, _ turn: inout PolicyTurn
    ) {
        if !process.wasReady {
            turn.act(.cellLost(device: name, failed: payer == .start || payer == .finished))
        }
        if payer == .outside {
            outside.append(turn.seen)
            outside = Array(outside.suffix(PolicyNumbers.burst.count + 1))
            if Self.exceeds(outside, turn.seen, PolicyNumbers.burst) {
                cellsDue = turn.seen + PolicyNumbers.pause
            }
        }
        guard payer == .visit else { return }
        if ledger.dead.count >= PolicyNumbers.distinct {
            let wait = count(&turn)
            // The count takes it for the process that serves, which is as well as before.
            barren = 0
            if let main = index(.main), processes[main].phase == .ready { healthy = turn.seen }
            guard let wait else { return giveUp(reason, &turn) }
            cellsDue = turn.seen + wait
        } else if Self.exceeds(visited, turn.seen, PolicyNumbers.visits) {
            cellsDue = turn.seen + PolicyNumbers.pause
        }
    }

    /// The host lacks the means: the visit goes on waiting. Anything else does not heal by itself.
    mutating func cellUnspawned(_ error: String, _ turn: inout PolicyTurn) {
        guard PolicyNumbers.shortage.contains(error) else {
            return turn.act(.cellLost(device: name, failed: true))
        }
        cellsWanted += 1
        cellsDue = turn.seen + PolicyNumbers.pause
    }

    /// Whatever it is given ends it: the process that serves is ended, too.
    private mutating func giveUp(_ reason: String, _ turn: inout PolicyTurn) {
        guard status == .live else { return }
        rest(.failed, .failed, reason, &turn)
        end(.stop, &turn)
    }
}
