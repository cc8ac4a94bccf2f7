package import Control
package import Values

/// Time travel, which concerns one connection alone: a client that previews a revision is sent its
/// regions as they were then, and no change of them until it leaves. Nobody else notices, and since
/// it may not ask for anything meanwhile, nothing runs again.
///
/// The client's mirrors are moved by patches like any other, all of them by one message. A preview
/// is of the moment: whoever lags or connects anew is in the present.
extension Hub {
    /// Where to.
    package enum Journey {
        case revision(Revision)
        /// So many changes of the followed regions forward, or, below 0, back.
        case steps(Int)
    }

    /// Moves the mirrors of a client to a revision and stops there.
    ///
    /// - Returns: where it is: `revision`, `change` (who made what stands there), and the `oldest`
    ///   and `latest` revisions that it can reach.
    /// - Throws: `KernelError` when the revision is not kept or not made; nothing has moved then.
    package func preview(_ peer: Peer, _ journey: Journey) throws(KernelError) -> Value {
        let slots = followed(by: peer)
        let target: UInt64
        switch journey {
        case .revision(let revision): target = try counter(of: revision)
        case .steps(let count):
            target = walk(count, from: peer.preview ?? counter, among: slots)
        }
        if let gone = slots.first(where: { target < $0.oldest }) {
            throw notKept(gone, target)
        }
        peer.preview = target
        move(peer, to: target, slots)
        return place(of: target, among: slots)
    }

    /// Moves the mirrors of a client to the present; its regions are sent again as they change.
    package func leavePreview(_ peer: Peer) {
        guard peer.preview != nil else { return }
        let slots = followed(by: peer)
        peer.preview = nil
        move(peer, to: counter, slots)
        for slot in slots where peer.mirrors[slot.id] == slot.counter {
            peer.mirrors[slot.id] = nil
        }
    }

    /// Why a client that looks at the past may not call a symbol.
    @inline(__always)
    func previewing(_ peer: Peer, _ symbol: SymbolSlot) -> KernelError? {
        guard let preview = peer.preview, !symbol.onlyReads else { return nil }
        return KernelError(
            .previewing,
            "\(symbol.name) is not done while this connection looks at the past, revision "
                + "\(Revision(epoch: epoch, counter: preview)): leave with Kernel.History.leave",
            outcome: .none, retry: true)
    }

    /// A client in the past is sent a region as it was then.
    func follow(
        _ peer: Peer, _ slot: RegionSlot, inThePastAt preview: UInt64
    ) throws(KernelError) {
        guard preview >= slot.oldest, let value = slot.value(at: preview) else {
            throw notKept(slot, preview)
        }
        if peer.follows.insert(slot.id).inserted { slot.followers.append(peer) }
        peer.mirrors[slot.id] = preview
        peer.cable.snapshot(
            region: slot.name, at: Revision(epoch: epoch, counter: preview), value)
    }

    // MARK: - Where

    /// The regions of the buffer that a client follows.
    private func followed(by peer: Peer) -> [RegionSlot] {
        regions.values.filter { !$0.owned && peer.follows.contains($0.id) }
            .sorted { $0.id < $1.id }
    }

    private func counter(of revision: Revision) throws(KernelError) -> UInt64 {
        guard revision.epoch == epoch else {
            throw KernelError(
                .unavailable,
                "the revision \(revision) is of another start of the kernel: this one is \(epoch)",
                outcome: .none)
        }
        guard revision.counter <= counter else {
            throw KernelError(
                .unavailable,
                "the revision \(revision) is not made yet: the latest is \(epoch)-\(counter)",
                outcome: .none)
        }
        return revision.counter
    }

    private func notKept(_ slot: RegionSlot, _ target: UInt64) -> KernelError {
        KernelError(
            .unavailable,
            "\(slot.name) is not kept at revision \(epoch)-\(target) any more: the oldest is "
                + "\(epoch)-\(slot.oldest)", outcome: .none)
    }

