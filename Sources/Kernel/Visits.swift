package import Control
import Values

/// How stages are given to processes, and what comes back.
extension Hub {
    /// The stage goes to its device, now or when a process of it serves.
    ///
    /// The limit on waiting requests refuses new ones, never a visit that was delivered before.
    func queue(_ flow: Flow, for symbol: SymbolSlot, front: Bool = false) {
        if let home = symbol.home { return queue(flow, for: symbol, at: home) }
        guard let device = symbol.device else {
            return finish(flow, .failure(Hub.unbound(symbol.name)))
        }
        if let refused = device.refused, !flow.waitsForEver {
            if flow.last {
                return lose(finallyOf: flow, "the device \(device.name) is \(refused)")
            }
            return finish(flow, .failure(unavailable(symbol, refused)))
        }
        if flow.route != nil, device.waiting.isEmpty || !device.serves,
            let peer = home(of: flow, device)
        {
            return give(flow, symbol, peer)
        }
        guard hasRoom(device, flow) else { return finish(flow, .failure(crowded(symbol, device))) }
        flow.waiting = device
        device.waitingBytes += flow.value.count
        stand(flow)
        if front { device.waiting.insert(flow, at: 0) } else { device.waiting.append(flow) }
        deliver(device)
    }

    func leaveQueue(_ flow: Flow) {
        flow.awaiting?.closures.removeAll { $0 === flow }
        flow.awaiting = nil
        guard let device = flow.waiting else { return }
        device.waiting.removeAll { $0 === flow }
        device.apart.removeAll { $0 === flow }
        goOn(flow, from: device)
        device.waitingBytes -= flow.value.count
        flow.waiting = nil
    }

    /// Gives what waits to the processes that serve.
    func deliver(_ device: DeviceSlot) {
        guard !device.isDelivering else { return }
        device.isDelivering = true
        defer { device.isDelivering = false }
        while let index = device.firstDeliverable {
            let flow = device.waiting[index]
            guard let peer = home(of: flow, device) else { return }
            device.waiting.remove(at: index)
            device.waitingBytes -= flow.value.count
            flow.waiting = nil
            goOn(flow, from: device)
            if flow.route == nil {
                resolve(flow)
            } else if let symbol = stageSymbol(flow) {
                give(flow, symbol, peer)
            }
        }
    }

    /// The limit refuses new requests, never a visit that was delivered before.
    func hasRoom(_ device: DeviceSlot, _ flow: Flow) -> Bool {
        flow.attempt > 0 || flow.last || flow.waitsForEver
            || device.waiting.count - device.waitingEvents + device.apart.count
                < limits.waitingRequests
                && device.waitingBytes + flow.value.count <= limits.waitingBytes
    }

    func crowded(_ symbol: SymbolSlot, _ device: DeviceSlot) -> KernelError {
        unavailable(symbol, "away and \(device.waiting.count + device.apart.count) wait for it")
    }

    /// To the process that serves, unless the visit may have ended one before.
    private func give(_ flow: Flow, _ symbol: SymbolSlot, _ peer: Peer) {
        guard flow.trial == .cell || peer.device?.charged == true else {
            return visit(flow, symbol, peer)
        }
        switch fate(of: flow, symbol) {
        case .free: visit(flow, symbol, peer)
        case .cell: waitForCell(flow, symbol)
        case .poisoned: poison(flow, symbol, "before")
        }
    }

    func visit(
        _ flow: Flow, _ symbol: SymbolSlot, _ peer: Peer, asker: (visit: UInt64, tag: UInt64)? = nil
    ) {
        guard let place = asker == nil ? peer.place(of: symbol) : symbol.id else {
            let error = KernelError(
                .unbound, "\(symbol.name): \(peer.name) now announces another pipe")
            return fail(flow, error)
        }
        let bytes = flow.value.count + (flow.path?.utf8.count ?? 0)
        guard bytes <= limits.visitBytes, flow.record?.fits(limits.repeatBytes - bytes) ?? true
        else {
            let reads = flow.record?.readBytes ?? 0
            let error = KernelError(
                .tooLarge,
                "\(symbol.name) would be sent \(bytes) bytes and \(reads) that it has read before; "
                    + "the limits are \(limits.visitBytes) and, together, \(limits.repeatBytes)")
            return fail(flow, error)
        }
        peer.deliveries += 1
        flow.attempt += 1
        load.visits += 1
        if flow.attempt > 1 { load.replays += 1 }
        if flow.now == 0 { flow.now = wall }
        let replay = flow.record?.entries.isEmpty == false
        flow.record?.rewind()
        let number = peer.deliveries
        flow.visit = Visit(
            number: number, count: load.visits, peer: peer, symbol: symbol, since: seen,
            replay: replay)
        peer.visits.insert(flow, number)
        peer.cable.visit(
            VisitOrder(
                number: number, symbol: place, asker: asker, flow: flow.number, path: flow.path,
                step: flow.step,
                attempt: flow.attempt, now: flow.now, lowest: lowestLiveFlow, replay: replay,
                reads: flow.record?.reads ?? [], value: flow.value))
    }

