package import Control
package import Values

/// Who follows what, and what they are sent.
///
/// A follower of a place has its value at a revision, and from then on each change of it. What
/// several places owe to one commit comes as one message; what a peer must be sent whole, because
/// it is new, was away or did not read, comes together, so that no state that it shows ever mixes
/// two revisions. The hub writes in the order of events, and a cable keeps that order: whatever
/// follows from a change is told after it.
extension Hub {
    /// What a peer wants to follow, and the revision at which it has it already.
    package struct Subscription {
        package var name: String
        package var known: Revision?

        package init(name: String, known: Revision? = nil) {
            self.name = name
            self.known = known
        }
    }

    /// How a subscription goes on.
    package enum Continuation: String {
        /// With the whole value.
        case snapshot
        /// With what has changed since the revision that was named.
        case patches
        /// With the whole value: what has changed since then is not kept.
        case compacted
    }

    /// Tells a change to all who follow any of its regions: each kind of follower is sent one
    /// message, which all peers of that kind share.
    func tell(_ changes: [Change], at counter: UInt64) {
        let revision = Revision(epoch: epoch, counter: counter)
        if changes.count == 1, let feed = changes[0].slot.feeds.only {
            // As most are: a change of one region, which is followed as a whole alone.
            guard let patch = feed.patch(of: changes[0]) else { return }
            let change = RegionChange(region: feed.name, from: feed.counter, patch: patch)
            feed.counter = counter
            return tell(change, of: feed, at: revision)
        }
        var news: [(feed: Feed, change: RegionChange)] = []
        for change in changes {
            for feed in change.slot.feeds.touched(by: change.patch) {
                guard let patch = feed.patch(of: change) else { continue }
                news.append(
                    (feed, RegionChange(region: feed.name, from: feed.counter, patch: patch)))
                feed.counter = counter
            }
        }
        guard news.count > 1 else {
            guard let only = news.first else { return }
            return tell(only.change, of: only.feed, at: revision)
        }
        var told: Set<ObjectIdentifier> = []
        var updates: [[Int]: Update] = [:]
        for item in news {
            for peer in item.feed.followers where told.insert(ObjectIdentifier(peer)).inserted {
                let mine = news.indices.filter {
                    peer.follows[news[$0].feed.id] != nil && peer.isTold(of: news[$0].feed)
                }
                guard !mine.isEmpty else { continue }
                let update = updates[mine] ?? Update(at: revision, mine.map { news[$0].change })
                updates[mine] = update
                peer.cable.patch(update)
            }
        }
    }

    private func tell(_ change: RegionChange, of feed: Feed, at revision: Revision) {
        guard !feed.followers.isEmpty else { return }
        let update = Update(at: revision, [change])
        for peer in feed.followers where peer.isTold(of: feed) { peer.cable.patch(update) }
    }

    /// The peer is sent a region or a part of one, and then its changes.
    /// - Throws: `KernelError` when there is no such region, or it is not granted.
    package func follow(_ peer: Peer, region name: String) throws(KernelError) {
        _ = try follow(peer, [Subscription(name: name)])
    }

