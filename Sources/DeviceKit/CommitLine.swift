internal import UnixSocket

/// The commits of this process that touch the same regions, one after the other.
///
/// Commits that are made on the same value conflict, and of those that are offered together the
/// first wins each time: the visit that stands first would win for ever and the others would run
/// out of attempts. So they stand in line, first come, first served, and a commit meets a conflict
/// only with another process.
@LoopActor
struct CommitLine {
    /// A commit that has its turn or waits for it.
    struct Turn {
        fileprivate let number: UInt64
        fileprivate let visit: VisitState
        fileprivate let regions: [String]
        fileprivate var waiter: UnsafeContinuation<Void, any Error>?
    }

    private var turns: [Turn] = []
    private var last: UInt64 = 0

    /// Joins the line.
    /// - Returns: the number of the turn, and whether it has come.
    mutating func join(_ visit: VisitState, _ regions: [String]) -> (number: UInt64, isNow: Bool) {
        last += 1
        let turn = Turn(number: last, visit: visit, regions: regions)
        turns.append(turn)
        return (last, isFirst(turn))
    }

    /// Waits for a turn that has not come.
    mutating func wait(_ number: UInt64, _ waiter: UnsafeContinuation<Void, any Error>) {
        guard let index = turns.firstIndex(where: { $0.number == number }) else {
            return waiter.resume(throwing: CancellationError())
        }
        turns[index].waiter = waiter
    }

    /// Leaves the line.
    /// - Returns: whose turn it is now.
    mutating func leave(_ number: UInt64) -> [(VisitState, UnsafeContinuation<Void, any Error>)] {
        guard let index = turns.firstIndex(where: { $0.number == number }) else { return [] }
        let turn = index == turns.endIndex - 1 ? turns.removeLast() : turns.remove(at: index)
        turn.waiter?.resume(throwing: CancellationError())
        var next: [(VisitState, UnsafeContinuation<Void, any Error>)] = []
        for index in turns.indices {
            guard let waiter = turns[index].waiter, isFirst(turns[index]) else { continue }
            turns[index].waiter = nil
            next.append((turns[index].visit, waiter))
        }
        return next
    }

    /// Whether nothing before it touches the same regions.
    private func isFirst(_ turn: Turn) -> Bool {
        for other in turns {
            if other.number == turn.number { return true }
            if other.regions.contains(where: turn.regions.contains) { return false }
        }
        return true
    }
}

extension DeviceRuntime {
    /// Waits until no commit of this process that came before touches the same regions.
    /// - Throws: `CancellationError`; the turn is given up.
    func awaitTurn(_ number: UInt64) async throws {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation {
                (waiter: UnsafeContinuation<Void, any Error>) in
                guard !Task.isCancelled else {
                    waiter.resume(throwing: CancellationError())
                    return leaveLine(number)
                }
                commits.wait(number, waiter)
            }
        } onCancel: {
            Task(executorPreference: LoopActor.executor) { @LoopActor [self] in leaveLine(number) }
        }
    }

    func leaveLine(_ number: UInt64) {
        for (visit, waiter) in commits.leave(number) { resume(visit, waiter) }
    }
}
