internal import Control

/// The queue of dispatched commands that run one at a time.
final class Lane {
    let name: String
    private(set) var queue: [Flow] = []
    private(set) var bytes = 0
    /// The next command is being begun.
    var isAdvancing = false

    init(_ name: String) {
        self.name = name
    }

    func enter(_ flow: Flow) {
        queue.append(flow)
        bytes += flow.size
    }

    func leave(_ flow: Flow) {
        queue.removeAll { $0 === flow }
        bytes -= flow.size
    }
}

/// Lanes: commands that were dispatched run one at a time, in the order in which they came.
extension Hub {
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

    // MARK: - Commands of handlers

    func perform(
        _ flow: Flow, _ entry: Entry, dispatch symbol: SymbolSlot, _ payload: [UInt8]
    ) {
        // It outlives the flow that sent it: below that flow's key its own keys would be forgotten
        // while it still runs. Only what a caller's own key stands for is kept for longer.
        // One that sends itself again, for days, would have a longer key each time.
        var path: String?
        if Hub.isOwn(flow.path) {
            let place = place(of: entry, payload, in: flow)
            path = "\(ownKey(of: flow))/dispatch:\(symbol.name):\(place)"
        }
        switch accept(symbol, payload, path: path, isSpared: flow.isSpared) {
        case .failure(let error): answer(flow, entry, .failure(error))
        case .success(let command):
            flow.dirty = true
            answer(flow, entry, .output([]))
            beginIfFirst(command)
        }
    }
}
