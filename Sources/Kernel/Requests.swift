import Control

/// What connections ask for.
extension Hub {
    /// A call: the end of its flow is its reply.
    ///
    /// - Parameter deadline: in milliseconds; 0 for the symbol's own.
    /// - Parameter key: the caller's own key, under which a repeat of the request is recognised.
    package func call(
        _ peer: Peer, _ id: UInt64, _ symbol: SymbolSlot?, _ payload: [UInt8],
        deadline: UInt32 = 0, key: String? = nil
    ) {
        guard let symbol else { return peer.cable.reply(call: id, .failure(Hub.unbound)) }
        if let refusal = previewing(peer, symbol) {
            return peer.cable.reply(call: id, .failure(refusal))
        }
        if let builtin = symbol.builtin {
            if let personal = symbol.personal, peer.device == nil {
                return peer.cable.reply(call: id, personal(peer, payload))
            }
            return peer.cable.reply(call: id, builtin(payload))
        }
        if let refusal = tooLong(key, for: symbol.name) {
            return peer.cable.reply(call: id, .failure(refusal))
        }
        guard peer.open < limits.openCalls, peer.openBytes + payload.count <= limits.openBytes
        else {
            return peer.cable.reply(call: id, .failure(Hub.overloaded(peer)))
        }
        guard hasRoom(payload.count + Flow.ownBytes, isSpared: false) else {
            return peer.cable.reply(call: id, .failure(full(symbol.name)))
        }
        peer.open += 1
        peer.openBytes += payload.count
        let bound = deadline == 0 ? UInt64.max : seen + UInt64(deadline) * 1_000_000
        let flow = start(
            .call(peer, id), symbol, payload, path: ownPath(key, symbol, payload), bound: bound)
        begin(flow)
    }

    /// A command: it is accepted into its lane, and nobody waits for its end.
    package func dispatch(
        _ peer: Peer, _ id: UInt64, _ symbol: SymbolSlot?, _ payload: [UInt8], key: String? = nil
    ) {
        guard let symbol else { return peer.cable.reply(call: id, .failure(Hub.unbound)) }
        if let refusal = previewing(peer, symbol) {
            return peer.cable.reply(call: id, .failure(refusal))
        }
        if let refusal = tooLong(key, for: symbol.name) {
            return peer.cable.reply(call: id, .failure(refusal))
        }
        switch accept(symbol, payload, path: ownPath(key, symbol, payload)) {
        case .failure(let error): peer.cable.reply(call: id, .failure(error))
        case .success(let flow):
            peer.cable.accepted(call: id)
            beginIfFirst(flow)
        }
    }

    /// Puts a command into its lane; `beginIfFirst` follows.
    func accept(
        _ symbol: SymbolSlot, _ payload: [UInt8], path: String?, isSpared: Bool = false
    ) -> Result<Flow, KernelError> {
        guard symbol.builtin == nil else {
            return .failure(
                KernelError(.denied, "\(symbol.name) is answered at once: call it"))
        }
        if let refused = symbol.device?.refused {
            return .failure(unavailable(symbol, refused))
        }
        let lane = lane(of: symbol)
        guard lane.queue.count < limits.laneCommands,
            lane.bytes + payload.count <= limits.laneBytes
        else {
            return .failure(
                KernelError(
                    .overloaded,
                    "\(lane.queue.count) commands of \(lane.bytes) bytes wait already: try "
                        + "again later", outcome: .none, retry: true))
        }
        guard hasRoom(payload.count + Flow.ownBytes, isSpared: isSpared) else {
            return .failure(full(symbol.name))
        }
        let flow = start(.command, symbol, payload, path: path, bound: .max)
        flow.lane = lane
        lane.enter(flow)
        return .success(flow)
    }

    func beginIfFirst(_ flow: Flow) {
        if flow.lane?.queue.first === flow { begin(flow) }
    }

    /// Why a caller's own key is refused: what waits is bounded by its payloads.
    @inline(__always)
    func tooLong(_ key: String?, for name: String) -> KernelError? {
        guard let key, key.utf8.count > limits.keyBytes else { return nil }
        return KernelError(
            .tooLarge,
            "a key of \(key.utf8.count) bytes for \(name); it has at most \(limits.keyBytes)",
            outcome: .none)
    }

