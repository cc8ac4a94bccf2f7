/// What the hub has done since its start. One addition each on the way of a visit, and no more.
package struct LoadCounts: Sendable {
    /// Visits that were delivered.
    package internal(set) var visits = 0
    /// Those of them that repeat one whose process was lost.
    package internal(set) var replays = 0
    /// Whole values of regions, or of parts of them, that followers were sent.
    package internal(set) var snapshots = 0
}

extension Hub {
    /// Visits that wait for a process of their device.
    package var waitingVisits: Int {
        devices.values.reduce(0) { $0 + $1.waiting.count + $1.apart.count }
    }

    /// The visits that each process holds which serves, by the name of its seat.
    package var heldVisits: [(seat: String, count: Int)] {
        devices.values.flatMap { $0.serving.peers }
            .map { ($0.name, $0.visits.count) }.sorted { $0.0 < $1.0 }
    }

    /// Processes that take one visit each: those that have it and those that are coming.
    package var liveCells: Int {
        devices.values.reduce(0) { $0 + $1.cellsBusy + $1.cellsComing }
    }

    /// How many are sent the changes of each place that is followed.
    package var followers: [(place: String, count: Int)] {
        regions.values.flatMap(\.feeds.all).map { ($0.name, $0.followers.count) }
            .sorted { $0.0 < $1.0 }
    }

    /// Whether somebody is sent the changes of a region.
    package func isFollowed(_ region: String) -> Bool {
        regions[region]?.feeds.isEmpty == false
    }
}
