internal import Values

/// Values of regions that records keep, for a repeat that must read them again. What several
/// records keep of one revision is one value, and counts once.
extension Hub {
    /// Keeps the value of a region for a record. What several keep of one revision is one value.
    func pin(
        _ value: Value, _ bytes: Int, of slot: RegionSlot, at revision: UInt64, _ record: Record
    ) {
        let pin = slot.pins[revision] ?? Pin(slot, revision, value, bytes: bytes)
        guard !record.pins.contains(where: { $0 === pin }) else { return }
        if pin.holders == 0 {
            slot.pins[revision] = pin
            flowBytes += pin.bytes
        }
        pin.holders += 1
        record.pins.append(pin)
    }

    func release(_ pin: Pin) {
        pin.holders -= 1
        guard pin.holders == 0 else { return }
        pin.slot.pins[pin.revision] = nil
        flowBytes -= pin.bytes
    }
}

/// The value of a region that records of live stages keep, whatever becomes of the region.
final class Pin {
    unowned let slot: RegionSlot
    let revision: UInt64
    let value: Value
    let bytes: Int
    /// Records that keep it.
    var holders = 0

    init(_ slot: RegionSlot, _ revision: UInt64, _ value: Value, bytes: Int) {
        self.slot = slot
        self.revision = revision
        self.value = value
        self.bytes = bytes
    }
}

extension RegionSlot {
    /// Bytes of a value that it has, or had at a revision.
    func bytes(of value: Value, at revision: UInt64) -> Int {
        pins[revision]?.bytes
            ?? (revision == counter && !owned ? size : value.encodedSize)
    }
}