    /// The revision so many changes away; at the ends it stays.
    private func walk(_ steps: Int, from start: UInt64, among slots: [RegionSlot]) -> UInt64 {
        let oldest = slots.map(\.oldest).max() ?? 0
        var place = start
        let count = min(steps.magnitude, UInt(limits.previewSteps))
        guard steps < 0 else {
            for _ in 0..<count {
                if place < oldest {
                    place = oldest
                    continue
                }
                guard let next = slots.compactMap({ $0.history.next(after: place) }).min()
                else { break }
                place = next
            }
            return place
        }
        // What stands here was made earlier: the first step back is one before that.
        place = slots.compactMap { $0.lastChange(at: place) }.max() ?? place
        for _ in 0..<count {
            guard let next = slots.compactMap({ $0.history.previous(before: place) }).max(),
                next >= oldest
            else { break }
            place = next
        }
        return max(place, min(start, oldest))
    }

    private func place(of target: UInt64, among slots: [RegionSlot]) -> Value {
        func name(_ counter: UInt64) -> Value {
            .text("\(Revision(epoch: epoch, counter: counter))")
        }
        let entry = slots.compactMap { $0.history.entry(at: target) }.max { $0.to < $1.to }
        return .map([
            "revision": name(target),
            "change": entry.map { $0.value(epoch: epoch, number: nil) } ?? .null,
            "oldest": name(slots.map(\.oldest).max() ?? 0),
            "latest": name(slots.map(\.counter).max() ?? counter),
        ])
    }

    // MARK: - How

    /// One message for all mirrors. What is too large for it is sent whole, before it.
    private func move(_ peer: Peer, to target: UInt64, _ slots: [RegionSlot]) {
        var room = limits.previewBytes
        var changes: [RegionChange] = []
        for slot in slots {
            let place = peer.mirrors[slot.id] ?? slot.counter
            guard place != target else {
                // What happens from now on is not told.
                peer.mirrors[slot.id] = target
                continue
            }
            if let patch = slot.way(from: place, to: target, room: room) {
                room -= patch.weight
                changes.append(RegionChange(region: slot.name, from: place, patch: patch))
                peer.mirrors[slot.id] = target
            } else if let value = slot.value(at: target) {
                peer.cable.snapshot(
                    region: slot.name, at: Revision(epoch: epoch, counter: target), value)
                peer.mirrors[slot.id] = target
            }
        }
        guard !changes.isEmpty else { return }
        peer.cable.patch(at: Revision(epoch: epoch, counter: target), changes)
    }
}

extension RegionSlot {
    /// The last change at or before a revision; nil when it is not known.
    fileprivate func lastChange(at revision: UInt64) -> UInt64? {
        revision >= counter ? counter : history.entry(at: revision)?.to
    }

    /// The patch from one revision to another: the changes on the way, or the whole value where
    /// that is less; nil when both are more than there is room for.
    fileprivate func way(from place: UInt64, to target: UInt64, room: Int) -> Patch? {
        var most = room
        var way: Patch?
        if min(place, target) >= oldest {
            way = history.way(from: place, to: target, limit: room)
            most = way?.weight ?? room
            if let way, most <= Self.little { return way }
        }
        guard let next = value(at: target), next.weight(limit: most) <= most else { return way }
        return Patch([.replace([], next)])
    }

    /// Bytes of changes for which it is not worth to look at the whole value.
    private static let little = 4_096
}

extension Peer {
    /// A change as the peer's mirror can apply it, which then is at the change's revision.
    func placed(_ change: RegionChange, of slot: RegionSlot) -> RegionChange {
        guard !mirrors.isEmpty, let place = mirrors.removeValue(forKey: slot.id) else {
            return change
        }
        return RegionChange(region: change.region, from: place, patch: change.patch)
    }

    /// It is sent whole regions of now, or nothing any more.
    func isPresent() {
        preview = nil
        if !mirrors.isEmpty { mirrors = [:] }
    }
}
