internal import Values

/// Whose commit goes first.
///
/// Of the commits that are offered on one value the first wins, and a process that is slower than
/// others may never be the first. One that has met conflicts again and again has its turn: until it
/// is made, those of others on its regions are told to be offered again, which counts for nothing.
/// It is waited for only as long as it may take to run a change once more.
struct CommitTurn {
    private weak var entry: Entry?
    private weak var flow: Flow?
    private let until: UInt64

    init(_ entry: Entry, of flow: Flow, until: UInt64) {
        self.entry = entry
        self.flow = flow
        self.until = until
    }

    /// Whether it is still waited for: its visit runs, and has been told to offer it again.
    func isOpen(at seen: UInt64) -> Bool {
        guard let entry, let flow else { return false }
        return seen < until && entry.answer == nil && entry.tag != nil && flow.visit != nil
    }

    func belongs(to other: Entry) -> Bool { entry === other }
}

extension Hub {
    /// Whether another commit goes first on one of the regions.
    func mustWait(_ entry: Entry, _ slots: [RegionSlot?]) -> Bool {
        slots.contains { slot in
            guard let turn = slot?.turn, !turn.belongs(to: entry) else { return false }
            return turn.isOpen(at: seen)
        }
    }

    /// Gives a commit its turn on all of its regions, once it has met so many conflicts.
    func giveTurn(_ entry: Entry, of flow: Flow, _ slots: [RegionSlot?]) {
        guard entry.offers >= limits.commitTurn, !mustWait(entry, slots) else { return }
        for slot in slots {
            slot?.turn = CommitTurn(entry, of: flow, until: seen + limits.commitTurnTime)
        }
    }
}
