package import Control
import Values

/// The kernel's heart: who answers what, which flow is where, and the memory that all share.
///
/// A deterministic machine. Every method is one event, told together with the time by `turn`; what
/// follows from it is written to the cables of the peers. It knows no byte, socket, clock or
/// process, so that a test, a simulation and the host drive the very same code.
///
/// The promises rest on six rules, each of which lost or doubled work in a model without it:
///
/// 1. A replay starts when the death is confirmed, never on end-of-file.
/// 2. A handler is a function of its answers and of their order: a repeat gets them in that order.
/// 3. While a repeat asks what is recorded, new operations are held.
/// 4. Keys are paths: the root flow, then step and operation at each level. A step never repeats.
/// 5. A flow ends once: its visit settles, its children end, its `finally` runs, then it is told.
/// 6. Only deaths of a device's own doing are charged to a visit.
package final class Hub {
    package let limits: HubLimits
    /// This start of the kernel; larger than those before. It is set before anything happens.
    package var epoch: UInt64
    package weak var observer: (any HubObserver)?
    let join: ([[UInt8]]) -> [UInt8]

    /// Monotonic time in which the kernel itself ran, in nanoseconds.
    package internal(set) var seen: UInt64 = 0
    /// Milliseconds since 1970.
    package internal(set) var wall: Int64 = 0
    /// Seen time at which `tick` is wanted at the latest; `UInt64.max` when never.
    package internal(set) var due = UInt64.max
    private var raw: UInt64?
    private var late = false

    var symbols: [String: SymbolSlot] = [:]
    /// The closures of announced pipes, by their names and the shapes of their pipes.
    private(set) var closures: [String: SymbolSlot] = [:]
    private var symbolCount = 0
    package private(set) var devices: [String: DeviceSlot] = [:]
    package private(set) var bindings: [Binding] = []
    var regions: [String: RegionSlot] = [:]
    var feedCount = 0
    /// Commits since the start.
    package internal(set) var counter: UInt64 = 0
    var lanes: [String: Lane] = [:]
    var channels: [String: ChannelSlot] = [:]
    /// The live flows in the order of their numbers.
    var first: Flow?
    var newest: Flow?
    package internal(set) var liveFlows = 0
    /// Bytes that they hold.
    package internal(set) var flowBytes = 0
    /// The most that they held since somebody asked.
    var mostFlowBytes = 0
    var numbers: UInt64 = 0
    /// Flows that have begun and that nobody above has asked for.
    var beginnings: UInt64 = 0
    /// Devices of which an older generation finishes its flows.
    var elders = 0
    var errors: [Value] = []
    /// Asked at the end of each visit and flow: all that a trace costs while it is off.
    var tracing = false
    var trace = Trace()
    /// Answers that came from attempts which are over.
    package internal(set) var staleReplies = 0
    package internal(set) var load = LoadCounts()

    /// A hub in which nobody answers anything yet.
    ///
    /// - Parameters:
    ///   - epoch: larger than that of every kernel before.
    ///   - join: makes the coding's sequence of encoded values.
    package init(
        epoch: UInt64, limits: HubLimits = HubLimits(),
        join: @escaping ([[UInt8]]) -> [UInt8]
    ) {
        self.epoch = epoch
        self.limits = limits
        self.join = join
        declare(region: RegionSlot.devices, initial: .array([]), owned: true)
        declare(region: RegionSlot.errors, initial: .array([]), owned: true)
        declare(region: RegionSlot.symbols, initial: .array([]), owned: true)
        declare(region: RegionSlot.pipes, initial: .array([]), owned: true)
        declare(region: RegionSlot.channels, initial: .array([]), owned: true)
    }

    /// A turn of the loop begins: events until the next one happen now.
    ///
    /// - Parameters:
    ///   - now: monotonic nanoseconds.
    ///   - wall: milliseconds since 1970.
    ///   - tick: whether this is the periodic tick; a second late one in a row counts.
    package func turn(now: UInt64, wall: Int64, tick: Bool = false) {
        self.wall = wall
        guard let before = raw, now > before else {
            raw = raw ?? now
            return
        }
        let gap = now - before
        raw = now
        if gap <= limits.unseenGap {
            seen += gap
        } else if tick && late {
            seen += limits.lateStep
        }
        if tick { late = gap > limits.unseenGap }
    }

    // MARK: - Declarations

    /// Takes in a device's manifest: from now on requests for its symbols wait for it.
    /// - Throws: `KernelError` when a symbol is promised by another device already.
    @discardableResult
    package func declare(_ declaration: DeviceDeclaration) throws(KernelError) -> DeviceSlot {
        let device = DeviceSlot(declaration)
        for name in declaration.provides {
            guard !name.hasPrefix("Kernel.") else {
                throw KernelError(
                    .denied, "\(device.name) provides \(name): Kernel.* belongs to the kernel")
            }
            guard !name.contains("#") else {
                throw KernelError(
                    .denied, "\(device.name) provides \(name): # names the closures of a pipe")
            }
            if let other = symbols[name] {
                throw KernelError(
                    .denied,
                    "\(device.name) and \(other.device?.name ?? "the kernel") both provide \(name)")
            }
        }
        for name in declaration.provides { add(name, device) }
        devices[device.name] = device
        return device
    }

    /// Binds one of the kernel's own symbols.
    ///
    /// - Parameters:
    ///   - summary: one line that says what it is for.
    ///   - onlyReads: whether a client that looks at the past may call it.
    package func declare(
        builtin name: String, summary: String = "", onlyReads: Bool = false,
        _ answer: @escaping ([UInt8]) -> Result<[UInt8], KernelError>
    ) {
        let slot = add(name, nil)
        slot.builtin = answer
        slot.onlyReads = onlyReads
        slot.traits.summary = summary
        slot.known = true
    }

    /// Binds one of the kernel's own symbols that concerns the connection on which it is called.
    package func declare(
        personal name: String, summary: String,
        _ answer: @escaping (Peer, [UInt8]) -> Result<[UInt8], KernelError>
    ) {
        declare(builtin: name, summary: summary) { _ in
            .failure(
                KernelError(
                    .denied,
                    "\(name) concerns the connection of a client: no handler and no pipe "
                        + "calls it", outcome: .none))
        }
        symbols[name]?.personal = answer
        symbols[name]?.onlyReads = true
    }

    @discardableResult
    func add(_ name: String, _ device: DeviceSlot?) -> SymbolSlot {
        let slot = make(name, device)
        slot.route = Route([.pipe(slot)], last: nil)
        symbols[name] = slot
        return slot
    }

    private func make(_ name: String, _ device: DeviceSlot?) -> SymbolSlot {
        let slot = SymbolSlot(name: name, id: symbolCount, device: device)
        symbolCount += 1
        return slot
    }

    /// The symbol of a name that somebody outside may call.
    package func symbol(_ name: String) -> SymbolSlot? {
        symbols[name]
    }

    /// Every symbol that may be called.
    package var callable: [String] {
        symbols.keys.sorted()
    }

    // MARK: - Peers

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
        for binding in announced { try check(binding, device) }
        try check(events: publishes, announced, device)
        peer.announced = announced.compactMap { bind($0, peer) }
        expect(events: publishes, announced, from: peer)
    }

    /// A device that is refused has changed nothing.
    private func check(_ binding: Binding, _ device: DeviceSlot) throws(KernelError) {
        if let route = binding.route { try check(route, binding.name, device) }
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
