import Control
import Values

/// Commits: what a visit changes, made on values that it has seen.
///
/// A commit names the regions that it writes and those that it has only read, each with the
/// revision at which it saw them. It is made when all of them are still there, and then as one
/// revision and one atomic change; otherwise nothing is changed and it is offered again.
extension Hub {
    enum CommitResult {
        case made(revision: UInt64, before: [Value])
        case conflict
        case refused(KernelError)
    }

    /// One region of a commit that is being made.
    struct Change {
        let slot: RegionSlot
        /// The value before.
        let before: Value
        let patch: Patch
    }

    /// Applies the patches of all regions at one revision, or none of them.
    ///
    /// - Parameter slots: the region of each offer; nil where there is none.
    func commit(
        _ offers: [RegionOffer], on slots: [RegionSlot?], by peer: Peer,
        _ author: History.Author
    ) -> CommitResult {
        guard offers.count == 1 || Set(offers.map(\.region)).count == offers.count else {
            return .refused(KernelError(.malformed, "a commit names each region once"))
        }
        var before: [Value] = []
        var plans: [Plan] = []
        for (place, offer) in offers.enumerated() {
            let slot: RegionSlot
            switch granted(offer, slots[place], peer) {
            case .success(let found): slot = found
            case .failure(let error): return .refused(error)
            }
            guard slot.counter == offer.base else { return .conflict }
            before.append(slot.value)
            guard let patch = offer.patch else { continue }
            switch plan(slot, patch) {
            case .success(let plan): plans.append(plan)
            case .failure(let error): return .refused(error)
            }
        }
        guard plans.contains(where: { !$0.patch.isEmpty }) else {
            return .made(revision: counter, before: before)
        }
        if let error = tooLarge(before, of: slots) { return .refused(error) }
        counter += 1
        var changes: [Change] = []
        for plan in plans {
            let slot = plan.slot
            changes.append(Change(slot: slot, before: slot.value, patch: plan.patch))
            let entry = History.Entry(
                from: slot.counter, to: counter, patch: plan.patch, undo: plan.undo, wall: wall,
                author: author)
            slot.change(
                to: plan.next, size: plan.size, slack: plan.slack, entry, limits: limits)
            keep(entry, forReadsOf: slot)
        }
        tell(changes, at: counter)
        return .made(revision: counter, before: before)
    }

    /// Why a commit cannot be made: its repeat could not be told the values that it was made on.
    private func tooLarge(_ before: [Value], of slots: [RegionSlot?]) -> KernelError? {
        // At least what they take, but for the kernel's own: nothing is counted for most commits.
        let most = slots.reduce(0) { $0 + ($1?.size ?? 0) }
        guard most > limits.repeatBytes else { return nil }
        let bytes = before.reduce(0) { $0 + $1.encodedSize }
        guard bytes > limits.repeatBytes else { return nil }
        let names = slots.compactMap(\.?.name).joined(separator: ", ")
        return KernelError(
            .tooLarge,
            "the regions of the commit, \(names), have "
                + "\(bytes) bytes together; the limit is \(limits.repeatBytes): change fewer at "
                + "once",
            outcome: .none)
    }

    /// Bytes by which the size of a region may be told too large before it is counted anew.
    private static let leastSlack = 4_096

    private struct Plan {
        let slot: RegionSlot
        let next: Value
        let size: Int
        let slack: Int
        let patch: Patch
        let undo: Patch
    }

    /// The region of an offer, if the peer may write it, or read it where it only reads.
    private func granted(
        _ offer: RegionOffer, _ slot: RegionSlot?, _ peer: Peer
    ) -> Result<RegionSlot, KernelError> {
        guard let slot else {
            return .failure(
                KernelError(.unbound, "no manifest declares the region \(offer.region)"))
        }
        let reads = offer.patch == nil
        let isGranted =
            reads
            ? peer.device?.reads.contains(slot.name) == true
            : !slot.owned && peer.device?.writes.contains(slot.name) == true
        guard isGranted else {
            return .failure(
                KernelError(
                    .denied,
                    "the manifest of \(peer.name) does not grant "
                        + "\(reads ? "reading" : "writing") \(slot.name)"))
        }
        return .success(slot)
    }

    private func plan(_ slot: RegionSlot, _ patch: Patch) -> Result<Plan, KernelError> {
        let next: Value
        let undo: Patch
        do {
            (next, undo) = try patch.applying(to: slot.value, effort: Patch.effortLimit)
        } catch {
            return .failure(
                KernelError(.malformed, "the patch of \(slot.name) does not apply: \(error)"))
        }
        // What a patch adds and takes away is counted, and the heads around it are not looked at.
        // What that makes too much is counted anew once it says something, and before anything is
        // refused for it: most commits cost no more than they change.
        let added = patch.addedSize
        var size = slot.size + added.values + added.heads - undo.addedSize.values
        var slack = slot.slack + added.heads
        if size > limits.regionBytes || patch.hasCopies || slack > Self.leastSlack + size / 8 {
            size = next.encodedSize
            slack = 0
        }
        guard size <= limits.regionBytes else {
            return .failure(
                KernelError(
                    .tooLarge,
                    "the commit would make \(slot.name) \(size) bytes large; the limit of a region "
                        + "is \(limits.regionBytes)", outcome: .none))
        }
        return .success(
            Plan(slot: slot, next: next, size: size, slack: slack, patch: patch, undo: undo))
    }
}

extension Patch {
    /// The bytes of the values that it puts into another, and at least those of what surrounds
    /// them there; `copies` aside.
    fileprivate var addedSize: (values: Int, heads: Int) {
        operations.reduce((0, 0)) { sum, operation in
            switch operation {
            case .add(let path, let value):
                (sum.0 + value.encodedSize, sum.1 + 18 + (path.tokens.last?.utf8.count ?? 0))
            case .replace(_, let value): (sum.0 + value.encodedSize, sum.1)
            case .move(_, let path): (sum.0, sum.1 + 18 + (path.tokens.last?.utf8.count ?? 0))
            case .remove, .copy, .test: sum
            }
        }
    }
}
