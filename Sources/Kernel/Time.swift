package import Control
package import Values

/// Deadlines, and what went wrong where nobody waited.
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

    /// Writes an error into `Kernel.Errors`, the oldest being forgotten.
    ///
    /// - Parameter more: what else the entry holds.
    package func report(
        _ symbol: String, _ error: KernelError, flow: UInt64?, _ more: [String: Value] = [:]
    ) {
        let members: [String: Value] = [
            "symbol": .text(symbol.cut(to: limits.errorText)),
            "code": .text(error.code.rawValue.cut(to: limits.errorText)),
            "message": .text(error.message.cut(to: limits.errorText)),
            "flow": flow.map { .text("\(epoch)-\($0)") } ?? .null, "at": .date(wall),
        ]
        errors.append(.map(members.merging(more) { $1 }))
        if errors.count > limits.errors { errors.removeFirst(errors.count - limits.errors) }
        set(region: RegionSlot.errors, .array(errors))
    }

    /// Writes the failure of a command, with the key that its sender has chosen and looks for.
    func report(_ command: Flow, _ error: KernelError) {
        let key = command.path.flatMap { chosenKey(in: $0, command.symbol) }
        report(
            command.symbol.name, error, flow: command.number,
            key.map { ["key": .text($0)] } ?? [:])
    }

    /// Forgets the errors told so far.
    package func dismissErrors() {
        errors = []
        set(region: RegionSlot.errors, .array([]))
    }
}

extension String {
    /// So many bytes of a text from elsewhere, up to the end of a character, and a mark.
    func cut(to bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: bytes)
        while utf8[end] & 0xC0 == 0x80 { utf8.formIndex(before: &end) }
        return self[..<end] + "…"
    }
}
