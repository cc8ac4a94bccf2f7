package import Control

/// What connections ask for.
extension Hub {
    /// A call: the end of its flow is its reply. Whatever is wrong with it is its reply, too.
    ///
    /// - Parameters:
    ///   - id: the caller's own number, with which it is answered.
    ///   - symbol: nil: nobody provides what was asked for.
    ///   - deadline: in milliseconds; 0 for the symbol's own.
    ///   - key: the caller's own key, under which a repeat of the request is recognised.
    /// - Complexity: constant; with a key linear in the payload, some milliseconds for a mebibyte.
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

    /// A command: it is accepted into its lane, and nobody waits for its end. The parameters and
    /// the complexity are those of a call.
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

    /// Why a caller's own key is refused: what waits is bounded by its payloads.
    @inline(__always)
    func tooLong(_ key: String?, for name: String) -> KernelError? {
        guard let key, key.utf8.count > limits.keyBytes else { return nil }
        return KernelError(
            .tooLarge,
            "a key of \(key.utf8.count) bytes for \(name); it has at most \(limits.keyBytes)",
            outcome: .none)
    }

    /// The client no longer wants the answer; a call that has ended already is none of its calls.
    ///
    /// - Complexity: linear in the live flows.
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

    // MARK: - Errors

    /// Nobody provides a symbol.
    package static func unbound(_ name: String) -> KernelError {
        KernelError(
            .unbound, "no device provides \(name): `concentric symbols` lists what there is",
            outcome: .none)
    }

    static let unbound = KernelError(
        .unbound, "no device provides this symbol: `concentric symbols` lists what there is",
        outcome: .none)

    static func overloaded(_ peer: Peer) -> KernelError {
        KernelError(
            .overloaded,
            "\(peer.name) has \(peer.open) calls and \(peer.openBytes) bytes open already",
            outcome: .none, retry: true)
    }
}
