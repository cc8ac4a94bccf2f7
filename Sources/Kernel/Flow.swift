internal import Control

/// One run of a route: what the kernel must know to finish it, whoever dies.
final class Flow {
    /// Who waits for the end.
    enum Origin {
        /// A call of a connection.
        case call(Peer, UInt64)
        /// An operation of another flow's stage.
        case operation(Flow, Entry)
        /// A branch of a fork, by its place.
        case branch(Flow, Int)
        /// A dispatched command: nobody waits, its failure goes to `Kernel.Errors`.
        case command
        /// An event of a channel that the symbol follows, by its number.
        case event(Follower, UInt64)
    }

    /// The verb with which the flow will end, once all that it started has come to rest.
    enum Ending {
        case success([UInt8])
        case failure(KernelError)
        /// Not an end: it leaves its route for that of a symbol, with a value.
        case divert(SymbolSlot, [UInt8])
    }

    enum Trial {
        case none
        /// In a process of its own.
        case cell
        /// In the process that serves, for no cell of the device can be had.
        case ordinary
    }

    let number: UInt64
    let origin: Origin
    let symbol: SymbolSlot
    /// The key of all above this flow; nil for a root without a key of its own.
    let path: String?
    /// Whose route it runs along: its own symbol, or the one that it was diverted to.
    var entered: SymbolSlot
    /// Nil until the device has said how it answers the symbol.
    var route: Route?
    /// The shape of what it must give; empty while nobody knows, or for whom it does not matter.
    var gives = ""
    /// What entered the route; empty when no stage that comes is given it.
    var request: [UInt8]
    /// Bytes that count for who sent the request, whatever it becomes.
    let size: Int
    var value: [UInt8]
    /// The value is still the request.
    var carriesRequest = true
    /// The request is that of who has asked for this flow, who keeps it and is charged for it.
    var borrows: Bool
    /// What it asks for may use the room that is spared, for it is asked by a `finally` or an
    /// event.
    let isBelowSpared: Bool
    /// Bytes in the account of the hub, together and by what they are for.
    var held = 0
    var valueBytes = 0
    var requestBytes = 0
    var resultBytes = 0
    var pendingBytes = 0
    /// Seen time.
    var deadline: UInt64
    /// The deadline without what its `finally` may take.
    var limit: UInt64
    /// Counts the beginnings of flows that nobody above has asked for; 0 before that.
    var root: UInt64 = 0
    /// Seen time at which it began to run.
    var began: UInt64 = 0
    /// The longest that its caller lets it run.
    var bound: UInt64
    /// How many calls and pipes of handlers stand above it.
    var depth = 0
    var position = 0
    var step: UInt32 = 0
    var attempt: UInt32 = 0
    /// Milliseconds since 1970 of the step's first delivery; 0 before it.
    var now: Int64 = 0
    var visit: Visit?
    /// The device in whose queue it stands.
    var waiting: DeviceSlot?
    /// The question that must be asked again before this closure of its pipe can run.
    var awaiting: Entry?
    /// Where its stage is to be tried, after it was in the death of a process.
    var trial = Trial.none
    var record: Record?
    var children: [Flow] = []
    /// What the branches of a fork have given so far.
    var results: [[UInt8]?] = []
    /// A stage has answered, and what it asked for is being brought to rest.
    var reply: EncodedVerb?
    var ending: Ending?
    /// The `finally` runs.
    var last = false
    /// An effect may have been made.
    var dirty = false
    var running = false
    var ended = false
    /// `advance` runs, and has been asked for again within itself.
    var isAdvancing = false
    var goesOn = false
    var lane: Lane?
    /// It waits for a device that is away, and its deadline stands.
    var stands = false
    /// How many of it and of its branches do, since when by seen time, and how long it was before.
    var standing = 0
    var standsSince: UInt64?
    var stood: UInt64 = 0
    /// The list of live flows, in the order of their numbers.
    var next: Flow?
    unowned(unsafe) var previous: Flow?

    init(
        number: UInt64, origin: Origin, symbol: SymbolSlot, path: String?, value: [UInt8],
        deadline: UInt64, bound: UInt64
    ) {
        self.number = number
        self.origin = origin
        self.symbol = symbol
        entered = symbol
        self.path = path
        request = value
        size = value.count
        self.value = value
        switch origin {
        case .operation(let parent, _), .branch(let parent, _):
            borrows = true
            isBelowSpared = parent.isSpared
        case .event:
            borrows = false
            isBelowSpared = true
        case .call, .command:
            borrows = false
            isBelowSpared = false
        }
        self.deadline = deadline
        limit = deadline
        self.bound = bound
    }

    /// Whether its stage still wants answers to what it has asked. A `finally` does until it has
    /// ended, and then holds neither a visit nor a place in a queue.
    var listens: Bool {
        guard last else { return ending == nil && reply == nil }
        return visit != nil || waiting != nil || awaiting != nil
    }

    /// It may use the room that is spared.
    var isSpared: Bool { last || isBelowSpared }

    /// Its stage leaves the value as it is.
    var isAtTap: Bool {
        if case .tap = route?.stages[position] { return true }
        return false
    }

    /// Forgets what belongs to one stage. The step counts on and never repeats.
    func forgetStage() {
        if record != nil { record = nil }
        attempt = 0
        now = 0
        trial = .none
        step += 1
    }
}

/// A stage that a process holds. An object, for it is looked at far more often than it is made.
final class Visit {
    let number: UInt64
    let peer: Peer
    let symbol: SymbolSlot
    /// Seen time of the delivery, or of the last answer: the attempt's own time starts there.
    var since: UInt64
    /// Seen time of the delivery.
    let begun: UInt64
    /// Visits that had been delivered by then, this one included.
    let count: Int
    /// What it asks is compared with the record.
    var replay: Bool
    /// The flow no longer wants its answer; seen time of the cancel.
    var cancelled: UInt64?
    /// Why the visit of a `finally` is no longer answered: its flow ends so when it has come to
    /// rest.
    var abandoned: String?
    /// New operations that wait until the record is used up.
    var held: [(Entry, Operation)] = []
    /// Recorded operations that were asked again and whose answers wait for `parked`.
    var due: [Entry] = []
    /// Of the recorded commits of each kind, the last that it was answered.
    var answered: [EntryName: Answered] = [:]

    init(
        number: UInt64, count: Int, peer: Peer, symbol: SymbolSlot, since: UInt64, replay: Bool
    ) {
        self.count = count
        self.number = number
        self.peer = peer
        self.symbol = symbol
        self.since = since
        begun = since
        self.replay = replay
    }
}
