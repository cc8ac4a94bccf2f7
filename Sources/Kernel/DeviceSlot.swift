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
