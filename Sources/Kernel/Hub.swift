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
    /// Every bound that it keeps to.
    package let limits: HubLimits
    /// This start of the kernel; larger than those before. It is set before anything happens.
    package var epoch: UInt64
    /// Who runs the processes; nobody while the hub stands alone.
    package weak var observer: (any HubObserver)?
    /// Makes the coding's sequence of encoded values.
    let join: ([[UInt8]]) -> [UInt8]

    /// Monotonic time in which the kernel itself ran, in nanoseconds.
    package internal(set) var seen: UInt64 = 0
    /// Milliseconds since 1970.
    package internal(set) var wall: Int64 = 0
    /// Seen time at which `tick` is wanted at the latest; `UInt64.max` when never.
    package internal(set) var due = UInt64.max
    /// The time that was told last.
    private var raw: UInt64?
    /// The last tick came late.
    private var late = false

    /// Those that somebody outside may call, by their names.
    var symbols: [String: SymbolSlot] = [:]
    /// The closures of announced pipes, by their names and the shapes of their pipes.
    var closures: [String: SymbolSlot] = [:]
    private var symbolCount = 0
    /// The devices by their names, as the manifests declare them.
    package private(set) var devices: [String: DeviceSlot] = [:]
    /// What serving processes have announced last, of every device.
    package internal(set) var bindings: [Binding] = []
    var regions: [String: RegionSlot] = [:]
    var feedCount = 0
    /// Commits since the start.
    package internal(set) var counter: UInt64 = 0
    var lanes: [String: Lane] = [:]
    var channels: [String: ChannelSlot] = [:]
    /// The live flows in the order of their numbers.
    var first: Flow?
    var newest: Flow?
    /// How many they are.
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
    /// What `Kernel.Errors` holds.
    var errors: [Value] = []
    /// Asked at the end of each visit and flow: all that a trace costs while it is off.
    var tracing = false
    var trace = Trace()
    /// Answers that came from attempts which are over.
    package internal(set) var staleReplies = 0
    /// What it has done since its start.
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
    ///
    /// - Throws: `KernelError` when a symbol is promised by another device already, or has a name
    ///   that no device may give; nothing is declared then.
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
    ///   - answer: what it gives for a payload, at once.
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

    /// Binds one of the kernel's own symbols that concerns the connection on which it is called: a
    /// client may call it, in the past too, and nobody else.
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

    func make(_ name: String, _ device: DeviceSlot?) -> SymbolSlot {
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
}