    /// A visit has ended with a verb.
    package func returned(_ peer: Peer, visit number: UInt64, _ said: EncodedVerb) {
        guard let flow = peer.visits[number], let visit = flow.visit else {
            staleReplies += 1
            return
        }
        peer.lastReply = seen
        remove(number, from: peer)
        var verb = said
        if case .fail(let error) = said { verb = .fail(error.cut(to: limits.errorBytes)) }
        if visit.replay, unmatched(flow).contains(where: \.effect) {
            verb = .fail(Hub.diverged(visit.symbol))
        }
        if let device = visit.symbol.device, device.charged {
            observer?.returned(
                device: peer.name, incarnation: peer.incarnation, symbol: visit.symbol.name,
                digest: Digest.of(flow.value))
        }
        touch(flow, visit)
        if tracing { keep(flow, visit, verb) }
        leaveVisit(flow)
        if flow.last {
            if let why = visit.abandoned { return lose(finallyOf: flow, why) }
            if case .fail(let error) = verb {
                if visit.cancelled != nil {
                    return lose(finallyOf: flow, "it took all of its time")
                }
                report(visit.symbol.name, error, flow: flow.number)
            }
            cancelChildren(flow, "its finally ended without waiting for it")
            return close(flow)
        }
        if flow.ending == nil {
            flow.reply = verb
            if !flow.children.isEmpty {
                guard hasRoom(verb.held, isSpared: flow.isSpared) else { return overload(flow) }
                wait(flow, with: verb.held)
            }
            cancelChildren(flow, "its stage answered without waiting for it")
        }
        close(flow)
    }

    /// A visit has ended with an output, which is lent. Most are the end of a call and of nothing
    /// else: they are told as they stand, and not led through all that others may need.
    package func returned(
        _ peer: Peer, visit number: UInt64, output: UnsafeRawBufferPointer
    ) {
        guard let flow = peer.visits[number], output.count <= limits.visitBytes,
            let caller = plainCaller(flow)
        else {
            return returned(peer, visit: number, .next([UInt8](output)))
        }
        peer.lastReply = seen
        remove(number, from: peer)
        flow.visit = nil
        flow.ended = true
        flowBytes -= flow.held
        unlink(flow)
        caller.peer.open -= 1
        caller.peer.openBytes -= flow.size
        if !caller.peer.away { caller.peer.cable.reply(call: caller.id, output: output) }
    }

    /// Who gets the output of the visit of a flow if that is all that is to be done at its end.
    @inline(__always)
    private func plainCaller(_ flow: Flow) -> (peer: Peer, id: UInt64)? {
        guard !tracing, elders == 0, flow.record == nil, flow.ending == nil,
            flow.children.isEmpty, flow.position == 0, flow.route?.isOnePipe == true,
            flow.visit?.symbol.device?.charged == false, case .call(let peer, let id) = flow.origin
        else { return nil }
        return (peer, id)
    }

    /// Notes that the visit may have changed something outside of the kernel.
    func touch(_ flow: Flow, _ visit: Visit) {
        if visit.symbol.device?.pure != true || visit.symbol.replay == .once { flow.dirty = true }
    }

    static func diverged(_ symbol: SymbolSlot) -> KernelError {
        KernelError(
            .diverged,
            "\(symbol.name): the repeat asked for other things than before; a handler must be "
                + "a function of its payload and the kernel's answers")
    }

    // MARK: - Deaths