    private func lane(of symbol: SymbolSlot) -> Lane {
        let name = symbol.traits.lane ?? ""
        if let lane = lanes[name] { return lane }
        let lane = Lane(name)
        lanes[name] = lane
        return lane
    }

    /// The next command runs; of many that end at once, none begins the next within itself.
    func goOn(_ lane: Lane) {
        guard !lane.isAdvancing else { return }
        lane.isAdvancing = true
        while let next = lane.queue.first, !next.running { begin(next) }
        lane.isAdvancing = false
    }

    /// The client no longer wants the answer.
    package func cancel(_ peer: Peer, call id: UInt64) {
        if stopReading(peer, id) { return }
        guard peer.open > peer.reading else { return }
        let open = flow {
            guard case .call(let owner, let call) = $0.origin else { return false }
            return owner === peer && call == id
        }
        if let open { cancel(open, "the client cancelled it") }
    }

    /// An operator no longer wants a flow, whoever waits for it.
    /// - Returns: false if no such flow runs, or it is at its end already: then its `finally` goes
    ///   on.
    package func cancel(flow number: UInt64) -> Bool {
        guard let flow = flow(where: { $0.number == number }) else { return false }
        switch flow.ending {
        case .success, .failure: return false
        case .divert, nil: break
        }
        cancel(flow, "an operator cancelled it")
        return true
    }

    /// The oldest live flow that is one of these.
    func flow(where isWanted: (Flow) -> Bool) -> Flow? {
        var flow = first
        while let here = flow, !isWanted(here) { flow = here.next }
        return flow
    }

    /// A client's connection has ended: nobody waits for its calls.
    package func gone(_ peer: Peer) {
        peer.away = true
        unfollow(peer)
        forgetCalls(of: peer, "the client is gone")
    }

    /// Who has called is gone: nobody waits for the answers.
    func forgetCalls(of peer: Peer, _ why: String) {
        stopReading(peer)
        guard peer.open > 0 else { return }
        for flow in flows {
            if case .call(let owner, _) = flow.origin, owner === peer { cancel(flow, why) }
        }
    }

    /// A device does not come back by itself: who waits for it is told now, unless it has another
    /// seat that serves or is to serve.
    package func refuse(_ device: DeviceSlot, seat: Int = 0, _ status: String) {
        device.refusals[seat] = status
        guard device.refusals.count >= device.seats else { return recall(device) }
        // Of several, the word that asks for an operator says most.
        let status = device.refusals.values.contains("failed") ? "failed" : status
        device.refused = status
        device.cellsComing = 0
        for flow in device.waiting + device.apart where flow.waiting === device {
            if flow.waitsForEver {
                keep(waiting: flow)
                continue
            }
            leaveQueue(flow)
            if flow.last {
                lose(finallyOf: flow, "the device \(device.name) is \(status)")
            } else {
                finish(flow, .failure(unavailable(stageSymbol(flow) ?? flow.symbol, status)))
            }
        }
    }

    /// A stopped device is to start: requests wait for it again.
    package func expect(_ device: DeviceSlot, seat: Int = 0) {
        device.refusals[seat] = nil
        device.refused = nil
    }

    // MARK: - Errors

    static func unbound(_ name: String) -> KernelError {
        KernelError(
            .unbound, "no device provides \(name): see the `provides` of the manifests",
            outcome: .none)
    }

    static let unbound = KernelError(
        .unbound, "no device provides this symbol: see the `provides` of the manifests",
        outcome: .none)

    static func overloaded(_ peer: Peer) -> KernelError {
        KernelError(
            .overloaded,
            "\(peer.name) has \(peer.open) calls and \(peer.openBytes) bytes open already",
            outcome: .none, retry: true)
    }

    func unavailable(_ symbol: SymbolSlot, _ status: String) -> KernelError {
        KernelError(
            .unavailable,
            "\(symbol.name): the device \(symbol.device?.name ?? "") is \(status)"
                + (status == "failed" ? "; see `concentric errors`, then restart it" : ""),
            outcome: .none, retry: true)
    }
}
