internal import Control

/// The processes of one build of a device, which are equal: any of them may take any stage.
///
/// Two processes are of one build if they run the same program and have announced the same. Builds
/// never mix inside a flow: the flows that began under a generation stay with it as long as a
/// process of it lives, and new ones begin under the one that serves.
final class Generation {
    private(set) var peers: [Peer]
    /// What it has announced last; several may have announced the same.
    var announced: [Peer.Announced]
    private let program: UInt64
    /// The last flow that began under it, by the count of beginnings; none of those that serve.
    var last = UInt64.max
    /// Its flows that nobody above has asked for and that have not ended; kept once it has a last.
    var flows = 0
    /// Who was chosen last, so that equal ones are taken in turn.
    private var turn = 0

    init() {
        peers = []
        announced = []
        program = 0
    }

    init(_ peer: Peer, _ announced: [Peer.Announced]) {
        peers = [peer]
        self.announced = announced
        program = peer.program
    }

    /// Whether a process belongs to it.
    func admits(_ peer: Peer, _ announced: [Peer.Announced]) -> Bool {
        guard peer.program == program, announced.count == self.announced.count else { return false }
        let known = Dictionary(self.announced.map { ($0.binding.name, $0.binding) }) { $1 }
        return announced.allSatisfy {
            known[$0.binding.name].map($0.binding.isSame) ?? false
        }
    }

    func add(_ peer: Peer) {
        peers.append(peer)
    }

    /// Whether it was there.
    @discardableResult
    func remove(_ peer: Peer) -> Bool {
        guard let index = peers.firstIndex(where: { $0 === peer }) else { return false }
        peers.remove(at: index)
        return true
    }

    func process(in seat: Int) -> Peer? {
        peers.first { $0.seat == seat }
    }

    /// The process that holds the fewest visits.
    func leastLoaded() -> Peer? {
        guard peers.count > 1 else { return peers.first }
        var best = (turn + 1) % peers.count
        for offset in 2...peers.count {
            let index = (turn + offset) % peers.count
            if peers[index].visits.count < peers[best].visits.count { best = index }
        }
        turn = best
        return peers[best]
    }
}

extension DeviceSlot {
    /// Whether a new flow can be delivered.
    var serves: Bool { !serving.peers.isEmpty }

    /// Whose the stages of a flow are.
    func generation(of flow: Flow) -> Generation {
        guard !elders.isEmpty, flow.root > 0 else { return serving }
        return elders.first { flow.root <= $0.last } ?? serving
    }

    /// The first waiting visit for which there is a process.
    var firstDeliverable: Int? {
        if serves { return waiting.isEmpty ? nil : 0 }
        guard !elders.isEmpty else { return nil }
        return waiting.firstIndex { !generation(of: $0).peers.isEmpty }
    }

    /// Follows every change of who serves.
    func findSole() {
        sole = elders.isEmpty && serving.peers.count == 1 ? serving.peers[0] : nil
    }
}