    /// The peer is sent what it does not have of several places, together, and then their changes.
    /// - Throws: `KernelError` when one of them is not there or not granted; none is followed then.
    package func follow(
        _ peer: Peer, _ wanted: [Subscription]
    ) throws(KernelError) -> [Continuation] {
        var places: [(slot: RegionSlot, pointer: Pointer?)] = []
        var names: Set<String> = []
        for subscription in wanted {
            // A short message that names a large region over and over would be answered with
            // gigabytes.
            guard names.insert(subscription.name).inserted || peer.device != nil else {
                throw KernelError(
                    .malformed, "\(subscription.name) stands twice among the places to follow",
                    outcome: .none)
            }
            let (slot, pointer) = try place(subscription.name, peer)
            try check(slot, inThePastOf: peer)
            places.append((slot, pointer))
        }
        // What a device reads is bounded by its manifest.
        guard peer.device != nil || peer.follows.count + wanted.count <= limits.subscriptions
        else {
            throw KernelError(
                .overloaded,
                "\(peer.name) follows \(peer.follows.count) places already; the limit of a "
                    + "connection is \(limits.subscriptions)", outcome: .none)
        }
        try check(nesting: places, of: peer)
        var continuations: [Continuation] = []
        var count = 0
        var writes: [() -> Void] = []
        for (subscription, place) in zip(wanted, places) {
            let feed = feed(place.slot, place.pointer, subscription.name)
            if place.slot.owned { observer?.followed(region: place.slot.name) }
            if peer.follows.updateValue(feed, forKey: feed.id) == nil {
                feed.followers.append(peer)
            }
            if let preview = peer.preview, !place.slot.owned {
                continuations.append(.snapshot)
                count += 1
                writes.append { [unowned self] in send(feed, to: peer, asAt: preview) }
                continue
            }
            let missed = subscription.known.map { self.missed(feed, since: $0) }
            switch missed {
            case .some(.some(let updates)):
                continuations.append(.patches)
                count += updates.count
                writes.append { for update in updates { peer.cable.patch(update) } }
            default:
                let sameEpoch = subscription.known?.epoch == epoch
                continuations.append(sameEpoch ? .compacted : .snapshot)
                count += 1
                writes.append { [unowned self] in sendWhole(feed, to: peer) }
            }
        }
        if count > 1 { peer.cable.together(count) }
        for write in writes { write() }
        return continuations
    }

    /// The region and the pointer of a name, if the peer may read it.
    private func place(
        _ name: String, _ peer: Peer
    ) throws(KernelError) -> (slot: RegionSlot, pointer: Pointer?) {
        let parts = name.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let region = String(parts[0])
        let slot = try self.region(region)
        if let device = peer.device, !device.reads.contains(region) {
            throw KernelError(
                .denied, "the manifest of \(device.name) does not grant reading \(region)",
                outcome: .none)
        }
        guard parts.count == 2 else { return (slot, nil) }
        do {
            return (slot, try Pointer(parsing: String(parts[1])))
        } catch {
            throw KernelError(
                .malformed, "\(name): \(error); behind # stands a pointer such as /slides/0",
                outcome: .none)
        }
    }

    /// A client may be sent all that it follows at once. Parts beside each other are together no
    /// more than their region; of those within each other each is sent all that is in it.
    private func check(
        nesting places: [(slot: RegionSlot, pointer: Pointer?)], of peer: Peer
    ) throws(KernelError) {
        guard peer.device == nil else { return }
        var followed: [Int: Set<[String]>] = [:]
        for feed in peer.follows.values {
            followed[feed.slot.id, default: []].insert(feed.pointer?.tokens ?? [])
        }
        for place in places {
            followed[place.slot.id, default: []].insert(place.pointer?.tokens ?? [])
        }
        for place in places {
            let own = place.pointer?.tokens ?? []
            var depths: Set<Int> = []
            for other in followed[place.slot.id] ?? []
            where other.starts(with: own) || own.starts(with: other) { depths.insert(other.count) }
            guard depths.count > limits.nestedPlaces else { continue }
            throw KernelError(
                .overloaded,
                "\(peer.name) follows \(depths.count) parts of \(place.slot.name) within each "
                    + "other; the limit is \(limits.nestedPlaces)", outcome: .none)
        }
    }

    private func feed(_ slot: RegionSlot, _ pointer: Pointer?, _ name: String) -> Feed {
        if let feed = slot.feeds[pointer] { return feed }
        feedCount += 1
        let feed = Feed(name: name, id: feedCount, slot: slot, pointer: pointer)
        slot.feeds.insert(feed)
        return feed
    }

    private func sendWhole(_ feed: Feed, to peer: Peer) {
        load.snapshots += 1
        peer.cable.snapshot(
            region: feed.name, at: Revision(epoch: epoch, counter: feed.counter),
            feed.content(of: feed.slot.value))
    }

