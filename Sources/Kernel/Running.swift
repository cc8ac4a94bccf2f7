internal import Control

/// Pipes that a handler builds while it runs. Each is a flow below the handler's. The kernel drives
/// it like every other; only its closures run where the handler runs, because that process alone
/// has their code. When the process dies they wait until the repeat of the handler has asked for
/// the pipe again.
extension Hub {
    func perform(
        _ flow: Flow, _ entry: Entry, run descriptor: RouteDescriptor, _ payload: [UInt8]
    ) {
        guard let visit = flow.visit, let device = visit.symbol.device,
            case .run(let signature, _) = entry.name
        else { return }
        let name = "\(visit.symbol.name)#run"
        do throws(KernelError) {
            try check(descriptor, name, device)
        } catch {
            return answer(flow, entry, .failure(error))
        }
        let owner = closure(name, 0, of: visit.symbol, SymbolSlot.Home(flow: flow, entry: entry))
        var count = 0
        let route = route(of: descriptor) { _ in
            defer { count += 1 }
            return owner.home.map { closure("\(name).\(count)", count, of: owner, $0) }
        }
        let place = place(of: entry, Array(signature.utf8) + [0] + payload, in: flow)
        let child = start(
            .operation(flow, entry), owner, payload,
            path: "\(key(of: flow))/run:\(place)", bound: flow.deadline)
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
}
