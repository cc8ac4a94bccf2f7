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
        let start = peer.preview
        peer.preview = target
        move(peer, from: start, to: target)
        return place(of: target, among: slots)
    }

    /// Moves the mirrors of a client to the present; its regions are sent again as they change.
    package func leavePreview(_ peer: Peer) {
        guard let start = peer.preview else { return }
        peer.preview = nil
        move(peer, from: start, to: nil)
    }

    /// Why a client that looks at the past may not call a symbol.
    @inline(__always)
    func previewing(_ peer: Peer, _ symbol: SymbolSlot) -> KernelError? {
        symbol.onlyReads ? nil : previewing(peer, symbol.name)
    }

    /// The same of a channel, to which it would publish.
    @inline(__always)
    func previewing(_ peer: Peer, _ name: String) -> KernelError? {
        guard let preview = peer.preview else { return nil }
        return KernelError(
            .previewing,
            "\(name) is not done while this connection looks at the past, revision "
                + "\(Revision(epoch: epoch, counter: preview)): leave with Kernel.History.leave",
            outcome: .none, retry: true)
    }

    /// A client in the past follows a region only if it is known as it was then.
    func check(_ slot: RegionSlot, inThePastOf peer: Peer) throws(KernelError) {
        guard let preview = peer.preview, !slot.owned else { return }
        guard preview >= slot.oldest, slot.value(at: preview) != nil else {
            throw notKept(slot, preview)
        }
    }

    /// A client in the past is sent a place as it was then.
    func send(_ feed: Feed, to peer: Peer, asAt preview: UInt64) {
        guard let value = feed.slot.value(at: preview) else { return }
        load.snapshots += 1
        peer.cable.snapshot(
            region: feed.name, at: Revision(epoch: epoch, counter: preview),
            feed.content(of: value))
    }

    // MARK: - Where

    /// The regions of the buffer that a client follows.
    private func followed(by peer: Peer) -> [RegionSlot] {
        var slots: [Int: RegionSlot] = [:]
        for feed in peer.follows.values where !feed.slot.owned { slots[feed.slot.id] = feed.slot }
        return slots.values.sorted { $0.id < $1.id }
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

    /// Moves all mirrors at once: in the past they stand at the revision that is looked at, in the
    /// present each at the last change of its own place. One message for those that come to the
    /// same revision; what is too large for it is sent whole, before it.
    ///
    /// - Parameters:
    ///   - start: where the mirrors are; nil: in the present.
    ///   - target: where they go; nil: to the present.
    private func move(_ peer: Peer, from start: UInt64?, to target: UInt64?) {
        var room = limits.previewBytes
        var changes: [UInt64: [RegionChange]] = [:]
        var wholes: [(feed: Feed, at: UInt64)] = []
        let feeds = peer.follows.values.filter { !$0.slot.owned }
            .sorted { ($0.slot.id, $0.id) < ($1.slot.id, $1.id) }
        for feed in feeds {
            let (from, to) = (start ?? feed.counter, target ?? feed.counter)
            guard from != to else { continue }
            guard let patch = feed.way(from: from, to: to, room: room) else {
                wholes.append((feed, to))
                continue
            }
            room -= patch.weight
            changes[to, default: []].append(
                RegionChange(region: feed.name, from: from, patch: patch))
        }
        if wholes.count + changes.count > 1 {
            peer.cable.together(wholes.count + changes.count)
        }
        for (feed, place) in wholes { send(feed, to: peer, asAt: place) }
        for (place, changes) in changes.sorted(by: { $0.key < $1.key }) {
            peer.cable.patch(Update(at: Revision(epoch: epoch, counter: place), changes))
        }
    }
}

extension Feed {
    /// What leads its followers from one revision to another; nil when it is more than there is
    /// room for, or is not known.
    fileprivate func way(from place: UInt64, to target: UInt64, room: Int) -> Patch? {
        guard pointer != nil else { return slot.way(from: place, to: target, room: room) }
        guard let before = slot.value(at: place), let after = slot.value(at: target) else {
            return nil
        }
        let way = Patch.difference(from: content(of: before), to: content(of: after))
        return way.weight <= room ? way : nil
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
}

extension Peer {
    /// Whether it is sent the changes of a place now.
    func isTold(of feed: Feed) -> Bool { preview == nil || feed.slot.owned }
}
