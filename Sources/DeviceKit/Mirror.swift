public import Control
internal import UnixSocket
public import Values
internal import Wire

/// The regions as this process knows them.
///
/// A mirror equals the kernel's region at the revision that it names, and never goes back: a patch
/// is applied when its `from` is the mirror's own revision.
@LoopActor
final class Mirror {
    struct State {
        var revision: Revision
        var value: Value
    }

    private(set) var regions: [String: State] = [:]
    private var parts: [String: [UInt8]] = [:]
    private var observers: [String: [@LoopActor (RegionUpdate) -> Void]] = [:]

    /// Tells of every change of a region, beginning with the state that is known.
    func observe(_ region: String, _ observer: @escaping @LoopActor (RegionUpdate) -> Void) {
        observers[region, default: []].append(observer)
        if let state = regions[region] { observer(.snapshot(state.revision, state.value)) }
    }

    /// Takes a part of a snapshot; the parts are applied together.
    /// - Throws: `WireError` or `CBORError` when the kernel breaks the protocol.
    func take(_ part: KernelMessage.SnapshotPart) throws {
        let gathered = part.part == 0 ? [] : parts[part.region] ?? []
        guard gathered.count + part.bytes.count <= WireLimits.region else {
            throw WireError.field("snapshot")
        }
        let bytes = gathered + part.bytes
        guard part.part + 1 == part.parts else {
            parts[part.region] = bytes
            return
        }
        parts[part.region] = nil
        let value = try bytes.withUnsafeBytes { raw in
            var reader = CBORReader(raw)
            return try reader.value()
        }
        let revision = Revision(epoch: part.epoch, counter: part.counter)
        regions[part.region] = State(revision: revision, value: value)
        tell(part.region, .snapshot(revision, value))
    }

    /// Applies one commit.
    /// - Throws: when a patch does not apply; the mirror is then as it was.
    func take(epoch: UInt64, counter: UInt64, _ changes: [KernelMessage.Change]) throws {
        let revision = Revision(epoch: epoch, counter: counter)
        var applied: [(String, Value, Patch)] = []
        for change in changes {
            guard let state = regions[change.region], state.revision.epoch == epoch,
                state.revision.counter == change.from
            else { continue }
            applied.append((change.region, try change.patch.apply(to: state.value), change.patch))
        }
        for (region, value, _) in applied {
            regions[region] = State(revision: revision, value: value)
        }
        for (region, _, patch) in applied { tell(region, .patch(revision, patch)) }
    }

    private func tell(_ region: String, _ update: RegionUpdate) {
        for observer in observers[region] ?? [] { observer(update) }
    }
}

/// What a follower of a region is told.
public enum RegionUpdate: Sendable {
    /// The whole value: at the beginning, and when changes could not be sent one by one.
    case snapshot(Revision, Value)
    /// The change from the state before.
    case patch(Revision, Patch)
}
