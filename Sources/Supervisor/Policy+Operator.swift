// The operator's words about one device, and what happens to the whole house.

extension PolicyDevice {
    mutating func stop(_ turn: inout PolicyTurn) {
        wanted = false
        asked = .stop
        // Another process of it may be alive while its next start is waited for.
        due = nil
        end(.stop, &turn)
        if !processes.isEmpty {
            show(&turn, .draining, "stop")
        } else if status != .off {
            rest(.off, .stopped, "stopped", &turn)
        }
    }

    mutating func start(_ turn: inout PolicyTurn) {
        asked = .start
        guard !wanted || status != .live else { return }
        wanted = true
        forgive()
        // With a main process: after its reap.
        if index(.main) == nil { spawn(&turn) } else { status = .live }
    }

    mutating func restart(_ turn: inout PolicyTurn) {
        wanted = true
        asked = .restart
        forgive()
        end(.restart, &turn)
        if index(.main) == nil {
            spawn(&turn)
        } else {
            status = .live
            show(&turn, .draining, "restart")
        }
    }

    mutating func swap(_ turn: inout PolicyTurn) {
        if index(.heir) != nil || index(.elder) != nil {
            turn.act(.refused(device: name, reason: "a swap is under way"))
        } else if let main = index(.main), processes[main].phase == .ready, wanted {
            asked = .swap
            forgive()
            spawn(&turn, .heir)
        } else {
            restart(&turn)
        }
    }

    mutating func kill(_ turn: inout PolicyTurn) {
        guard let main = index(.main) else { return }
        switch processes[main].phase {
        case .killing, .stuck: break
        case .starting, .ready, .finishing, .draining, .terminating, .parting:
            enter(&turn, main, .killing, .kill)
        }
    }
}

extension Policy {
    /// All at once: nobody waits for a sibling.
    mutating func boot(_ turn: inout PolicyTurn) {
        for at in devices.indices
        where devices[at].status == .off && devices[at].processes.isEmpty && devices[at].wanted {
            devices[at].spawn(&turn)
        }
    }

    mutating func shutdown(_ turn: inout PolicyTurn) {
        if phase == .closing { killEverything(&turn) }
        phase = .closing
        for at in devices.indices {
            devices[at].wanted = false
            devices[at].asked = .down
            devices[at].due = nil
        }
    }

    private mutating func killEverything(_ turn: inout PolicyTurn) {
        for at in devices.indices {
            for process in devices[at].processes.indices {
                switch devices[at].processes[process].phase {
                case .killing, .stuck: break
                case .starting, .ready, .finishing, .draining, .terminating, .parting:
                    devices[at].enter(&turn, process, .killing, .stop)
                }
            }
        }
    }

    /// Reverse of start, one after the other.
    mutating func close(_ turn: inout PolicyTurn) {
        for at in devices.indices.reversed() {
            let phases = devices[at].processes.map(\.phase)
            if phases.contains(where: { $0 != .stuck }) {
                if phases.contains(where: { $0.isBeforeItsEnd }) {
                    devices[at].end(.stop, &turn)
                    devices[at].show(&turn, .draining, "stop")
                }
                return
            }
            if devices[at].status != .off {
                let isLeft = !phases.isEmpty
                devices[at].rest(
                    .off, isLeft ? .unkillable : .stopped, isLeft ? "left behind" : "stopped", &turn
                )
            }
        }
        phase = .closed
        turn.act(.exit)
    }
}

extension ProcessPhase {
    /// Nobody has begun to end it, or only its cable has closed.
    var isBeforeItsEnd: Bool {
        switch self {
        case .starting, .ready, .finishing, .parting: true
        case .draining, .terminating, .killing, .stuck: false
        }
    }
}
