public import Control
internal import UnixSocket
public import Values
internal import Wire

/// The regions, and parts of them, as this process knows them.
///
/// A mirror equals the kernel's region at the revision that it names, and never goes back: a patch
/// is applied when the region had the mirror's own revision before it. What the kernel says belongs
/// together is applied together, and only then is anybody told.
@LoopActor
final class Mirror {
    struct State {
        var revision: Revision
        var value: Value
    }

    /// Whoever observes a place, until it says that it does no more.
    struct Observer: Hashable {
        let place: String
        fileprivate let number: Int
    }

    /// What belongs together and has not come in full.
    private struct Batch {
        var left: UInt64
        var regions: [String: State] = [:]
        var told: [(String, RegionUpdate)] = []
    }

    private(set) var regions: [String: State] = [:]
    /// What is sent of a place that nobody observes was on its way when the last observer left.
    private let onlyObserved: Bool
    private var parts: [String: [UInt8]] = [:]
    private var batch: Batch?
    private var observers: [String: [Int: @LoopActor (RegionUpdate) -> Void]] = [:]
    private var interruptions: [Int: @LoopActor (KernelError) -> Void] = [:]
    private var lastObserver = 0

    /// - Parameter onlyObserved: whether nothing is kept but what is observed. A device keeps all
    ///   that its manifest lets it read.
    init(onlyObserved: Bool = false) {
        self.onlyObserved = onlyObserved
    }

    /// Tells of every change of a place, beginning with the state that is known.
    ///
    /// - Parameter interrupted: told when the connection has ended.
    @discardableResult
    func observe(
        _ place: String, _ observer: @escaping @LoopActor (RegionUpdate) -> Void,
        interrupted: (@LoopActor (KernelError) -> Void)? = nil
    ) -> Observer {
        lastObserver += 1
        interruptions[lastObserver] = interrupted
        observers[place, default: [:]][lastObserver] = observer
        if let state = regions[place] { observer(.snapshot(state.revision, state.value)) }
        return Observer(place: place, number: lastObserver)
    }

    /// - Returns: whether nobody observes the place any more.
    func forget(_ observer: Observer) -> Bool {
        interruptions[observer.number] = nil
        guard observers[observer.place]?.removeValue(forKey: observer.number) != nil else {
            return false
        }
        guard observers[observer.place]?.isEmpty == true else { return false }
        observers[observer.place] = nil
        return true
    }

    /// The kernel sends the place no more.
    func drop(_ place: String) {
        regions[place] = nil
        parts[place] = nil
    }

    // MARK: - From the kernel

    /// Takes a message if it is about regions.
    /// - Returns: what the kernel is to be told in answer.
    /// - Throws: when the kernel breaks the protocol, or a patch does not apply; the mirror is then
    ///   as it was.
    func take(_ message: KernelMessage) throws -> Mismatch? {
        switch message {
        case .snapshot(let part): try take(part)
        case .patch(let epoch, let counter, let changes):
            try take(epoch: epoch, counter: counter, changes)
        case .together(let count):
            guard batch == nil else { throw WireError.field("together") }
            if count > 1 { batch = Batch(left: count) }
        case .digest(let region, let epoch, let counter, let digest):
            return try compare(region, Revision(epoch: epoch, counter: counter), digest)
        default: break
        }
        return nil
    }

    /// Whether what the kernel says of a place is kept.
    private func keeps(_ place: String) -> Bool {
        !onlyObserved || observers[place] != nil
    }

    /// Takes a part of a snapshot; the parts are applied together.
    private func take(_ part: KernelMessage.SnapshotPart) throws {
        guard part.part < part.parts else { throw WireError.field("snapshot") }
        let isLast = part.part + 1 == part.parts
        // The rest of a snapshot whose beginning was dropped is worth nothing, also to who observes
        // the place again meanwhile.
        guard keeps(part.region), part.part == 0 || parts[part.region] != nil else {
            if isLast { apply([]) }
            return
        }
        var bytes = part.part == 0 ? [] : parts.removeValue(forKey: part.region) ?? []
        guard bytes.count + part.bytes.count <= WireLimits.region else {
            throw WireError.field("snapshot")
        }
        bytes.append(contentsOf: part.bytes)
        guard isLast else {
            parts[part.region] = bytes
            return
        }
        let value = try bytes.withUnsafeBytes { raw in
            var reader = CBORReader(raw)
            return try reader.value()
        }
        let state = State(
            revision: Revision(epoch: part.epoch, counter: part.counter), value: value)
        apply([(part.region, state, .snapshot(state.revision, value))])
    }

