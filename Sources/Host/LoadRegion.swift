import Glibc
import Installation
import Kernel
import UnixSocket
import Values

/// The region `Kernel.Load`: how much goes through this kernel. It is set once a second while
/// somebody follows it; the timer ends with the last follower, so that an idle kernel sleeps.
@LoopActor
final class LoadRegion {
    nonisolated static let name = "Kernel.Load"
    /// Nanoseconds from one look to the next.
    private static let second: UInt64 = 1_000_000_000

    private unowned let house: House
    private var isRunning = false
    /// The last look while the timer ran: when, and the visits until then.
    private var last: (at: UInt64, visits: Int)?

    init(_ house: House) {
        self.house = house
        house.hub.declare(region: Self.name, initial: .null, owned: true)
    }

    /// Somebody is about to be sent the region: it tells of now.
    func followed() {
        guard !isRunning else { return }
        isRunning = true
        last = nil
        look()
    }

    private func look() {
        let now = EventLoop.shared.now
        house.hub.set(region: Self.name, value(at: now))
        last = (now, house.hub.load.visits)
        EventLoop.shared.schedule(at: now + Self.second) { [unowned self] in
            guard house.hub.isFollowed(Self.name) else {
                isRunning = false
                return
            }
            house.turn()
            look()
        }
    }

    private func value(at now: UInt64) -> Value {
        let hub = house.hub
        var rate: Value = .null
        if let last, now > last.at {
            let seconds = Double(now - last.at) / 1e9
            rate = .int(Int64((Double(hub.load.visits - last.visits) / seconds).rounded()))
        }
        let members: [String: Value] = [
            "at": .date(Clock.realtime),
            "visits": .int(Int64(hub.load.visits)),
            "visitsPerSecond": rate,
            "flows": .int(Int64(hub.liveFlows)),
            "flowBytes": .int(Int64(hub.flowBytes)),
            "replays": .int(Int64(hub.load.replays)),
            "waiting": .int(Int64(hub.waitingVisits)),
            "staleReplies": .int(Int64(hub.staleReplies)),
            "residentBytes": .int(Self.residentBytes),
            "unreadBytes": .int(Int64(house.unread?.bytes ?? 0)),
            "trims": .int(Int64(house.trims)),
            "cells": .int(Int64(hub.liveCells)),
            "channels": hub.channelLoad,
            "snapshots": .int(Int64(hub.load.snapshots)),
            "followers": .map(
                Dictionary(hub.followers.map { ($0.place, .int(Int64($0.count))) }) { $1 }),
            "held": .map(
                Dictionary(hub.heldVisits.map { ($0.seat, .int(Int64($0.count))) }) { $1 }),
        ]
        return .map(members)
    }

    /// The memory that this process occupies.
    private static var residentBytes: Int64 {
        let fields = SystemFile.text("/proc/self/statm", limit: 256)?.split(separator: " ") ?? []
        guard fields.count > 1, let pages = Int64(fields[1]) else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
