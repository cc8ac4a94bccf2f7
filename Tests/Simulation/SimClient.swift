import Control
import Kernel
import Values

/// The client that sends everything. It reads slowly: when too many changes wait for it they are
/// dropped, and what it follows is sent whole once it has caught up, as the driver does it.
final class SimClient: Cable {
    private enum News {
        case snapshot(String, UInt64, Value)
        case patch(UInt64, [RegionChange])
    }

    /// More patches than that are dropped.
    private static let patience = 4

    private unowned let world: World
    private(set) var peer: Peer!
    var owners: [UInt64: Value] = [:]
    var lastCall: UInt64 = 0
    private var early: [(UInt64, Result<[UInt8], KernelError>)] = []
    private var news: [News] = []
    private var hasLost = false
    private var mirror: [String: (revision: UInt64, value: Value)] = [:]

    init(_ world: World) {
        self.world = world
        peer = Peer(cable: self, device: nil, incarnation: 0, name: "client")
    }

    func follow(_ regions: [String]) {
        for region in regions {
            do {
                try world.hub.follow(peer, region: region)
            } catch {
                world.breach("\(error)")
            }
        }
    }

    /// Replies that came before the world knew the command.
    func deliver() {
        let waiting = early
        early = []
        for (call, result) in waiting { reply(call: call, result) }
    }

    func reply(call: UInt64, _ result: Result<[UInt8], KernelError>) {
        guard let who = owners[call] else { return early.append((call, result)) }
        world.told(who, result.map { Value(encoded: $0) })
    }

    // MARK: - Changes

    var isBehind: Bool { !news.isEmpty || hasLost }

    func snapshot(region: String, at revision: Revision, _ value: Value) {
        news.append(.snapshot(region, revision.counter, value))
    }

    func patch(at revision: Revision, _ changes: [RegionChange]) {
        if hasLost || news.count >= Self.patience {
            hasLost = true
        } else {
            news.append(.patch(revision.counter, changes))
        }
    }

    /// Takes one change; once all are taken it is sent again what was dropped.
    func read() {
        guard !news.isEmpty else {
            hasLost = false
            return world.hub.resync(peer)
        }
        switch news.removeFirst() {
        case .snapshot(let region, let revision, let value):
            if revision < mirror[region]?.revision ?? 0 {
                world.breach("the client's \(region) went back")
            }
            mirror[region] = (revision, value)
        case .patch(let counter, let changes):
            for change in changes {
                guard let old = mirror[change.region], old.revision == change.from,
                    let new = try? change.patch.apply(to: old.value)
                else { return world.breach("a patch does not fit the client's \(change.region)") }
                mirror[change.region] = (counter, new)
            }
        }
    }

    func checkMirror() {
        for (region, state) in mirror where state.value != world.hub.value(ofRegion: region) {
            world.breach("the client sees another value of \(region)")
        }
    }

    func visit(_ order: borrowing VisitOrder) {}
    func cancel(visit: UInt64) {}
    func answer(visit: UInt64, tag: UInt64, _ answer: Answer) {}
    func accepted(call: UInt64) {}
    func channel(call: UInt64, _ answer: ChannelAnswer) {}
}
