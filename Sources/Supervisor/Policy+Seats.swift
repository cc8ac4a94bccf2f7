// Devices with several seats: a swap goes from one to the next, and a seat whose build is not that
// of the others follows them.

/// A swap that is to come.
struct Rollout: Sendable {
    /// The seat.
    let at: Int
    /// Nobody has asked for it: another seat runs a newer build than this process of it. Once it
    /// does not serve any more, by whatever swap or start, there is nothing to follow.
    var outdated: Int?

    var isFollowing: Bool { outdated != nil }
}

extension Policy {
    /// An operator's word about one seat, or about all of a device.
    mutating func swap(_ name: String, _ seats: [Int], _ turn: inout PolicyTurn) {
        guard let first = seats.first else { return }
        guard siblings(of: first).count > 1 else { return change(first) { $0.swap(&turn) } }
        let isUnderWay = seats.contains { at in
            devices[at].isSwapping || rollouts.contains { $0.at == at }
        }
        guard !isUnderWay else {
            return turn.act(.refused(device: name, reason: "a swap is under way"))
        }
        for at in seats {
            if devices[at].isServing {
                devices[at].asked = .swap
                rollouts.append(Rollout(at: at))
            } else {
                // It is a restart, which nobody has to wait for.
                change(at) { $0.swap(&turn) }
            }
        }
    }

    /// A seat runs another build than the flows that begin now.
    mutating func follow(_ at: Int, _ process: Int) {
        guard phase == .up, devices[at].processes[process].role == .main,
            siblings(of: at).count > 1, !rollouts.contains(where: { $0.at == at })
        else { return }
        rollouts.append(Rollout(at: at, outdated: devices[at].processes[process].incarnation))
    }

    /// Begins the next swap as soon as no seat of its device starts any more.
    mutating func rollOn(_ turn: inout PolicyTurn) {
        guard phase == .up else { return rollouts = [] }
        let failed = turn.actions.compactMap { action in
            if case .swapFailed(let name, _, _) = action { name } else { nil }
        }
        var later: [Rollout] = []
        for rollout in rollouts {
            let at = rollout.at
            // What does not start in one seat would not in the next.
            if let seat = failed.first(where: { areSiblings($0, at) }) {
                if !rollout.isFollowing {
                    turn.act(.swapDropped(device: devices[at].name, failed: seat))
                }
                continue
            }
            // The next process of a seat that does not serve is of the new build anyway.
            guard devices[at].isServing, !devices[at].hasReplaced(rollout.outdated) else {
                continue
            }
            guard !devices[at].isSwapping,
                !siblings(of: at).contains(where: { devices[$0].isStarting }),
                !rollout.isFollowing || devices[at].mayFollow(turn.seen)
            else {
                later.append(rollout)
                continue
            }
            let asked = devices[at].asked
            change(at) { $0.swap(&turn) }
            if rollout.isFollowing {
                devices[at].followed = turn.seen
                // Nobody has said it.
                devices[at].asked = asked
            }
        }
        rollouts = later
    }

    private func areSiblings(_ name: String, _ at: Int) -> Bool {
        siblings(of: at).contains { devices[$0].name == name }
    }

    /// A visit waits for a cell: a seat that serves starts it, the one with the fewest processes.
    mutating func wantCell(_ seats: [Int], _ turn: inout PolicyTurn) {
        func rank(_ at: Int) -> (Int, Int) {
            (devices[at].isServing ? 0 : devices[at].isAwaited ? 1 : 2, devices[at].processes.count)
        }
        guard let at = seats.min(by: { rank($0) < rank($1) }) else { return }
        change(at) { $0.wantCell(&turn) }
    }
}

extension PolicyDevice {
    /// A process of it is ready and is to stay.
    var isServing: Bool {
        guard wanted, let main = index(.main) else { return false }
        return processes[main].phase == .ready
    }

    /// Another process serves in its place already.
    func hasReplaced(_ outdated: Int?) -> Bool {
        guard let outdated, let main = index(.main) else { return false }
        return processes[main].incarnation != outdated
    }

    var isAwaited: Bool { wanted && (status == .live || status == .waiting) }

    var isSwapping: Bool { index(.heir) != nil || index(.elder) != nil }

    /// A process of it is not ready yet. One whose cable has closed is until its death is known.
    var isStarting: Bool {
        processes.contains { $0.role != .cell && !$0.wasReady }
    }

    /// Two builds that announce something else at each start do not swap each other for ever.
    func mayFollow(_ seen: Double) -> Bool {
        followed.map { seen - $0 >= PolicyNumbers.follow } ?? true
    }
}
