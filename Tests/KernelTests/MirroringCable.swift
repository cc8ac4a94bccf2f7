import Control
import Kernel
import Testing
import Values

/// The cable of a client that keeps mirrors as the wire says (9.3), and forgets everything else.
final class MirroringCable: Cable {
    struct State: Equatable {
        var counter: UInt64
        var value: Value
    }

    private(set) var mirrors: [String: State] = [:]
    /// Messages about regions.
    private(set) var told: [String] = []
    /// Changes that did not fit the mirror.
    private(set) var missed = 0
    /// Whether patches are dropped, as for a peer that lags.
    var drops = false

    func visit(_ order: borrowing VisitOrder) {}
    func cancel(visit: UInt64) {}
    func answer(visit: UInt64, tag: UInt64, _ answer: Answer) {}
    func reply(call: UInt64, _ result: Result<[UInt8], KernelError>) {}
    func accepted(call: UInt64) {}
    func channel(call: UInt64, _ answer: ChannelAnswer) {}

    func snapshot(region: String, at revision: Revision, _ value: Value) {
        told.append("snapshot \(region) \(revision.counter)")
        mirrors[region] = State(counter: revision.counter, value: value)
    }

    func together(_ count: Int) {}

    func patch(_ update: Update) {
        guard !drops else { return }
        let (revision, changes) = (update.revision, update.changes)
        told.append("patch \(changes.map(\.region).joined(separator: " ")) \(revision.counter)")
        for change in changes {
            guard let state = mirrors[change.region],
                state.counter == change.from
                    || (change.from..<max(change.from, revision.counter)).contains(state.counter),
                let value = try? change.patch.apply(to: state.value)
            else {
                missed += 1
                continue
            }
            mirrors[change.region] = State(counter: revision.counter, value: value)
        }
    }

    func value(_ region: String) -> Value? { mirrors[region]?.value }

    /// What was told since the last look.
    func heard() -> [String] {
        defer { told = [] }
        return told
    }
}

/// Numbers that are the same in each run: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
