package import Control
package import Values

/// A named value of the buffer.
final class RegionSlot {
    static let devices = "Kernel.Devices"
    static let errors = "Kernel.Errors"
    static let symbols = "Kernel.Symbols"
    static let pipes = "Kernel.Pipes"
    static let channels = "Kernel.Channels"

    /// Bytes of changes for which it is not worth to look at the whole value.
    static let little = 4_096

    let name: String
    /// The place among all regions, in the order of their declaration.
    let id: Int
    /// Whether only the kernel writes it; then it counts its own revisions.
    let owned: Bool
    private(set) var value: Value
    /// The revision of the last change.
    private(set) var counter: UInt64 = 0
    /// What has led to the value, as far back as it is kept.
    private(set) var history: History
    /// What is followed of it.
    let feeds = Feeds()
    /// The commit that goes before all others.
    var turn: CommitTurn?
    /// At least the bytes that the value takes, and not many more.
    private(set) var size: Int
    /// How many more they may be.
    private(set) var slack = 0
    /// What visits that run may have read.
    var lateReads = LateReads()
    /// The values that records keep.
    var pins = Pins()
    /// Bytes that all changes have copied, the last one included, and without it; and the revision
    /// before that.
    private var copied = (all: 0, before: 0, at: UInt64(0))

    init(name: String, id: Int, initial: Value, owned: Bool, depth: Int) {
        history = History(depth: depth)
        self.name = name
        self.id = id
        self.value = initial
        self.owned = owned
        size = initial.encodedSize
    }

    /// - Parameters:
    ///   - size: at least the bytes that `next` takes.
    ///   - slack: how many fewer they may be.
    ///   - entry: what leads from the present value to `next` and back.
    func change(
        to next: Value, size: Int, slack: Int = 0, _ entry: History.Entry, limits: HubLimits
    ) {
        if !owned {
            let copies = entry.patch.copies(of: value, limit: max(size, self.size))
            copied = (copied.all + copies, copied.all, counter)
        }
        history.append(entry, before: value, limits)
        value = next
        self.size = size
        self.slack = slack
        counter = entry.to
    }

    /// The value that the region had at a revision; nil when that is too long ago.
    func value(at revision: UInt64) -> Value? {
        if revision >= counter { return value }
        return pins[revision]?.value ?? history.value(at: revision, from: value)
            ?? lateReads.value(at: revision, from: value)
    }

    /// Bytes that all changes up to a revision have copied; nil when that is too long ago.
    func copied(before revision: UInt64) -> Int? {
        if revision >= counter { return copied.all }
        return revision >= copied.at && !owned ? copied.before : nil
    }

    /// The oldest revision at which its value is shown.
    var oldest: UInt64 { history.oldest(counter) }
}

/// The buffer: the regions that there are. `Commits.swift` changes them, and `Subscriptions.swift`
/// tells who follows.
extension Hub {
    /// Allocates a region; the first device that declares it does.
    ///
    /// - Parameter owned: only the kernel writes it, and it counts revisions of its own.
    package func declare(region name: String, initial: Value, owned: Bool = false) {
        allocate(name, initial, owned: owned, depth: limits.pastRevisions)
    }

    /// Allocates a region that keeps so much of its past.
    ///
    /// - Parameter depth: the revisions that its history shows; nil: as many as any may.
    /// - Throws: `KernelError` when that is more than is kept.
    package func declare(
        region name: String, initial: Value, history depth: Int?
    ) throws(KernelError) {
        let depth = depth ?? limits.pastRevisions
        guard (0...limits.pastRevisions).contains(depth) else {
            throw KernelError(
                .denied,
                "the region \(name) has a history of 0 to \(limits.pastRevisions) revisions, not "
                    + "\(depth)")
        }
        allocate(name, initial, owned: false, depth: depth)
    }

    private func allocate(_ name: String, _ initial: Value, owned: Bool, depth: Int) {
        guard regions[name] == nil else { return }
        regions[name] = RegionSlot(
            name: name, id: regions.count, initial: initial, owned: owned, depth: depth)
    }

    /// The regions that exist.
    package var regionNames: [String] { regions.keys.sorted() }

    /// The region of a name.
    /// - Throws: `KernelError` that says which there are.
    func region(_ name: String) throws(KernelError) -> RegionSlot {
        if let slot = regions[name] { return slot }
        throw KernelError(
            .unbound,
            "there is no region \(name); there are " + regionNames.joined(separator: ", "),
            outcome: .none)
    }

    /// The regions that a device is sent from the start: those that its manifest lets it read.
    package func grantedRegions(_ device: DeviceSlot?) -> [String] {
        guard let device else { return [] }
        return device.reads.filter { regions[$0] != nil }.sorted()
    }

    /// The kernel itself changes one of its regions, and tells who follows it.
    ///
    /// - Complexity: linear in both values, for what differs is looked for.
    package func set(region name: String, _ value: Value) {
        guard let slot = regions[name], slot.owned, slot.value != value else { return }
        let patch = Patch.difference(from: slot.value, to: value)
        let entry = History.Entry(
            from: slot.counter, to: slot.counter + 1, patch: patch,
            undo: Patch.difference(from: value, to: slot.value), wall: wall, author: nil)
        let before = slot.value
        slot.change(to: value, size: 0, entry, limits: limits)
        keep(entry, forReadsOf: slot)
        tell([Change(slot: slot, before: before, patch: patch)], at: entry.to)
    }

    /// The value of a region, for the host and for tests.
    package func value(ofRegion name: String) -> Value? { regions[name]?.value }
}
