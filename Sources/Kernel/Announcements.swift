package import Control

/// What the processes of devices say of themselves before they serve, and what becomes of it when
/// they do.
extension Hub {
    /// A process of a device announces how it answers; it serves from `ready` on.
    ///
    /// - Parameter publishes: the shapes of the events that it publishes, by their channels.
    /// - Throws: `KernelError` naming the symbol that is missing, double or not granted, or the
    ///   channel whose events cannot be read.
    package func announce(
        _ peer: Peer, _ announced: [Binding], publishes: [String: String] = [:]
    ) throws(KernelError) {
        guard let device = peer.device else { return }
        var names: Set<String> = []
        for binding in announced {
            guard names.insert(binding.name).inserted else {
                throw KernelError(.denied, "\(device.name) binds \(binding.name) twice")
            }
            guard let slot = symbols[binding.name], slot.device === device else {
                throw KernelError(
                    .denied,
                    "\(device.name) binds \(binding.name), which its manifest does not provide")
            }
            guard binding.traits.deadline / 3 >= binding.traits.attempt else {
                throw KernelError(
                    .denied, "\(binding.name): its deadline is under three attempts")
            }
        }
        for slot in symbols.values where slot.device === device {
            guard names.contains(slot.name) else {
                throw KernelError(
                    .denied,
                    "\(device.name) leaves \(slot.name) unbound, which its manifest provides")
            }
        }
        if peer.isCell { try compare(device, announced) }
        // A device that is refused has changed nothing.
        for binding in announced {
            if let route = binding.route { try check(route, binding.name, device) }
        }
        try check(events: publishes, announced, device)
        peer.announced = announced.compactMap { bind($0, peer) }
        expect(events: publishes, announced, from: peer)
    }

    /// Gives every name of a binding its place in the list by which visits address it.
    private func bind(_ binding: Binding, _ peer: Peer) -> Peer.Announced? {
        guard let slot = symbols[binding.name] else { return nil }
        place(slot, peer)
        let route =
            binding.route.map { descriptor in
                // Asked once: it is made from the whole pipe.
                let signature = descriptor.signature
                return self.route(of: descriptor) {
                    closure("\(binding.name)\($0)", slot, binding, signature, peer)
                }
            }
            ?? Route([.pipe(slot)], last: nil, gives: binding.gives)
        return Peer.Announced(symbol: slot, binding: binding, route: route)
    }

    /// Flows that begin from now on run as was announced.
    /// - Returns: whether something was not known.
    @discardableResult
    func adopt(_ all: [Peer.Announced]) -> Bool {
        for announced in all {
            announced.symbol.traits = announced.binding.traits
            announced.symbol.takes = announced.binding.takes
            announced.symbol.gives = announced.binding.gives
            announced.symbol.route = announced.route
            announced.symbol.known = true
        }
        let announced = all.map(\.binding)
        // A restart announces what is known already, and is not held up by it.
        let known = Dictionary(bindings.map { ($0.name, $0) }) { $1 }
        guard announced.contains(where: { known[$0.name] != $0 }) else { return false }
        let names = Set(announced.map(\.name))
        bindings.removeAll { names.contains($0.name) }
        bindings += announced
        showSymbols()
        showPipes()
        return true
    }

    /// Forgets the closures that no process, route or flow knows any more, and the lanes in which
    /// nothing waits and of which no symbol is: a device may announce others at each start.
    private func forgetUnused() {
        for key in Array(closures.keys) {
            guard var slot = closures.removeValue(forKey: key) else { continue }
            if !isKnownUniquelyReferenced(&slot) { closures[key] = slot }
        }
        let named = Set(bindings.compactMap(\.traits.lane))
        lanes = lanes.filter { !$1.queue.isEmpty || named.contains($0) }
    }

    /// The anonymous symbol of a closure; closures are replayable unless the pipe says otherwise.
    ///
    /// It belongs to one shape of the pipe: a flow inside a pipe that a new build has changed never
    /// meets the closure that stands at the same place now.
    private func closure(
        _ name: String, _ owner: SymbolSlot, _ binding: Binding, _ signature: String, _ peer: Peer
    ) -> SymbolSlot {
        let key = "\(name) \(signature)"
        let slot = closures[key] ?? make(name, owner.device)
        closures[key] = slot
        slot.traits = binding.traits
        slot.traits.replay = binding.traits.replay == .once ? .once : .replayable
        slot.known = true
        place(slot, peer)
        return slot
    }

    private func place(_ slot: SymbolSlot, _ peer: Peer) {
        while peer.places.count <= slot.id { peer.places.append(-1) }
        peer.places[slot.id] = peer.placeCount
        peer.placeCount += 1
    }

    /// The names of a peer's places, in order: the device counts them in the same way.
    package static func places(of bindings: [Binding]) -> [String] {
        bindings.flatMap { [$0.name] + ($0.route?.closures(of: $0.name) ?? []) }
    }

    /// The process serves: what waited for its device is delivered. A process that serves already
    /// finishes the flows that have begun.
    package func ready(_ peer: Peer) {
        guard let device = peer.device else { return }
        if peer.isCell { return cellReady(peer, device) }
        guard !peer.away else { return }
        let announced = peer.announced
        peer.announced = []
        let isNew = adopt(announced)
        adopt(events: peer.publishes, of: peer)
        enter(peer, device, announced)
        if isNew { forgetUnused() }
        expect(device, seat: peer.seat)
        deliver(device)
    }
}
