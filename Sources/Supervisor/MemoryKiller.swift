internal import Installation

/// How often the system's memory killer has struck, in the kernel's own cgroup or, without one, on
/// the machine.
///
/// A death is compared with a reading that is some time old and not with the newest, which may
/// already have counted it.
struct MemoryKiller {
    private static let interval = 30.0
    private let events: MemoryEvents
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
        older = newer
        newer = events.count
    }

    /// Whether it has struck of late.
    mutating func hasStruck() -> Bool {
        guard let older, let now = events.count else { return false }
        self.older = now
        newer = now
        return now > older
    }
}
