internal import Control

/// Pipes that a handler builds while it runs. Each is a flow below the handler's. The kernel drives
/// it like every other; only its closures run where the handler runs, because that process alone
/// has their code. When the process dies they wait until the repeat of the handler has asked for
/// the pipe again.
extension Hub {
    func perform(
        _ flow: Flow, _ entry: Entry, run descriptor: RouteDescriptor, _ payload: [UInt8]
    ) {
        guard let visit = flow.visit, let device = visit.symbol.device else { return }
        let name = "\(visit.symbol.name)#run"
        do throws(KernelError) {
            if let error = tooDeep(flow, name) { throw error }
            try check(descriptor, name, device)
        } catch {
            entry.answer = .failure(error)
            return answer(flow, entry)
        }
        let owner = closure(name, 0, of: visit.symbol, SymbolSlot.Home(flow: flow, entry: entry))
        var count = 0
        let route = route(of: descriptor, owner, &count)
        let key = Digest.text(Array(descriptor.signature.utf8) + payload)
        let child = start(
            .operation(flow, entry), owner, payload,
            path: "\(self.key(of: flow))/run:\(key):\(entry.number)", bound: flow.deadline)
        entry.child = child
        flow.children.append(child)
        begin(child, along: route)
    }

    private func closure(
        _ name: String, _ index: Int, of owner: SymbolSlot, _ home: SymbolSlot.Home
    ) -> SymbolSlot {
        let slot = SymbolSlot(
            name: name, id: index, device: owner.device, home: home)
        slot.traits = owner.traits
        slot.traits.replay = owner.traits.replay == .once ? .once : .replayable
        slot.known = true
        return slot
    }

    /// Closures are counted as `RouteDescriptor.closures` lists them.
    private func route(
        of descriptor: RouteDescriptor, _ owner: SymbolSlot, _ count: inout Int
    ) -> Route {
        func next() -> SymbolSlot? {
            defer { count += 1 }
            return owner.home.map { closure("\(owner.name).\(count)", count, of: owner, $0) }
        }
        var stages: [Route.Stage] = []
        for stage in descriptor.stages {
            switch stage.kind {
            case .withRequest: stages.append(.withRequest)
            case .closure: if let slot = next() { stages.append(.pipe(slot)) }
            case .effect: if let slot = next() { stages.append(.tap(slot)) }
            case .pipe: if let other = stage.symbol.flatMap(symbol) { stages.append(.pipe(other)) }
            case .tap: if let other = stage.symbol.flatMap(symbol) { stages.append(.tap(other)) }
            case .fork:
                var branches: [Route] = []
                for branch in stage.branches { branches.append(route(of: branch, owner, &count)) }
                stages.append(.fork(branches))
            }
        }
        return Route(stages, last: descriptor.last ? next() : nil, gives: descriptor.gives)
    }

    /// The closure goes to the process in which its handler has asked for the pipe.
    func queue(_ flow: Flow, for symbol: SymbolSlot, at home: SymbolSlot.Home) {
        if let visit = home.flow.visit, let tag = home.entry.tag, !visit.peer.away {
            return self.visit(flow, symbol, visit.peer, asker: (visit.number, tag))
        }
        flow.awaiting = home.entry
        home.entry.closures.append(flow)
    }

    /// A repeat has asked for the pipe again.
    func resumeClosures(of entry: Entry) {
        for flow in entry.closures {
            leaveQueue(flow)
            if let symbol = stageSymbol(flow) { queue(flow, for: symbol) }
        }
    }

    // MARK: - Commands of handlers

    func perform(
        _ flow: Flow, _ entry: Entry, dispatch symbol: SymbolSlot, _ payload: [UInt8]
    ) {
        // It outlives the flow that sent it: below that flow's key its own keys would be forgotten
        // while it still runs. Only what a caller's own key stands for is kept for longer.
        let path =
            flow.path?.hasPrefix(Hub.ownRoot) == true
            ? "\(key(of: flow))/dispatch:\(symbol.name):\(Digest.text(payload)):\(entry.number)"
            : nil
        switch accept(symbol, payload, path: path) {
        case .failure(let error):
            entry.answer = .failure(error)
            answer(flow, entry)
        case .success(let command):
            flow.dirty = true
            entry.answer = .output([])
            answer(flow, entry)
            beginIfFirst(command)
        }
    }
}
