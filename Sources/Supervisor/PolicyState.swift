/// Why the machine ends a process. The first cause stays, unless somebody asks for what was a
/// judgement.
package enum EndCause: String, Sendable {
    case stop
    case restart
    case swap
    case kill
    case hang
    case start
    case stopped
    case cable
    /// The visit for which it was started has left it.
    case emptied

    /// Somebody wanted it.
    var isAsked: Bool {
        switch self {
        case .stop, .restart, .swap, .kill, .emptied: true
        case .hang, .start, .stopped, .cable: false
        }
    }
}

/// Every phase but `ready` has a deadline.
package enum ProcessPhase: Sendable {
    case starting  // → ready, parting, killing
    case ready  // → finishing, draining, parting, killing
    case finishing  // an elder whose flows go on → draining, parting, killing
    case draining  // → terminating, killing
    case terminating  // → killing
    case parting  // its cable is closed → killing
    case killing  // → stuck
    case stuck  // SIGKILL sent, not dead

    /// What it becomes at its deadline.
    var next: ProcessPhase {
        switch self {
        case .finishing: .draining
        case .draining: .terminating
        case .terminating, .parting, .starting, .ready: .killing
        case .killing, .stuck: .stuck
        }
    }
}

enum ProcessRole: Sendable {
    case main  // → elder
    case heir  // the new one of a swap → main
    case elder  // the old one of a swap
    case cell  // for one visit, which may be what ended another process
}

/// What the machine remembers of a visit besides the hub's table.
struct VisitMemory: Sendable {
    var begun = false
    /// Seen time of the delivery; once begun, of when that was first seen.
    var at: Double
    var cancelled = false
}

struct PolicyProcess: Sendable {
    let incarnation: Int
    var role = ProcessRole.main
    /// A swap started it, though it may have become the main one before it was ready.
    var isOfSwap = false
    var phase = ProcessPhase.starting
    /// Seen time; nil only when ready.
    var due: Double?
    var cause: EndCause?
    var wasReady = false
    /// Why what it has said of itself was refused, and whether that may pass.
    var mismatch: (reason: String, heals: Bool)?
    /// As last read; nil without a page.
    var turns: UInt64?
    /// The highest visit begun, and when that was first seen.
    var begun = (highest: UInt64(0), at: 0.0)
    /// When the loop last turned; without a page, when a frame was last heard.
    var moved: Double
    var replied = 0.0
    /// Without a page: when it was asked for a sign of life.
    var pinged: Double?
    var stopped: Double?
    var traced = false
    /// It had a page, which contradicted the kernel's table.
    var pageBroke = false
    /// The hub's times as last taken over, which are monotonic time.
    var heardRaw = 0.0
    var repliedRaw = 0.0
    var visits: [UInt64: VisitMemory] = [:]
}

struct Charge: Sendable {
    var weight: Int
    var until: Double
}

/// What is remembered of the visits of a device, over all of its seats.
struct VisitLedger: Sendable {
    /// Keys that died since a visit last returned.
    var dead: Set<VisitKey> = []
    var charges: [VisitKey: Charge] = [:]
    /// Visits that were begun at deaths from outside, since they last returned.
    var coincidences: [VisitKey: Charge] = [:]

    var isEmpty: Bool { charges.isEmpty && dead.isEmpty && coincidences.isEmpty }
}

/// One device, or one seat of it.
struct PolicyDevice: Sendable {
    enum Status: Sendable {
        case off
        case live
        case waiting
        case failed
        case done
    }

    let profile: DeviceProfile
    var name: String { profile.name }
    var wanted = true
    var asked = AskedWord.start
    var status = Status.off
    /// When waiting.
    var due: Double?
    /// The incarnation last given out.
    var last = 0
    /// At most a main one and, during a swap, an heir or an elder; and cells.
    var processes: [PolicyProcess] = []
    var shown: (state: DeviceState, reason: String)?

    /// The step of the backoff.
    var level = 0
    /// Ready since the last counted death.
    var healthy: Double?
    /// The times of deaths on the budget, and how many of the last ones came without one ready
    /// between.
    var counted: [Double] = []
    var barren = 0
    var outside: [Double] = []
    var visited: [Double] = []
    /// `Policy` keeps it equal to that of the other seats.
    var ledger = VisitLedger()
    /// When it was last swapped because another seat had a new build.
    var followed: Double?
    /// Cells that are asked for and not yet started, and the time before which none is.
    var cellsWanted = 0
    var cellsDue: Double?

    init(_ profile: DeviceProfile) { self.profile = profile }

    func index(of incarnation: Int) -> Int? {
        processes.firstIndex { $0.incarnation == incarnation }
    }

    func index(_ role: ProcessRole) -> Int? { processes.firstIndex { $0.role == role } }

    mutating func forgive() {
        level = 0
        counted = []
        barren = 0
        healthy = nil
        ledger = VisitLedger()
        outside = []
        visited = []
        cellsDue = nil
    }
}

/// What the machine must know of a device beforehand; durations are seconds.
package struct DeviceProfile: Sendable, Equatable {
    package enum Restart: String, Sendable {
        /// Always started again.
        case permanent
        /// An exit with code 0 and nothing begun is its end.
        case transient
    }

    /// Of the seat, which is that of the device unless it has several.
    package var name: String
    package var device: String
    package var restart: Restart
    package var startLimit: Double
    package var drain: Double
    package var term: Double

    package init(
        name: String, device: String? = nil, restart: Restart = .permanent,
        startLimit: Double = PolicyNumbers.start, drain: Double = PolicyNumbers.drain,
        term: Double = PolicyNumbers.term
    ) {
        self.name = name
        self.device = device ?? name
        self.restart = restart
        self.startLimit = startLimit
        self.drain = drain
        self.term = term
    }
}
