internal import Values

/// Values of regions that records keep, for a repeat that must read them again. What several
/// records keep of one revision is one value, and counts once; of one that shares most of its
/// memory with an earlier one that is kept, only what has been copied since counts.
extension Hub {
    /// Keeps the value of a region for a record. What several keep of one revision is one value.
    func pin(
        _ value: Value, _ bytes: Int, of slot: RegionSlot, at revision: UInt64, _ record: Record
    ) {
        let pin: Pin
        if let kept = slot.pins[revision] {
            // What is read again was mostly read a moment ago.
            guard record.pins.lastIndex(where: { $0 === kept }) == nil else { return }
            pin = kept
        } else {
            // Nobody keeps it, so no record has to be searched, however many commits it holds.
            pin = Pin(slot, revision, value, bytes: bytes, copied: slot.copied(before: revision))
            flowBytes += slot.pins.insert(pin)
        }
        pin.holders += 1
        record.pins.append(pin)
    }

    func release(_ pin: Pin) {
        pin.holders -= 1
        guard pin.holders == 0 else { return }
        flowBytes -= pin.slot.pins.remove(pin)
    }
}

/// The value of a region that records of live stages keep, whatever becomes of the region.
final class Pin {
    unowned let slot: RegionSlot
    let revision: UInt64
    let value: Value
    let bytes: Int
    /// Bytes that the changes of the region had copied before this revision; nil when that is not
    /// known any more.
    let copied: Int?
    /// Records that keep it.
    var holders = 0

    init(_ slot: RegionSlot, _ revision: UInt64, _ value: Value, bytes: Int, copied: Int?) {
        self.slot = slot
        self.revision = revision
        self.value = value
        self.bytes = bytes
        self.copied = copied
    }

    /// Bytes that one takes beside the one before it.
    fileprivate static func cost(_ bytes: Int, copied: Int?, after before: Int?) -> Int {
        guard let before, let copied, copied >= before else { return bytes }
        return min(bytes, copied - before)
    }

    /// Bytes that it takes beside the one before it, which stands at so many copied bytes.
    fileprivate func cost(after before: Int?) -> Int {
        Self.cost(bytes, copied: copied, after: before)
    }
}

/// The values of one region that are kept, in the order of their revisions.
struct Pins {
    private var all: [Pin] = []

    init(_ pins: [Pin] = []) {
        all = pins.sorted { $0.revision < $1.revision }
    }

    var isEmpty: Bool { all.isEmpty }

    /// Bytes that they take together.
    var bytes: Int { all.indices.reduce(0) { $0 + cost(at: $1) } }

    subscript(revision: UInt64) -> Pin? {
        let place = place(of: revision)
        return place < all.count && all[place].revision == revision ? all[place] : nil
    }

    /// Bytes by which one of so many bytes, of a revision that is not kept, would make them more.
    func gain(_ bytes: Int, at revision: UInt64, copied: Int?) -> Int {
        let place = place(of: revision)
        let next = place < all.count ? all[place].cost(after: copied) : 0
        let before = place > 0 ? all[place - 1].copied : nil
        return Pin.cost(bytes, copied: copied, after: before) + next - cost(at: place)
    }

    /// Gives the bytes by which they have become more.
    mutating func insert(_ pin: Pin) -> Int {
        let place = place(of: pin.revision)
        let before = cost(at: place)
        all.insert(pin, at: place)
        return cost(at: place) + cost(at: place + 1) - before
    }

    /// Gives the bytes by which they have become less.
    mutating func remove(_ pin: Pin) -> Int {
        let place = place(of: pin.revision)
        let before = cost(at: place) + cost(at: place + 1)
        all.remove(at: place)
        return before - cost(at: place)
    }

    private func cost(at place: Int) -> Int {
        guard place < all.count else { return 0 }
        return all[place].cost(after: place > 0 ? all[place - 1].copied : nil)
    }

    /// Where a revision stands or would stand.
    private func place(of revision: UInt64) -> Int {
        // Most are the newest.
        guard let last = all.last, last.revision >= revision else { return all.count }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].revision < revision { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RegionSlot {
    /// Bytes of a value that it has, or had at a revision.
    func bytes(of value: Value, at revision: UInt64) -> Int {
        pins[revision]?.bytes
            ?? (revision == counter && !owned ? size : value.encodedSize)
    }

    /// Bytes that are to be kept anew for a value of so many bytes that it had at a revision.
    func newBytes(_ value: Value, _ bytes: Int, at revision: UInt64) -> Int {
        guard pins[revision] == nil else { return 0 }
        return pins.gain(bytes, at: revision, copied: copied(before: revision))
    }
}
