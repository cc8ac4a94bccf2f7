import Values

/// The changes of one region, the oldest first, as far back as the limits go: a small change of a
/// large value costs little. Each leads forward, for who was away, and back, for who looks at the
/// past.
///
/// Invariant: `to` of an entry is `from` of the next one.
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

    private(set) var entries: [Entry] = []
    private var bytes = 0

    mutating func append(_ entry: Entry, _ limits: HubLimits) {
        entries.append(entry)
        bytes += entry.bytes
        var surplus = 0
        while entries.count - surplus > limits.pastRevisions || bytes > limits.pastBytes {
            bytes -= entries[surplus].bytes
            surplus += 1
        }
        entries.removeFirst(surplus)
    }

    /// The value at the revision `from` of an entry; nil when it is not kept.
    ///
    /// - Parameter present: the value after the last entry.
    func value(at revision: UInt64, from present: Value) -> Value? {
        guard let first = entries.firstIndex(where: { $0.from == revision }) else { return nil }
        var value = present
        for entry in entries[first...].reversed() {
            guard let before = try? entry.undo.apply(to: value) else { return nil }
            value = before
        }
        return value
    }
}

extension Patch {
    /// About how many bytes it holds.
    fileprivate var weight: Int {
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
