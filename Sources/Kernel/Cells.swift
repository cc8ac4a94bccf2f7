internal import Control

/// Visits that were in the death of a process. Each is tried again in a cell: a process of its
/// device that is started for it, takes nothing else, and is ended after it. What it asks of the
/// kernel is answered as ever. So a visit that ends every process it is given to ends nobody's work
/// but its own, and among several suspects the culprit is found.
extension Hub {
    /// How a visit may be delivered.
    package enum Fate: Sendable {
        case free
        case cell
        case poisoned
    }

    func fate(of flow: Flow, _ symbol: SymbolSlot) -> Fate {
        switch flow.trial {
        case .ordinary: return .free
        case .cell: return .cell
        case .none: break
        }
        guard let device = symbol.device, device.charged, let observer else { return .free }
        return observer.fate(
            device: device.name, symbol: symbol.name, digest: Digest.of(flow.value))
    }

    /// The flow fails, for its stage would end any process.
    func poison(_ flow: Flow, _ symbol: SymbolSlot, _ reason: String) {
        let error = KernelError(
            .poisoned,
            "\(symbol.name) with this payload has ended \(symbol.device?.name ?? "its device") "
                + "again and again (\(reason))")
        if flow.last { lose(finallyOf: flow, error.message) } else { finish(flow, .failure(error)) }
    }

    func waitForCell(_ flow: Flow, _ symbol: SymbolSlot) {
        guard let device = symbol.device else { return }
        guard hasRoom(device, flow) else { return finish(flow, .failure(crowded(symbol, device))) }
        flow.waiting = device
        device.waitingBytes += flow.value.count
        device.apart.append(flow)
        wantCells(device)
    }

    /// Asks for a cell for each visit that waits for one, as far as the limit goes.
    func wantCells(_ device: DeviceSlot) {
        while device.cellsComing < device.apart.count,
            device.cellsComing + device.cellsBusy < limits.cells
        {
            device.cellsComing += 1
            observer?.cellWanted(device: device.name)
        }
    }

    func cellReady(_ peer: Peer, _ device: DeviceSlot) {
        device.cellsComing = max(0, device.cellsComing - 1)
        guard let flow = device.apart.first, let symbol = stageSymbol(flow) else {
            observer?.cellEmptied(device: device.name, incarnation: peer.incarnation)
            return
        }
        leaveQueue(flow)
        device.cellsBusy += 1
        peer.isBusy = true
        visit(flow, symbol, peer)
        if peer.visits.count == 0 { leave(peer) }
    }

    /// A process holds a visit no more.
    func remove(_ number: UInt64, from peer: Peer) {
        peer.visits.remove(number)
        if peer.isBusy, peer.visits.count == 0 { leave(peer) }
    }

    private func leave(_ cell: Peer) {
        guard let device = cell.device else { return }
        cell.isBusy = false
        device.cellsBusy -= 1
        if !cell.away {
            observer?.cellEmptied(device: device.name, incarnation: cell.incarnation)
        }
        wantCells(device)
    }

    /// A cell that was asked for does not come.
    ///
    /// - Parameter failed: another one would not come either, because the device cannot run twice,
    ///   for example: the visit goes to the process that serves.
    package func cellLost(_ device: DeviceSlot, failed: Bool) {
        device.cellsComing = max(0, device.cellsComing - 1)
        if failed, let flow = device.apart.first, let symbol = stageSymbol(flow) {
            leaveQueue(flow)
            flow.trial = .ordinary
            queue(flow, for: symbol, front: true)
        }
        wantCells(device)
    }

    /// A cell must be the same program as the process that serves: flows go on beside each other.
    /// - Throws: `KernelError` naming the symbol that it announces otherwise.
    func compare(_ device: DeviceSlot, _ announced: [Binding]) throws(KernelError) {
        let serving = Dictionary(bindings.map { ($0.name, $0) }) { $1 }
        for own in announced {
            guard let other = serving[own.name], own.isSame(as: other) else {
                throw KernelError(
                    .denied,
                    "\(device.name) announces \(own.name) otherwise than the process that serves: "
                        + "restart the device to run its new build")
            }
        }
    }
}

extension Binding {
    /// A handler, or the same pipe.
    func isSame(as other: Binding) -> Bool {
        guard let route, let second = other.route else {
            return stages == nil && other.stages == nil
        }
        return route.isSame(as: second)
    }
}
