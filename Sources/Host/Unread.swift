import Driver
import UnixSocket

/// What all clients together have left unread, and its bound: each of them may be let off for a
/// while, and thousands would fill the machine meanwhile. Devices do not count, for the kernel ends
/// those that do not read in other ways, and there are few of them.
@LoopActor
final class Unread {
    /// One client that has left something.
    struct Share: Equatable {
        var client: Int
        var bytes: Int
        /// When it last took something, in nanoseconds of the loop.
        var progress: UInt64
    }

    /// Bytes, as far as the connections have told.
    private(set) var bytes = 0
    private let most: Int
    private unowned let house: House
    private var isJudging = false

    init(_ house: House, most: Int) {
        self.house = house
        self.most = most
    }

    /// A client has left so many bytes more.
    func changed(by count: Int) {
        bytes += count
        guard bytes > most, !isJudging else { return }
        isJudging = true
        // What was written in this turn has not had its chance to leave.
        EventLoop.shared.schedule(at: EventLoop.shared.now + HouseLimits.unreadLook) {
            [unowned self] in
            isJudging = false
            judge()
        }
    }

    private func judge() {
        let plugs = Array(house.clients.values)
        for plug in plugs where plug.hasUnread { _ = plug.flush() }
        let shares = plugs.enumerated().compactMap { $1.share(of: $0) }
        let all = shares.reduce(0) { $0 + $1.bytes }
        for share in Self.beyond(most, shares) {
            plugs[share.client].cutOff(
                because: "all clients have left \(all) bytes unread, and \(most) are the limit; "
                    + "\(share.bytes) wait for this one, which has taken nothing for "
                    + "\((EventLoop.shared.now - share.progress) / 1_000_000) ms")
        }
    }

    /// Who is to be cut off so that the others have left no more than that: the one that has made
    /// no progress for longest, among those for which more waits than for most.
    nonisolated static func beyond(_ most: Int, _ shares: [Share]) -> [Share] {
        var left = shares
        var gone: [Share] = []
        var all = left.reduce(0) { $0 + $1.bytes }
        while all > most {
            let mean = all / left.count
            let large = left.indices.filter { left[$0].bytes >= mean }
            guard let next = large.min(by: { left[$0].progress < left[$1].progress }) else { break }
            let share = left.remove(at: next)
            all -= share.bytes
            gone.append(share)
        }
        return gone
    }
}
