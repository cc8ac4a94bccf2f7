internal import Installation

/// How often the system's memory killer has struck, in the kernel's own cgroup or, without one, on
/// the machine.
///
/// A death is compared with a reading that is some time old and not with the newest, which may
/// already have counted it. Each stroke explains one death: two devices that are killed at once
/// have two, and a third death has none.
struct MemoryKiller {
    private static let interval = 30.0
    private let events: MemoryEvents
    /// The strokes that explain no death any more: they are old, or have explained one.
    private var older: UInt64?
    private var newer: UInt64?
    private var readAt = 0.0

    init(_ events: MemoryEvents = MemoryEvents()) {
        self.events = events
        older = events.count
        newer = older
    }

    /// Reads the counter now and then.
    mutating func tick(at now: Double) {
        guard now - readAt >= Self.interval else { return }
        readAt = now
        // What a death has used up since stays used up.
        older = newer.map { max($0, older ?? $0) }
        newer = events.count
    }

    /// Whether it has struck of late, for one death: the stroke counts as explained.
    mutating func takeStroke() -> Bool {
        guard let older, let now = events.count, now > older else { return false }
        self.older = older + 1
        return true
    }
}
