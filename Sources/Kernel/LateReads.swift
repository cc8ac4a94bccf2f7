internal import Values

/// The way back to what visits that still run may have read.
///
/// A read is told to the kernel after it was made: a process that was slow, or stopped, has read
/// its mirror as it was then. So the changes since the delivery of the oldest visit are kept,
/// however many others the region's history is to hold, and every read that is told finds its
/// value.
struct LateReads {
    /// What leads back over one change.
    private struct Step {
        let from: UInt64
        let to: UInt64
        let undo: Patch
        let bytes: Int
        /// Visits that had been delivered before the change.
        let visits: Int
    }

    private var steps: [Step] = []
    private var bytes = 0
    /// When it is worth to see what nobody can read any more: at twice of what was left then.
    private var nextCount = Self.leastCount
    private var nextBytes = Self.leastBytes

    private static let leastCount = 64
    private static let leastBytes = 64 << 10

    var isEmpty: Bool { steps.isEmpty }

    mutating func append(_ entry: History.Entry, visits: Int) {
        steps.append(
            Step(
                from: entry.from, to: entry.to, undo: entry.undo, bytes: entry.bytes,
                visits: visits))
        bytes += entry.bytes
    }

    var isDue: Bool { steps.count >= nextCount || bytes >= nextBytes }

    /// Forgets the changes before the delivery of a visit, and what is beyond the limits.
    mutating func trim(before visit: Int, _ limits: HubLimits) {
        var gone = 0
        while gone < steps.count,
            steps[gone].visits < visit || bytes > limits.lateBytes
                || steps.count - gone > limits.lateRevisions
        {
            bytes -= steps[gone].bytes
            gone += 1
        }
        steps.removeFirst(gone)
        nextCount = min(max(Self.leastCount, 2 * steps.count), limits.lateRevisions + 1)
        nextBytes = min(max(Self.leastBytes, 2 * bytes), limits.lateBytes + 1)
    }

    /// The value at a revision, if a visit that still runs may have read it.
    ///
    /// - Parameter present: the value after the last change.
    func value(at revision: UInt64, from present: Value) -> Value? {
        guard let next = steps.firstIndex(where: { $0.to > revision }),
            steps[next].from <= revision
        else { return nil }
        return try? Patch(steps[next...].reversed().flatMap(\.undo.operations)).apply(to: present)
    }
}

extension Hub {
    /// A region has changed: who reads late may have read what was before.
    func keep(_ entry: History.Entry, forReadsOf slot: RegionSlot) {
        guard liveFlows > 0 else {
            if !slot.lateReads.isEmpty { slot.lateReads = LateReads() }
            return
        }
        slot.lateReads.append(entry, visits: load.visits)
        guard slot.lateReads.isDue else { return }
        slot.lateReads.trim(before: oldestVisit, limits)
    }

    /// The visit that was delivered first among those that run.
    private var oldestVisit: Int {
        var oldest = Int.max
        var flow = first
        while let here = flow {
            if let visit = here.visit { oldest = min(oldest, visit.count) }
            flow = here.next
        }
        return oldest
    }
}
