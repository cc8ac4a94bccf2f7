package import Control

/// A symbol as the hub knows it: who answers, and how.
package final class SymbolSlot {
    package let name: String
    let id: Int
    /// Who answers; nil for the kernel's own symbols.
    package let device: DeviceSlot?
    /// The kernel's own answer.
    var builtin: (([UInt8]) -> Result<[UInt8], KernelError>)?
    /// The kernel's own answer to a client, about its connection.
    var personal: ((Peer, [UInt8]) -> Result<[UInt8], KernelError>)?
    /// Whether it only reads, so that a client that looks at the past may call it.
    var onlyReads = false
    /// As announced by the device; the defaults until then.
    package internal(set) var traits = Traits()
    /// The shapes of payload and output, as announced.
    package internal(set) var takes = ""
    package internal(set) var gives = ""
    /// Whether the device has announced how it answers.
    var known = false
    /// The question that runs the pipe of which this is a closure; nil for every announced symbol.
    let home: Home?
    /// What a flow of this symbol runs along; nil for a closure, which none begins with.
    var route: Route!

    /// Where the code of a closure is that a handler made at run time.
    struct Home {
        let flow: Flow
        let entry: Entry
    }

    init(name: String, id: Int, device: DeviceSlot?, home: Home? = nil) {
        self.home = home
        self.name = name
        self.id = id
        self.device = device
    }

    /// What the traits say, or what the device's wall says for them.
    var replay: Traits.Replay {
        traits.replay ?? (device?.pure == true ? .replayable : .once)
    }
}

/// A device as the manifest declares it, whether or not a process of it runs.
package final class DeviceSlot {
    package let name: String
    /// Whether it stands behind the wall that makes it a function of its input.
    package let pure: Bool
    let reads: Set<String>
    let writes: Set<String>
    let calls: [String]?
    let publishes: Set<String>
    /// How many processes of it serve beside each other: its seats.
    package let seats: Int
    /// The processes that serve; what was announced last stands while there is none.
    var serving = Generation()
    /// Those that served before, for the flows that began under them, the oldest first. Each has a
    /// process.
    var elders: [Generation] = []
    /// The process to which every visit goes; nil if there is none, or if `home` must choose.
    var sole: Peer?
    /// The visits that wait for a process.
    var waiting: [Flow] = []
    var waitingBytes = 0
    /// How many of them are events of channels, which fill no queue.
    var waitingEvents = 0
    /// The visits that wait for a cell each, and how many cells are coming and how many are there.
    var apart: [Flow] = []
    var cellsComing = 0
    var cellsBusy = 0
    /// Those that are there.
    var cells: [Peer] = []
    /// What waits is being given away; who begins to wait meanwhile is seen to by the same loop.
    var isDelivering = false
    /// Why no process will come by itself: `failed`, `stopped` or `done`.
    package internal(set) var refused: String?
    /// The same of each seat; the device is refused when all of them are.
    var refusals: [Int: String] = [:]
    /// Whether a death was charged to a visit since the charges were last forgiven.
    package var charged = false

    init(_ manifest: DeviceDeclaration) {
        name = manifest.name
        pure = manifest.pure
        reads = Set(manifest.reads).union(manifest.writes)
        writes = Set(manifest.writes)
        calls = manifest.calls
        publishes = Set(manifest.publishes)
        seats = max(1, manifest.instances)
    }

    /// Whether the manifest lets it call a symbol: by name, or by a prefix that ends in `*`.
    package func mayCall(_ symbol: String) -> Bool {
        guard let calls else { return true }
        return calls.contains { grant in
            grant.hasSuffix("*") ? symbol.hasPrefix(grant.dropLast()) : symbol == grant
        }
    }
}

/// What the hub takes from a manifest.
package struct DeviceDeclaration: Sendable {
    package var name: String
    package var pure: Bool
    package var provides: [String]
    /// Nil: every symbol.
    package var calls: [String]?
    package var reads: [String]
    package var writes: [String]
    /// Channels.
    package var publishes: [String]
    /// Processes that serve beside each other.
    package var instances: Int

    package init(
        name: String, pure: Bool, provides: [String], calls: [String]?, reads: [String],
        writes: [String], publishes: [String] = [], instances: Int = 1
    ) {
        self.publishes = publishes
        self.instances = instances
        self.name = name
        self.pure = pure
        self.provides = provides
        self.calls = calls
        self.reads = reads
        self.writes = writes
    }
}

/// The stages that a flow runs along. A route never changes; a device that announces another pipe
/// makes a new one, and flows go on along the route on which they started.
final class Route {
    enum Stage {
        /// The output is the next value.
        case pipe(SymbolSlot)
        /// The value stays.
        case tap(SymbolSlot)
        /// The kernel joins the request and the value.
        case withRequest
        /// A flow for each branch.
        case fork([Route])
    }

    let stages: [Stage]
    let last: SymbolSlot?
    /// The shape of what it gives.
    let gives: String
    /// Whether the output of its only stage is its own.
    let isOnePipe: Bool
    /// The place of the last stage that is given the request; -1 if there is none.
    let lastJoin: Int

    init(_ stages: [Stage], last: SymbolSlot?, gives: String = "") {
        if stages.count == 1, last == nil, case .pipe = stages[0] {
            isOnePipe = true
        } else {
            isOnePipe = false
        }
        lastJoin =
            stages.lastIndex { if case .withRequest = $0 { true } else { false } } ?? -1
        self.gives = gives
        self.stages = stages
        self.last = last
    }
}

extension RouteDescriptor {
    /// Its stages and branches, those within its forks included.
    var size: Int {
        stages.reduce(0) { sum, stage in
            stage.branches.reduce(sum + 1) { $0 + 1 + $1.size }
        }
    }
}

extension Binding {
    /// The route of a pipe; nil for a handler.
    package var route: RouteDescriptor? {
        stages.map { RouteDescriptor(stages: $0, last: last, gives: gives) }
    }
}

/// How a device answers one symbol, as it announces it.
package struct Binding: Sendable, Equatable {
    package var name: String
    package var traits: Traits
    /// The stages of a pipe; nil for a handler.
    package var stages: [StageDescriptor]?
    /// Whether the pipe has a `finally`.
    package var last: Bool
    /// The shapes of payload and output; empty when they are not told.
    package var takes: String
    package var gives: String

    package init(
        name: String, traits: Traits, stages: [StageDescriptor]?, last: Bool, takes: String = "",
        gives: String = ""
    ) {
        self.takes = takes
        self.gives = gives
        self.name = name
        self.traits = traits
        self.stages = stages
        self.last = last
    }
}
