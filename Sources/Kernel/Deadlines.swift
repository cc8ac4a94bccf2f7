internal import Control

/// Deadlines: what ends because its time is over, however long whom it waits for stays away.
extension Hub {
    /// Time has passed: ends what is beyond its deadline.
    package func tick() {
        due = .max
        for flow in flows where !flow.ended && flow.running {
            judge(flow)
            guard !flow.ended else { continue }
            // A deadline that has passed has done what it can: what was cancelled has its own time.
            if seen < flow.deadline, flow.ending == nil || flow.last, flow.standsSince == nil {
                due = min(due, flow.deadline)
            }
            if let visit = flow.visit, let settled = settleTime(visit) { due = min(due, settled) }
        }
    }

    private func judge(_ flow: Flow) {
        if let visit = flow.visit, let settled = settleTime(visit), seen >= settled {
            return forget(flow, visit)
        }
        guard seen >= flow.deadline, flow.standsSince == nil else { return }
        if flow.ending == nil {
            return finish(flow, .failure(deadlineError(flow)))
        }
        guard flow.last else { return }
        if let device = flow.waiting ?? (flow.awaiting == nil ? nil : stageSymbol(flow)?.device) {
            leaveQueue(flow)
            lose(finallyOf: flow, "\(device.name) was away for all of its time")
        } else if let visit = flow.visit, visit.cancelled == nil {
            visit.peer.cable.cancel(visit: visit.number)
            flow.visit?.cancelled = seen
            due = min(due, settleTime(flow.visit) ?? .max)
        }
    }

    /// When a cancelled visit is forgotten.
    func settleTime(_ visit: Visit?) -> UInt64? {
        guard let visit, let cancelled = visit.cancelled else { return nil }
        return cancelled + UInt64(visit.symbol.traits.attempt) * 1_000_000 + limits.settleDeadline
    }

    /// A handler that does not even end when it is cancelled: its answer no longer counts.
    private func forget(_ flow: Flow, _ visit: Visit) {
        remove(visit.number, from: visit.peer)
        touch(flow, visit)
        if tracing { keep(forgotten: visit, of: flow) }
        leaveVisit(flow)
        guard flow.last else { return close(flow) }
        lose(finallyOf: flow, visit.abandoned ?? "it took all of its time")
    }

    private func deadlineError(_ flow: Flow) -> KernelError {
        // What its caller lets it run, or what its symbol does, whichever has ended it.
        let isBound = flow.limit == flow.bound && flow.bound > flow.began
        let limit =
            isBound
            ? (flow.bound - flow.began - min(flow.stood, flow.bound - flow.began)) / 1_000_000
            : UInt64(flow.symbol.traits.deadline)
        let place: String
        if let device = flow.waiting {
            place = "it waited for \(device.name), which is away"
        } else if let visit = flow.visit {
            place = "\(visit.symbol.name) had not answered"
        } else {
            place = "it waited for what it had asked"
        }
        return KernelError(
            .deadline, "\(flow.symbol.name) did not end within \(limit) ms: \(place)", retry: true)
    }
}
