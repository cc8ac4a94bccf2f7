import Values

/// The changes of one region, the oldest first, as far back as the limits go: a small change of a
/// large value costs little. Each leads forward, for who was away, and back, for who looks at the
/// past. Every so often a whole value is kept, too, so that the way back is short.
///
/// Invariant: `to` of an entry is `from` of the next one, and a keyframe stands at the `from` of an
/// entry that is kept, but not of the oldest.
struct History {
    /// One commit, as far as it changed this region.
    struct Entry {
        /// The revision of the region before.
        let from: UInt64
        /// The revision that the commit made.
        let to: UInt64
        let patch: Patch
        /// What leads back.
        let undo: Patch
        /// Milliseconds since 1970.
        let wall: Int64
        /// Who made it; nil: the kernel itself.
        let author: Author?
        /// About the memory that it takes.
        let bytes: Int

        init(
            from: UInt64, to: UInt64, patch: Patch, undo: Patch, wall: Int64, author: Author?
        ) {
            self.from = from
            self.to = to
            self.patch = patch
            self.undo = undo
            self.wall = wall
            self.author = author
            bytes = patch.weight + undo.weight
        }
    }

    /// What made a change.
    struct Author {
        /// The number of the flow.
        let flow: UInt64
        /// The stage that committed.
        let symbol: String
        let device: String
    }

    /// A whole value, from which the way back begins.
    private struct Keyframe {
        let revision: UInt64
        let value: Value
        let bytes: Int
    }

    /// Holds the entries from `head` on.
    private var ring: [Entry] = []
    private var head = 0
    private var keyframes: [Keyframe] = []
    private var bytes = 0
    /// Entries so far: the number of the newest one.
    private(set) var last: UInt64 = 0

    /// How many entries are shown at most: what is kept beyond them is for reads of visits alone.
    let depth: Int

    init(depth: Int) {
        self.depth = depth
    }

    private var count: Int { ring.count - head }
    private var shown: Int { min(count, depth) }
    /// The number of the oldest entry that is shown.
    var first: UInt64 { last - UInt64(shown) + 1 }

    subscript(number: UInt64) -> Entry { ring[ring.count - 1 - Int(last - number)] }

    /// - Parameter before: the value that the entry's patch was applied to.
    /// - Complexity: constant, but for the weight of a value up to the limit of a keyframe, once in
    ///   as many entries as lie between two.
    mutating func append(_ entry: Entry, before: Value, _ limits: HubLimits) {
        if last % UInt64(limits.keyframeDistance) == 0, last > 0 {
            keep(before, at: entry.from, limits)
        }
        ring.append(entry)
        bytes += entry.bytes
        last += 1
        let most = min(limits.pastRevisions, max(depth, limits.readRevisions))
        while count > most || bytes > limits.pastBytes, count > 0 { forget() }
        // What is gone is let go of in large pieces: each entry is moved once at most.
        if head > limits.pastRevisions {
            ring.removeFirst(head)
            head = 0
        }
    }

    /// Values that would push out the changes that they shorten the way to are not kept.
    private mutating func keep(_ value: Value, at revision: UInt64, _ limits: HubLimits) {
        let weight = value.weight(limit: limits.keyframeBytes)
        guard weight <= limits.keyframeBytes else { return }
        keyframes.append(Keyframe(revision: revision, value: value, bytes: weight))
        bytes += weight
    }

    private mutating func forget() {
        let gone = ring[head]
        bytes -= gone.bytes
        ring[head] = Entry.gone
        head += 1
        while let oldest = keyframes.first, oldest.revision <= gone.from {
            bytes -= oldest.bytes
            keyframes.removeFirst()
        }
    }

    // MARK: - The past

    /// The oldest revision at which who looks at the past may look.
    ///
    /// - Parameter present: the revision after the last entry.
    func oldest(_ present: UInt64) -> UInt64 {
        shown > 0 ? ring[ring.count - shown].from : present
    }

    /// The first entry after a revision; nil when nothing has changed since.
    private func index(after revision: UInt64) -> Int? {
        var low = head
        var high = ring.count
        while low < high {
            let middle = (low + high) / 2
            if ring[middle].to > revision { high = middle } else { low = middle + 1 }
        }
        return low < ring.count ? low : nil
    }

    /// The entry that made what stood at a revision; nil for what was there before any entry.
    func entry(at revision: UInt64) -> Entry? {
        let next = index(after: revision) ?? ring.count
        return next > head ? ring[next - 1] : nil
    }

    /// The next revision at which something changed; nil when nothing has.
    func next(after revision: UInt64) -> UInt64? { index(after: revision).map { ring[$0].to } }

    /// The last known revision before another one at which something stood that is known.
    func previous(before revision: UInt64) -> UInt64? {
        guard count > 0, revision > ring[head].from else { return nil }
        guard let entry = entry(at: revision - 1) else { return ring[head].from }
        return entry.to
    }

    /// The value at a revision of the buffer before the last entry, also between two of this
    /// region; nil when it is not kept.
    ///
    /// - Parameter present: the value after the last entry.
    /// - Complexity: one copy, and the changes up to the next keyframe.
    func value(at revision: UInt64, from present: Value) -> Value? {
        guard let next = index(after: revision), ring[head].from <= revision else { return nil }
        let keyframe = keyframes.first { $0.revision >= revision }
        var end = ring.count
        if let keyframe { end = index(after: keyframe.revision) ?? ring.count }
        // As one patch: what is copied for its first change is changed in place by the others.
        let way = Patch(ring[next..<end].reversed().flatMap(\.undo.operations))
        return try? way.apply(to: keyframe?.value ?? present)
    }

    /// The entries that lead from a revision to the present; nil when one of them is not kept.
    func entries(since revision: UInt64) -> ArraySlice<Entry>? {
        guard let next = index(after: revision), ring[next].from <= revision else { return nil }
        return ring[next...]
    }

    /// What leads from one revision to another that is known, too, in either direction; nil when
    /// it is heavier than a limit.
    func way(from place: UInt64, to target: UInt64, limit: Int) -> Patch? {
        guard let low = index(after: min(place, target)) else { return Patch() }
        let high = index(after: max(place, target)) ?? ring.count
        var weight = 0
        for entry in ring[low..<high] {
            weight += entry.bytes
            guard weight <= limit else { return nil }
        }
        guard target > place else {
            return Patch(ring[low..<high].reversed().flatMap(\.undo.operations))
        }
        let way = Patch(ring[low..<high].flatMap(\.patch.operations))
        // Copies that are small one by one may be more together than a patch may make.
        return way.hasCopies ? nil : way
    }
}

extension History.Entry {
    /// What stands in the place of an entry that is not kept any more.
    static let gone = Self(
        from: 0, to: 0, patch: Patch(), undo: Patch(), wall: 0, author: nil)
}

extension Patch {
    var hasCopies: Bool {
        operations.contains { if case .copy = $0 { true } else { false } }
    }

    /// About how many bytes it holds.
    var weight: Int {
        operations.reduce(0) { sum, operation in
            switch operation {
            case .add(let path, let value), .replace(let path, let value),
                .test(let path, let value):
                sum + path.weight + value.weight()
            case .remove(let path): sum + path.weight
            case .move(let from, let path), .copy(let from, let path):
                sum + from.weight + path.weight
            }
        }
    }
}

extension Pointer {
    fileprivate var weight: Int { tokens.reduce(64) { $0 + 16 + $1.utf8.count } }
}
