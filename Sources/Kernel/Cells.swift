internal import Control
internal import Values

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
        var said = Fate.free
        if let device = symbol.device, device.charged, let observer {
            said = observer.fate(
                device: device.name, symbol: symbol.name, digest: Digest.of(flow.value))
        }
        switch (said, flow.trial) {
        // What is poisoned by now ends no further process, however it was to be tried.
        case (.poisoned, _): return .poisoned
        case (_, .ordinary): return .free
        case (_, .cell): return .cell
        case (_, .none): return said
        }
    }

    /// The flow fails, for its stage would end any process.
    func poison(_ flow: Flow, _ symbol: SymbolSlot, _ reason: String) {
        let error = KernelError(
            .poisoned,
            "\(symbol.name) with this payload has ended \(symbol.device?.name ?? "its device") "
                + "again and again (\(reason))")
        fail(flow, error)
    }

    func waitForCell(_ flow: Flow, _ symbol: SymbolSlot) {
        guard let device = symbol.device else { return }
        guard hasRoom(device, flow) else { return finish(flow, .failure(crowded(symbol, device))) }
        flow.waiting = device
        device.waitingBytes += flow.value.count
        device.apart.append(flow)
        wantCells(device)
    }

    /// Asks for a cell for each visit that waits for one, as far as the limits go.
    ///
    /// A visit that only waits for an answer of the kernel does not keep another one from a cell:
    /// what it waits for may be away for long, and its process does nothing meanwhile.
    func wantCells(_ device: DeviceSlot) {
        while device.cellsComing < device.apart.count {
            let all = device.cellsComing + device.cellsBusy
            guard all < limits.cells || all < limits.allCells && all - idle(device) < limits.cells
            else { return }
            device.cellsComing += 1
            observer?.cellWanted(device: device.name)
        }
    }

    /// Cells in which nothing runs: all that they hold waits for the kernel.
    private func idle(_ device: DeviceSlot) -> Int {
        device.cells.count { cell in
            cell.visits.count > 0 && !cell.away && cell.visits.newestFirst.allSatisfy(patient)
        }
    }

    func cellReady(_ peer: Peer, _ device: DeviceSlot) {
        device.cellsComing = max(0, device.cellsComing - 1)
        device.cellsBusy += 1
        peer.isBusy = true
        peer.wasReady = true
        device.cells.append(peer)
        while let flow = device.apart.first, peer.visits.count == 0 {
            leaveQueue(flow)
            guard let symbol = stageSymbol(flow) else { continue }
            if fate(of: flow, symbol) == .poisoned {
                poison(flow, symbol, "before")
            } else {
                visit(flow, symbol, peer)
            }
        }
        if peer.visits.count == 0 { leave(peer) }
    }

    /// A process holds a visit no more.
    func remove(_ number: UInt64, from peer: Peer) {
        peer.visits.remove(number)
        guard peer.visits.count == 0 else { return }
        if peer.isBusy { leave(peer) }
        if peer.leavesEmpty { tellEmptied(peer) }
    }

    /// It is to end; until it has, it takes the place of another one.
    private func leave(_ cell: Peer) {
        cell.isBusy = false
        guard !cell.away else { return }
        observer?.cellEmptied(device: cell.name, incarnation: cell.incarnation)
    }

    /// Its process is dead.
    func cellGone(_ cell: Peer, _ device: DeviceSlot) {
        device.cellsBusy = max(0, device.cellsBusy - 1)
        device.cells.removeAll { $0 === cell }
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
        guard traits.replay == other.traits.replay else { return false }
        guard let route, let second = other.route else {
            return stages == nil && other.stages == nil
        }
        return route.isSame(as: second)
    }
}
