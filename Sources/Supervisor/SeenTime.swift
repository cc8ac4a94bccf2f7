/// Monotonic time without the gaps in which the kernel itself did not run: a stop, a sleep of the
/// machine, a stall.
///
/// A gap over `PolicyNumbers.late` adds nothing; that is the round in which nobody is judged. A
/// second late tick in a row adds one tick, or nothing would ever be judged on a machine that is
/// always late.
struct SeenTime: Sendable {
    private struct Lapse: Sendable {
        var end: Double
        var lost: Double
    }

    private static let lapsesKept = 8

    /// Seen time of the last event.
    private(set) var now = 0.0
    /// Monotonic time of the last event.
    private(set) var raw = 0.0
    private var wasLate = false
    private var lapses: [Lapse] = []

    mutating func advance(to time: Double, isTick: Bool) {
        let gap = max(0, time - raw)
        let late = gap > PolicyNumbers.late
        let counted = !late ? gap : isTick && wasLate ? PolicyNumbers.tick : 0
        raw = max(raw, time)
        now += counted
        if isTick { wasLate = late }
        if late {
            lapses.append(Lapse(end: raw, lost: gap - counted))
            if lapses.count > Self.lapsesKept { lapses.removeFirst() }
        }
    }

    /// The seen time of a moment not after the last event.
    func seen(at time: Double) -> Double {
        var seen = now - (raw - time)
        for lapse in lapses where time < lapse.end {
            seen += min(lapse.lost, lapse.end - time)
        }
        return min(seen, now)
    }
}