    /// What becomes of a visit whose process is gone.
    package enum Verdict: Sendable {
        case replay
        case lost
        case poisoned
        /// Replayed in a process of its own.
        case cell
    }

    /// The cable has ended: nothing new is delivered. Replays wait until the death is confirmed.
    package func away(_ peer: Peer) {
        peer.away = true
        if let device = peer.device { forget(peer, device) }
        forget(eventsOf: peer)
    }

    /// The process is gone for certain, and its cable was read dry.
    ///
    /// - Parameters:
    ///   - begun: the highest visit that had begun; `UInt64.max` when nobody knows.
    ///   - verdict: what the supervisor says of a visit.
    ///   - reason: for people, such as `signal KILL`.
    package func lost(
        _ peer: Peer, begun: UInt64, reason: String, verdict: (UInt64) -> Verdict
    ) {
        away(peer)
        unfollow(peer)
        defer {
            if peer.isCell, peer.wasReady, let device = peer.device { cellGone(peer, device) }
        }
        for flow in peer.visits.newestFirst {
            guard let visit = flow.visit else { continue }
            remove(visit.number, from: peer)
            if tracing { keep(flow, visit, nil) }
            leaveVisit(flow)
            let started = visit.number <= begun
            if started { touch(flow, visit) }
            if let why = visit.abandoned {
                lose(finallyOf: flow, why)
                continue
            }
            if flow.ending != nil && (!flow.last || seen >= flow.deadline) {
                if flow.last {
                    lose(finallyOf: flow, "\(peer.name) ended (\(reason)) at the end of its time")
                } else {
                    close(flow)
                }
                continue
            }
            settleLost(flow, visit, started, reason, verdict(visit.number))
        }
        // What it called outside of any visit; what a visit asks is its flow's.
        forgetCalls(of: peer, "\(peer.name) ended (\(reason))")
    }

    private func settleLost(
        _ flow: Flow, _ visit: Visit, _ started: Bool, _ reason: String, _ verdict: Verdict
    ) {
        let name = visit.symbol.name
        let device = visit.peer.name
        if started && visit.symbol.replay == .once || verdict == .lost && started {
            let error = KernelError(
                .deviceLost,
                "\(device) ended (\(reason)) while \(name) ran, which may not be repeated")
            return fail(flow, error)
        }
        if verdict == .poisoned { return poison(flow, visit.symbol, reason) }
        if verdict == .cell {
            flow.trial = .cell
            // The code of such a closure is where its handler runs.
            visit.symbol.home?.flow.trial = .cell
        }
        queue(flow, for: visit.symbol, front: true)
    }

    // MARK: - What the supervisor asks

    /// A visit that a process holds.
    package struct OpenVisit: Sendable {
        package var number: UInt64
        package var symbol: String
        /// 0 unless asked for.
        package var digest: UInt64
        /// Seconds that one attempt may take.
        package var limit: Double
        package var replayable: Bool
        /// Seen time from which the attempt's own time counts, in nanoseconds.
        package var since: UInt64
        package var cancelled: Bool
    }

    /// The visits of a process, in the order of their delivery.
    package func open(_ peer: Peer, digests: Bool) -> [OpenVisit] {
        peer.visits.newestFirst.reversed().compactMap { flow in
            guard let visit = flow.visit else { return nil }
            return OpenVisit(
                number: visit.number, symbol: visit.symbol.name,
                digest: digests ? Digest.of(flow.value) : 0,
                limit: Double(visit.symbol.traits.attempt) / 1_000,
                replayable: visit.symbol.replay != .once,
                since: patient(flow) ? seen : visit.since, cancelled: visit.cancelled != nil)
        }
    }

    /// An asynchronous visit has used up its attempt.
    package func attemptOver(_ peer: Peer, visit number: UInt64) {
        guard let flow = peer.visits[number], let visit = flow.visit, flow.ending == nil else {
            return
        }
        let error = KernelError(
            .attempt,
            "\(visit.symbol.name) took longer than \(visit.symbol.traits.attempt) ms in one "
                + "attempt",
            retry: true)
        finish(flow, .failure(error))
    }

    /// A visit that waits for the kernel uses up none of its own time; a cancelled one does.
    func patient(_ flow: Flow) -> Bool {
        guard flow.ending == nil, let record = flow.record else { return false }
        return record.entries.contains { $0.tag != nil && $0.child != nil }
    }
}
