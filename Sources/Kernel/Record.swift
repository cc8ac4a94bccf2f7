package import Control
package import Values

/// What one stage has asked of the kernel.
final class Record {
    var entries: [Entry] = []
    var reads: [RegionRead] = []
    /// What the present visit has asked anew and what was kept before, against the limits.
    var operations = 0
    var bytes = 0
    /// Bytes of what is kept, in the account of the hub, those of the values of regions apart.
    var held = 0
    /// Those of them that are only held until a repeat has become the present.
    var pending = 0
    /// The values of regions that a repeat is given again.
    var pins: [Pin] = []
    /// The reads by region and number.
    var readNames: Set<ReadName> = []
    /// At least the bytes of the reads as they are sent.
    var readBytes = 0
    /// How often the present visit has asked each thing: a handler may ask a thousand times, and
    /// to count among all that it has asked would make each time dearer than the one before.
    var asked: [EntryName: Int] = [:]
    /// The highest number under which the present visit has asked something.
    var lastTag: UInt64 = 0
    /// What the present visit has asked beyond them.
    var refusals = 0
    /// Answers given, to keep their order.
    var told = 0
    /// Of the operations that one key would name the first of each that differs, in the order in
    /// which they were done.
    private var alike: [Likeness: [Entry]] = [:]

    /// Whether what was read can be sent again in so many bytes.
    func fits(_ bytes: Int) -> Bool {
        guard readBytes > bytes else { return true }
        // The sum may be somewhat too large: only then is it worth to count.
        var sum = 0
        for read in reads where sum <= bytes { sum += read.ownBytes + read.value.encodedSize }
        return sum <= bytes
    }

    /// The present visit has asked something under a number.
    ///
    /// - Parameter place: that of the name among what it has asked; nil for a new one.
    func note(_ name: EntryName, at place: Dictionary<EntryName, Int>.Index?, _ tag: UInt64) {
        if let place { asked.values[place] += 1 } else { asked[name] = 1 }
        lastTag = max(lastTag, tag)
    }

    func add(_ entry: Entry) {
        entry.isRecorded = true
        entries.append(entry)
    }

    /// The number of an entry among different ones that one key would name.
    ///
    /// - Parameter digest: of what it carries.
    /// - Complexity: constant, unless different payloads have one digest.
    func rank(_ entry: Entry, _ digest: UInt64) -> Int {
        let likeness = Likeness(entry.name, digest)
        let known = alike[likeness] ?? []
        if let equal = known.first(where: { $0.name == entry.name }) {
            entry.rank = equal.rank
        } else {
            entry.rank = (known.last?.rank ?? -1) + 1
            alike[likeness, default: []].append(entry)
        }
        return entry.rank
    }

    /// Entries have left the record: none is numbered after them any more.
    func forgetAlike() {
        alike = alike.compactMapValues { known in
            let kept = known.filter(\.isRecorded)
            return kept.isEmpty ? nil : kept
        }
    }

    /// Another visit begins: nothing has been asked in it, and what was only held is forgotten.
    func rewind() {
        for entry in entries { entry.tag = nil }
        asked = [:]
        lastTag = 0
        refusals = 0
        operations = entries.count
        bytes = entries.reduce(0) { $0 + $1.size }
    }
}

/// What a read is compared by.
struct ReadName: Hashable {
    let region: String
    let number: UInt32
}

/// What an operation is compared by.
enum EntryName: Hashable {
    case call(String, [UInt8])
    case commit([String], reads: [String])
    /// A pipe by its signature.
    case run(String, [UInt8])
    case dispatch(String, [UInt8])
    case publish(String, [UInt8])
    /// The symbol or channel does not exist, or the device may not use it.
    case refused(String)

    /// Of a payload only the size and the ends count, for it may be large.
    func hash(into hasher: inout Hasher) {
        switch self {
        case .call(let name, let payload), .run(let name, let payload),
            .dispatch(let name, let payload), .publish(let name, let payload):
            hasher.combine(name)
            hasher.combine(payload.count)
            for byte in payload.prefix(Self.hashed) { hasher.combine(byte) }
            for byte in payload.suffix(Self.hashed) { hasher.combine(byte) }
        case .commit(let written, let read):
            hasher.combine(written)
            hasher.combine(read)
        case .refused(let name): hasher.combine(name)
        }
    }

    /// Bytes of each end of a payload.
    private static let hashed = 16
}

/// What a key says of an operation, whatever it carries.
private struct Likeness: Hashable {
    private enum Kind { case call, run, dispatch, other }

    private let kind: Kind
    private let symbol: String
    private let digest: UInt64

    init(_ name: EntryName, _ digest: UInt64) {
        switch name {
        case .call(let symbol, _): (kind, self.symbol) = (.call, symbol)
        case .dispatch(let symbol, _): (kind, self.symbol) = (.dispatch, symbol)
        case .run: (kind, symbol) = (.run, "")
        // These have no keys of their own.
        case .commit, .publish, .refused: (kind, symbol) = (.other, "")
        }
        self.digest = digest
    }
}

/// One recorded operation.
final class Entry {
    let name: EntryName
    /// Among the equal ones of the stage, from 0.
    let number: Int
    /// Whether having asked it may have changed something.
    let effect: Bool
    /// Bytes that count against the limit of the record.
    let size: Int
    var answer: Answer?
    /// When its answer was first given.
    var order: Int?
    var child: Flow?
    /// Flows of its pipe that wait at a closure until a repeat has asked for the pipe again.
    var closures: [Flow] = []
    /// The question of the present visit; nil while the present visit has not asked it.
    var tag: UInt64?
    /// Times that a commit was offered.
    var offers = 0
    /// It stands in the record.
    var isRecorded = false
    /// Its number among different ones that one key would name.
    fileprivate(set) var rank = 0

    init(name: EntryName, number: Int, effect: Bool, size: Int, tag: UInt64) {
        self.name = name
        self.number = number
        self.effect = effect
        self.size = size
        self.tag = tag
    }
}

/// What a visit asks of the kernel.
package enum Operation {
    /// A call; the deadline is in milliseconds, 0 for the symbol's own.
    case call(SymbolSlot, [UInt8], deadline: UInt32)
    /// A commit of the regions that it writes or has read.
    case commit([RegionOffer])
    /// A pipe that the handler has built.
    case run(RouteDescriptor, [UInt8])
    /// A command for a lane.
    case dispatch(SymbolSlot, [UInt8])
    /// An event for a channel.
    case publish(ChannelSlot, [UInt8])
    /// Something that the device may not ask for; it is answered with the error.
    case refused(String, KernelError)
}
