/// Which process takes the stages of a flow, when processes of its device come, go and follow each
/// other.
///
/// A process that becomes ready belongs to the generation that serves if it is of the same build;
/// otherwise it begins a new one, and the older finishes its flows. A device with one seat begins a
/// new one with each swap, so that a flow meets one process from its first stage to its last.
extension Hub {
    /// The process that takes the next stage of a flow; nil while there is none.
    @inline(__always)
    func home(of flow: Flow, _ device: DeviceSlot) -> Peer? {
        if let peer = device.sole { return peer }
        return device.generation(of: flow).leastLoaded()
    }

    /// A process serves from now on.
    func enter(_ peer: Peer, _ device: DeviceSlot, _ announced: [Peer.Announced]) {
        let serving = device.serving
        let before = serving.process(in: peer.seat)
        if serving.admits(peer, announced), before == nil || device.seats > 1 {
            serving.announced = announced
            serving.add(peer)
            if let before {
                serving.remove(before)
                leaveAlone(before)
            }
        } else {
            device.serving = Generation(peer, announced)
            if !serving.peers.isEmpty { retire(serving, device) }
        }
        // The one before it in its seat may be of any older generation.
        for generation in device.elders {
            guard let old = generation.process(in: peer.seat), !old.isLeaving else { continue }
            old.isLeaving = true
            if generation.flows == 0 { dismiss(generation, device) }
        }
        device.findSole()
        for old in serving.peers where serving !== device.serving && !old.isLeaving {
            observer?.outdated(device: old.name, incarnation: old.incarnation)
        }
    }

    /// The flows that have begun stay with it.
    private func retire(_ old: Generation, _ device: DeviceSlot) {
        let first = device.elders.last?.last ?? 0
        old.last = beginnings
        old.flows = flows.count { $0.isRoot && $0.root > first }
        device.elders.append(old)
        countElders()
    }

    /// Nothing is left to finish: who has lost its seat may go, and is given nothing any more.
    private func dismiss(_ old: Generation, _ device: DeviceSlot) {
        for peer in old.peers where peer.isLeaving {
            old.remove(peer)
            tellEmptied(peer)
        }
        guard old.peers.isEmpty else { return }
        device.elders.removeAll { $0 === old }
        countElders()
        device.findSole()
    }

    /// Its equals go on with its flows: it only finishes the visits that it holds.
    private func leaveAlone(_ peer: Peer) {
        peer.isLeaving = true
        peer.leavesEmpty = true
        if peer.visits.count == 0 { tellEmptied(peer) }
    }

    /// It is dead: its flows go to its equals, or to the next generation.
    func forget(_ peer: Peer, _ device: DeviceSlot) {
        defer { device.findSole() }
        if device.serving.remove(peer) { return }
        guard let index = device.elders.firstIndex(where: { $0.remove(peer) }),
            device.elders[index].peers.isEmpty
        else { return }
        let orphaned = device.elders.remove(at: index).flows
        if index < device.elders.count { device.elders[index].flows += orphaned }
        countElders()
    }

    /// No process of the newest build comes back by itself: an older one that has kept its seat
    /// serves again.
    func recall(_ device: DeviceSlot) {
        guard !device.serves, let old = device.elders.last,
            old.peers.contains(where: { !$0.isLeaving })
        else { return }
        device.elders.removeLast()
        old.last = .max
        for peer in old.peers where peer.isLeaving {
            old.remove(peer)
            leaveAlone(peer)
        }
        device.serving = old
        countElders()
        device.findSole()
        adopt(old.announced)
        deliver(device)
    }

    private func countElders() {
        elders = devices.values.count { !$0.elders.isEmpty }
    }

    func leaveElders(_ flow: Flow) {
        guard flow.isRoot, flow.root > 0 else { return }
        for device in devices.values {
            guard let old = device.elders.first(where: { flow.root <= $0.last }) else { continue }
            old.flows -= 1
            if old.flows == 0 { dismiss(old, device) }
        }
    }

    func tellEmptied(_ peer: Peer) {
        guard !peer.away else { return }
        observer?.elderEmptied(device: peer.name, incarnation: peer.incarnation)
    }

    /// Seconds until the last deadline of a flow that runs now.
    package var longestDeadline: Double {
        let last = flows.lazy.filter { $0.running }.map { max($0.deadline, $0.limit) }.max()
        guard let last, last > seen else { return 0 }
        return Double(last - seen) / 1e9
    }
}

extension Flow {
    /// Nobody above has asked for it.
    var isRoot: Bool {
        switch origin {
        case .call, .command, .event: true
        case .operation, .branch: false
        }
    }
}
