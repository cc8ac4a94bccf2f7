import Values

/// What the followers of one place are sent: a region, or what stands at a pointer inside it.
///
/// A part is told as an array: of what stands at the pointer, or empty where nothing does. Its
/// followers are sent what has changed there and nothing else, so that its revision is that of the
/// last change of the part.
final class Feed {
    /// What peers call it: the region's name, and behind a `#` the pointer.
    let name: String
    /// The hub's own number.
    let id: Int
    unowned let slot: RegionSlot
    /// Nil: the whole region.
    let pointer: Pointer?
    /// The revision of the last change that its followers were told.
    var counter: UInt64
    var followers: [Peer] = []

    init(name: String, id: Int, slot: RegionSlot, pointer: Pointer?) {
        self.name = name
        self.id = id
        self.slot = slot
        self.pointer = pointer
        counter = slot.counter
    }

    /// Of a region's value, what its followers see.
    func content(of value: Value) -> Value {
        guard let pointer else { return value }
        return .array(pointer.resolve(in: value).map { [$0] } ?? [])
    }

    /// What a change of the region is to its followers; nil when it leaves the part as it was.
    func patch(of change: Hub.Change) -> Patch? {
        guard let pointer else { return change.patch }
        let patch =
            change.patch.rebased(to: pointer, in: change.before)
            ?? Patch.difference(
                from: content(of: change.before), to: content(of: change.slot.value))
        return patch.isEmpty ? nil : patch
    }
}
