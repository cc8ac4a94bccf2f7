/// What a visit is charged by: its symbol and the digest of its payload.
package struct VisitKey: Hashable, Sendable {
    package var symbol: String
    package var digest: UInt64

    package init(symbol: String, digest: UInt64) {
        self.symbol = symbol
        self.digest = digest
    }
}

/// A visit that a process holds, as the hub's table has it. The machine keeps what else it must
/// know by `id`.
package struct OpenVisit: Equatable, Sendable {
    /// Grows by one with each delivery on one cable.
    package var id: UInt64
    package var symbol: String
    package var digest: UInt64
    /// The attempt limit in seconds.
    package var limit: Double
    /// It may be sent again although it had begun: `replayable` or `keyed`, not `once`.
    package var replayable: Bool
    /// Monotonic time in seconds.
    package var deliveredAt: Double
    package var cancelled: Bool

    package init(
        id: UInt64, symbol: String, digest: UInt64, limit: Double = 3, replayable: Bool = true,
        deliveredAt: Double, cancelled: Bool = false
    ) {
        self.id = id
        self.symbol = symbol
        self.digest = digest
        self.limit = limit
        self.replayable = replayable
        self.deliveredAt = deliveredAt
        self.cancelled = cancelled
    }

    package var key: VisitKey { VisitKey(symbol: symbol, digest: digest) }
}

/// What the hub knows of a process; times are monotonic, in seconds.
package struct ProcessLoad: Equatable, Sendable {
    package var open: [OpenVisit]
    /// When a frame was last read from its cable, a pong too.
    package var lastHeard: Double
    /// When a visit of it last returned.
    package var lastReply: Double
    /// The highest visit delivered on its cable.
    package var highest: UInt64

    package init(
        open: [OpenVisit] = [], lastHeard: Double = 0, lastReply: Double = 0, highest: UInt64 = 0
    ) {
        self.open = open
        self.lastHeard = lastHeard
        self.lastReply = lastReply
        self.highest = highest
    }
}

/// The status page as it was read.
package struct PageReading: Equatable, Sendable {
    package var turns: UInt64
    package var asleep: Bool
    package var begun: UInt64
    package var running: UInt64

    package init(turns: UInt64, asleep: Bool = true, begun: UInt64 = 0, running: UInt64 = 0) {
        self.turns = turns
        self.asleep = asleep
        self.begun = begun
        self.running = running
    }
}

/// What a tick reads of one process.
package struct ProcessReading: Equatable, Sendable {
    package var device: String
    package var incarnation: Int
    /// Nil without a page.
    package var page: PageReading?
    package var stopped: Bool
    package var traced: Bool
    package var load: ProcessLoad

    package init(
        device: String, incarnation: Int, page: PageReading? = nil, stopped: Bool = false,
        traced: Bool = false, load: ProcessLoad = ProcessLoad()
    ) {
        self.device = device
        self.incarnation = incarnation
        self.page = page
        self.stopped = stopped
        self.traced = traced
        self.load = load
    }
}

/// How a process ended.
package struct ExitReason: Equatable, Sendable, CustomStringConvertible {
    /// The signal's name without SIG, empty if the process exited.
    package var signal: String
    package var code: Int32
    /// The system's memory killer did it, or the manifest's limit of memory.
    package var memory: Bool
    /// The manifest's limit of processor time did it.
    package var processorTime: Bool

    package init(
        signal: String = "", code: Int32 = 0, memory: Bool = false, processorTime: Bool = false
    ) {
        self.signal = signal
        self.code = code
        self.memory = memory
        self.processorTime = processorTime
    }

    /// `signal KILL`, `exit 3`.
    package var description: String { signal.isEmpty ? "exit \(code)" : "signal \(signal)" }
}

/// What happens to the machine. Events that name an incarnation which is no more change nothing.
package enum PolicyEvent: Equatable, Sendable {
    // Of a process.

    /// Its handle says so; the cable has been read dry, the group killed, the process reaped.
    case died(
        device: String, incarnation: Int, exit: ExitReason, page: PageReading?, load: ProcessLoad)
    /// There is no process. `error` is the errno's name, `detail` a sentence for people.
    case unspawned(device: String, incarnation: Int, error: String, detail: String)
    /// `until`: for the heir of a swap, the longest deadline in seconds of a flow inside the old
    /// process.
    case ready(device: String, incarnation: Int, until: Double)
    /// The old process of a swap has no flow inside any more.
    case drained(device: String, incarnation: Int)
    /// What it says of itself was refused. `heals`: another device may yet say what fits; nothing
    /// but another build or manifest would, otherwise.
    case mismatched(device: String, incarnation: Int, reason: String, heals: Bool)
    /// The cable closed, or bytes on it broke the protocol.
    case cableClosed(device: String, incarnation: Int)
    /// A visit returned; needed only while `Policy.watchesReturns`.
    case returned(device: String, incarnation: Int, key: VisitKey)

    /// A visit waits for a process of its own, of whichever seat of the device can start one.
    case cell(String)
    /// The visit has left its cell.
    case emptied(device: String, incarnation: Int)

    /// It gets no new flows, for another seat of its device runs another build.
    case outdated(device: String, incarnation: Int)

    // The operator's words, about a seat or about every seat of a device.
    case stop(String)
    case start(String)
    case restart(String)
    case swap(String)
    case kill(String)

    // Of the whole house.
    case boot
    case tick([ProcessReading])
    /// The second one kills everything now.
    case shutdown
}