    /// What leads from a revision of a place to the present; nil when it is not kept, or is more
    /// than the whole value.
    private func missed(_ feed: Feed, since known: Revision) -> [Update]? {
        let slot = feed.slot
        // Who was in the past may know a region at a revision between two of its changes.
        let latest = slot.owned ? slot.counter : counter
        guard known.epoch == epoch, known.counter <= latest else { return nil }
        guard known.counter != feed.counter else { return [] }
        guard known.counter < feed.counter else {
            let same = RegionChange(region: feed.name, from: known.counter, patch: Patch())
            return [Update(at: Revision(epoch: epoch, counter: feed.counter), [same])]
        }
        if feed.pointer != nil {
            guard let before = slot.value(at: known.counter) else { return nil }
            let patch = Patch.difference(
                from: feed.content(of: before), to: feed.content(of: slot.value))
            let change = RegionChange(region: feed.name, from: known.counter, patch: patch)
            return [Update(at: Revision(epoch: epoch, counter: feed.counter), [change])]
        }
        guard let entries = slot.history.entries(since: known.counter) else { return nil }
        // An entry holds the way back, too.
        let bytes = entries.reduce(0) { $0 + $1.bytes } / 2
        guard bytes < RegionSlot.little || slot.value.weight(limit: bytes) > bytes else {
            return nil
        }
        return entries.map {
            Update(
                at: Revision(epoch: epoch, counter: $0.to),
                [RegionChange(region: feed.name, from: $0.from, patch: $0.patch)])
        }
    }

    /// The peer is sent no more changes of a place.
    package func unfollow(_ peer: Peer, region name: String) {
        for feed in peer.follows.values where feed.name == name {
            peer.follows[feed.id] = nil
            leave(feed, peer)
        }
    }

    func unfollow(_ peer: Peer) {
        peer.preview = nil
        for feed in peer.follows.values { leave(feed, peer) }
        peer.follows = [:]
    }

    private func leave(_ feed: Feed, _ peer: Peer) {
        feed.followers.removeAll { $0 === peer }
        if feed.followers.isEmpty { feed.slot.feeds.remove(feed) }
    }

    /// What was not sent to a peer is made good: each of the places whole, together at one
    /// revision.
    ///
    /// - Parameter names: nil for all that it follows.
    package func resync(_ peer: Peer, _ names: Set<String>? = nil) {
        // Who was in the past is in the present with all of it.
        let names = peer.preview == nil ? names : nil
        peer.preview = nil
        let feeds = peer.follows.values.filter { names?.contains($0.name) != false }
            .sorted { ($0.slot.id, $0.id) < ($1.slot.id, $1.id) }
        if feeds.count > 1 { peer.cable.together(feeds.count) }
        for feed in feeds { sendWhole(feed, to: peer) }
    }

    /// The value of a place that a peer follows, for it to compare its own with.
    package func followed(
        _ name: String, by peer: Peer
    ) throws(KernelError) -> (revision: Revision, value: Value) {
        guard peer.preview == nil else {
            throw KernelError(
                .previewing, "\(name) is not compared while this connection looks at the past",
                outcome: .none, retry: true)
        }
        guard let feed = peer.follows.values.first(where: { $0.name == name }) else {
            throw KernelError(
                .unbound, "this connection does not follow \(name): follow it first",
                outcome: .none)
        }
        return (
            Revision(epoch: epoch, counter: feed.counter), feed.content(of: feed.slot.value)
        )
    }

    /// A peer has something else at a revision than the kernel: it is sent the place anew, and it
    /// is told, for one of the two has a defect.
    package func mismatched(_ peer: Peer, _ name: String, at revision: Revision) {
        guard peer.follows.values.contains(where: { $0.name == name }) else { return }
        report(
            peer.name,
            KernelError(
                .failed,
                "\(peer.name) has another \(name) at \(revision) than the kernel; it is sent anew"),
            flow: nil)
        if tracing { keep(mismatch: name, of: peer, at: revision) }
        resync(peer, [name])
    }
}