    /// A step into the past leads from the mirror's own revision back.
    private static func fits(_ own: UInt64, _ from: UInt64, _ to: UInt64) -> Bool {
        own == from || (from < own && own < to)
    }

    /// Applies one commit. The value has not changed from `from` until it, so that every revision
    /// between them is the same.
    private func take(
        epoch: UInt64, counter: UInt64, _ changes: [RegionChange]
    ) throws {
        let revision = Revision(epoch: epoch, counter: counter)
        if batch == nil, changes.count == 1 { return try take(changes[0], revision) }
        var applied: [(String, State, RegionUpdate)] = []
        for change in changes {
            guard let state = batch?.regions[change.region] ?? regions[change.region],
                state.revision.epoch == epoch,
                Self.fits(state.revision.counter, change.from, counter)
            else { continue }
            let value = try change.patch.apply(to: state.value)
            applied.append(
                (
                    change.region, State(revision: revision, value: value),
                    .patch(revision, change.patch)
                ))
        }
        apply(applied)
    }

    /// Applies a commit of one region, as nearly all are.
    private func take(_ change: RegionChange, _ revision: Revision) throws {
        guard let place = regions.index(forKey: change.region) else { return }
        let state = regions.values[place]
        guard state.revision.epoch == revision.epoch,
            Self.fits(state.revision.counter, change.from, revision.counter)
        else { return }
        let value = try change.patch.apply(to: state.value)
        regions.values[place] = State(revision: revision, value: value)
        if !observers.isEmpty { tell([(change.region, .patch(revision, change.patch))]) }
    }

    private func apply(_ changes: [(place: String, state: State, update: RegionUpdate)]) {
        guard var batch else {
            for change in changes { regions[change.place] = change.state }
            // A device's mirror is read by its visits and seldom observed.
            if !observers.isEmpty { tell(changes.map { ($0.place, $0.update) }) }
            return
        }
        for change in changes {
            batch.regions[change.place] = change.state
            batch.told.append((change.place, change.update))
        }
        batch.left -= 1
        guard batch.left == 0 else {
            self.batch = batch
            return
        }
        self.batch = nil
        regions.merge(batch.regions.filter { keeps($0.key) }) { $1 }
        tell(batch.told)
    }

    private func tell(_ updates: [(String, RegionUpdate)]) {
        for (place, update) in updates {
            for (_, observer) in (observers[place] ?? [:]).sorted(by: { $0.key < $1.key }) {
                observer(update)
            }
        }
    }

    // MARK: - Digests

    /// What this process has instead of what the kernel has.
    struct Mismatch: Equatable {
        let place: String
        let revision: Revision
    }

    /// Comparisons so far, and those that found a difference.
    private(set) var comparisons = (all: 0, differing: 0)

    private var lastMismatch: Mismatch?

    private func compare(
        _ place: String, _ revision: Revision, _ digest: UInt64
    ) throws(WireError) -> Mismatch? {
        guard let state = batch?.regions[place] ?? regions[place], state.revision == revision
        else { return nil }
        comparisons.all += 1
        guard ContentDigest.of(state.value) != digest else { return nil }
        comparisons.differing += 1
        let mismatch = Mismatch(place: place, revision: revision)
        // What was sent anew differs again: the two cannot agree.
        guard mismatch != lastMismatch else { throw WireError.field("digest") }
        lastMismatch = mismatch
        return mismatch
    }

    // MARK: - Another connection

    /// The connection has ended: what had come of something is worthless.
    func interrupt(_ error: KernelError) {
        parts = [:]
        batch = nil
        for (_, tell) in interruptions.sorted(by: { $0.key < $1.key }) { tell(error) }
    }

    /// What is observed, and the revision at which it is known.
    var known: [PeerMessage.Known] {
        Set(regions.keys).union(observers.keys).sorted().map { place in
            let revision = regions[place]?.revision
            return PeerMessage.Known(
                region: place, epoch: revision?.epoch ?? 0, counter: revision?.counter ?? 0)
        }
    }
}

/// What a follower of a region is told.
public enum RegionUpdate: Sendable {
    /// The whole value: at the beginning, and when changes could not be sent one by one.
    case snapshot(Revision, Value)
    /// The change from the state before.
    case patch(Revision, Patch)
}
