package import Control
package import Values

/// A named value of the buffer.
final class RegionSlot {
    static let devices = "Kernel.Devices"
    static let errors = "Kernel.Errors"
    static let symbols = "Kernel.Symbols"
    static let pipes = "Kernel.Pipes"
    static let channels = "Kernel.Channels"

    let name: String
    let id: Int
    /// Whether only the kernel writes it; then it counts its own revisions.
    let owned: Bool
    private(set) var value: Value
    /// The revision of the last change.
    private(set) var counter: UInt64 = 0
    /// What has led to the value, as far back as it is kept.
    private(set) var history = History()
    /// Who is sent its patches.
    var followers: [Peer] = []

    init(name: String, id: Int, initial: Value, owned: Bool) {
        self.name = name
        self.id = id
        self.value = initial
        self.owned = owned
    }

    /// - Parameter entry: what leads from the present value to `next` and back.
    func change(to next: Value, _ entry: History.Entry, limits: HubLimits) {
        history.append(entry, before: value, limits)
        value = next
        counter = entry.to
    }

    /// The value that the region had at a revision; nil when that is too long ago.
    func value(at revision: UInt64) -> Value? {
        revision >= counter ? value : history.value(at: revision, from: value)
    }

    /// The oldest revision at which its value is known.
    var oldest: UInt64 { history.oldest(counter) }
}

/// The buffer: regions, commits, and who follows.
extension Hub {
    /// Allocates a region; the first device that declares it does.
    package func declare(region name: String, initial: Value, owned: Bool = false) {
        guard regions[name] == nil else { return }
        regions[name] = RegionSlot(
            name: name, id: regions.count, initial: initial, owned: owned)
    }

    /// The regions that exist.
    package var regionNames: [String] { regions.keys.sorted() }

    /// The regions that a device is sent from the start: those that its manifest lets it read.
    package func grantedRegions(_ device: DeviceSlot?) -> [String] {
        guard let device else { return [] }
        return device.reads.filter { regions[$0] != nil }.sorted()
    }

    enum CommitResult {
        case made(revision: UInt64, before: [Value])
        case conflict
        case refused(KernelError)
    }

    /// Applies the patches of all regions at one revision, or none of them.
    func commit(
        _ offers: [Operation.Offer], by peer: Peer, _ author: History.Author
    ) -> CommitResult {
        var changes: [(RegionSlot, Value, RegionChange, undo: Patch)] = []
        var before: [Value] = []
        guard Set(offers.map(\.region)).count == offers.count else {
            return .refused(KernelError(.malformed, "a commit names each region once"))
        }
        for offer in offers {
            guard let slot = regions[offer.region] else {
                return .refused(
                    KernelError(.unbound, "no manifest declares the region \(offer.region)"))
            }
            guard !slot.owned, let device = peer.device, device.writes.contains(slot.name) else {
                return .refused(
                    KernelError(
                        .denied, "the manifest of \(peer.name) does not grant writing \(slot.name)")
                )
            }
            guard slot.counter == offer.base else { return .conflict }
            do {
                let (next, undo) = try offer.patch.applying(to: slot.value)
                let change = RegionChange(
                    region: slot.name, from: slot.counter, patch: offer.patch)
                changes.append((slot, next, change, undo))
                before.append(slot.value)
            } catch {
                return .refused(
                    KernelError(.malformed, "the patch of \(slot.name) does not apply: \(error)"))
            }
        }
        guard changes.contains(where: { !$0.2.patch.operations.isEmpty }) else {
            return .made(revision: counter, before: before)
        }
        counter += 1
        for (slot, next, change, undo) in changes {
            let entry = History.Entry(
                from: change.from, to: counter, patch: change.patch, undo: undo, wall: wall,
                author: author)
            slot.change(to: next, entry, limits: limits)
        }
        tell(changes.map { ($0.0, $0.2) }, at: counter)
        return .made(revision: counter, before: before)
    }

    /// The kernel itself changes one of its regions.
    package func set(region name: String, _ value: Value) {
        guard let slot = regions[name], slot.owned, slot.value != value else { return }
        let patch = Patch.difference(from: slot.value, to: value)
        let entry = History.Entry(
            from: slot.counter, to: slot.counter + 1, patch: patch,
            undo: Patch.difference(from: value, to: slot.value), wall: wall, author: nil)
        slot.change(to: value, entry, limits: limits)
        tell([(slot, RegionChange(region: name, from: entry.from, patch: patch))], at: entry.to)
    }

    /// One atomic patch for each peer that follows any of the regions.
    private func tell(_ changes: [(RegionSlot, RegionChange)], at counter: UInt64) {
        let revision = Revision(epoch: epoch, counter: counter)
        var told: Set<ObjectIdentifier> = []
        for (slot, _) in changes {
            for peer in slot.followers where told.insert(ObjectIdentifier(peer)).inserted {
                guard peer.preview == nil || slot.owned else { continue }
                peer.cable.patch(
                    at: revision,
                    changes.filter { peer.follows.contains($0.0.id) }
                        .map { peer.placed($0.1, of: $0.0) })
            }
        }
    }

    /// The peer is sent the region, and then its changes.
    /// - Throws: `KernelError` when there is no such region, or it is not granted.
    package func follow(_ peer: Peer, region name: String) throws(KernelError) {
        guard let slot = regions[name] else {
            throw KernelError(
                .unbound,
                "there is no region \(name); there are " + regionNames.joined(separator: ", "),
                outcome: .none)
        }
        if let device = peer.device, !device.reads.contains(name) {
            throw KernelError(
                .denied, "the manifest of \(device.name) does not grant reading \(name)",
                outcome: .none)
        }
        if slot.owned { observer?.followed(region: name) }
        if let preview = peer.preview, !slot.owned {
            return try follow(peer, slot, inThePastAt: preview)
        }
        if peer.follows.insert(slot.id).inserted { slot.followers.append(peer) }
        peer.cable.snapshot(
            region: name, at: Revision(epoch: epoch, counter: slot.counter), slot.value)
    }

    /// The peer is sent no more changes of a region.
    package func unfollow(_ peer: Peer, region name: String) {
        guard let slot = regions[name], peer.follows.remove(slot.id) != nil else { return }
        slot.followers.removeAll { $0 === peer }
        peer.mirrors[slot.id] = nil
    }

    func unfollow(_ peer: Peer) {
        peer.isPresent()
        guard !peer.follows.isEmpty else { return }
        for slot in regions.values where peer.follows.contains(slot.id) {
            slot.followers.removeAll { $0 === peer }
        }
        peer.follows = []
    }

    /// What was dropped for a slow peer is made good: every region that it follows, whole.
    package func resync(_ peer: Peer) {
        peer.isPresent()
        for slot in regions.values.sorted(by: { $0.id < $1.id })
        where peer.follows.contains(slot.id) {
            peer.cable.snapshot(
                region: slot.name, at: Revision(epoch: epoch, counter: slot.counter), slot.value)
        }
    }

    /// The value of a region, for the host and for tests.
    package func value(ofRegion name: String) -> Value? { regions[name]?.value }
}
