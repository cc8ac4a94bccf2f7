import DeviceKit
import Glibc

/// `mutate`: what a change of one row costs writer, kernel and subscriber, in a table of 100 rows
/// and in larger ones.
///
/// The writer is a device that makes one commit after the other, each of one row. This process is
/// the subscriber: it follows the regions, and looks at the rows that have changed. The sizes take
/// turns, so that whatever disturbs one disturbs all.
@LoopActor
enum Mutate {
    /// Commits of one measurement.
    private static let commits = 50
    private static let rounds = 40
    private static let warmUps = 3
    private static let most = 3.0
    /// What is measured one after the other: the changes of a pair take each other back.
    private static let pairs: [[LedgerChange]] = [
        [.update], [.insert, .remove], [.move, .moveBack],
    ]

    static func run(_ instance: Instance) async throws {
        let processes = Processes(
            writer: try instance.pid(of: "ledgers"), kernel: instance.kernel.pid)
        var subjects: [any Follower] = []
        for size in Ledgers.all { subjects.append(try await subject(instance.kernel, size)) }
        var failures = 0
        for pair in pairs {
            for (name, costs) in try await measure(pair, of: subjects, processes) {
                failures += tell(name, costs)
            }
        }
        for subject in subjects { try await subject.compare() }
        guard failures == 0 else {
            throw KernelError(.failed, "\(failures) of the ratios are above \(two(most))")
        }
    }

    private static func subject<Size: LedgerSize>(
        _ kernel: Kernel, _ size: Size.Type
    ) async throws -> any Follower {
        let subject = Subscriber<Size>(kernel)
        try await subject.begin()
        return subject
    }

    /// The costs of each change: of every subject, in the order of the rounds.
    private static func measure(
        _ changes: [LedgerChange], of subjects: [any Follower], _ processes: Processes
    ) async throws -> [(name: String, costs: [[Cost]])] {
        var costs = changes.map { _ in [[Cost]](repeating: [], count: subjects.count) }
        for round in 0..<warmUps + rounds {
            for (place, change) in changes.enumerated() {
                for (index, subject) in subjects.enumerated() {
                    let before = try processes.used
                    let time = try await subject.perform(
                        .init(change: change, first: round * commits, count: commits))
                    let used = try processes.used
                    guard round >= warmUps else { continue }
                    costs[place][index].append(
                        Cost(nanoseconds: time, from: before, to: used, commits: commits))
                }
            }
        }
        return zip(changes, costs).map { ($0.rawValue, $1) }
    }

    /// - Returns: how many ratios are too large.
    private static func tell(_ name: String, _ costs: [[Cost]]) -> Int {
        for (size, costs) in zip(Ledgers.all, costs) {
            print("mutate \(name), \(size.rows) rows: \(Cost.text(costs))")
        }
        var failures = 0
        let ratios = Cost.gated.map { name, figure in
            let ratio = median(
                zip(costs[0], costs[costs.count - 1]).map { figure($1) / figure($0) })
            if ratio > most { failures += 1 }
            return "\(name) \(two(ratio))"
        }
        print(
            "mutate \(name), 100,000 rows to 100, median of \(rounds): "
                + ratios.joined(separator: ", ")
                + " (each at most \(two(most))): \(failures == 0 ? "PASS" : "FAIL")")
        fflush(nil)
        return failures
    }

    nonisolated static func median(_ numbers: [Double]) -> Double {
        numbers.isEmpty ? 0 : numbers.sorted()[numbers.count / 2]
    }
}

/// What one commit has cost.
private struct Cost {
    var nanoseconds: Double
    var writer: Use
    var kernel: Use
    var subscriber: Use

    init(nanoseconds: Int, from before: Uses, to after: Uses, commits: Int) {
        self.nanoseconds = Double(nanoseconds) / Double(commits)
        writer = (after.writer - before.writer) / Double(commits)
        kernel = (after.kernel - before.kernel) / Double(commits)
        subscriber = (after.subscriber - before.subscriber) / Double(commits)
    }

    /// What is to be about the same whatever the size.
    static let gated: [(name: String, figure: @Sendable (Cost) -> Double)] = [
        ("time", { $0.nanoseconds }),
        ("processor of the writer", { $0.writer.nanoseconds }),
        ("of the kernel", { $0.kernel.nanoseconds }),
        ("of the subscriber", { $0.subscriber.nanoseconds }),
        (
            "allocations",
            { $0.writer.allocations + $0.kernel.allocations + $0.subscriber.allocations }
        ),
        ("bytes", { $0.writer.sent + $0.writer.received + $0.subscriber.received }),
    ]

    /// The medians in words.
    static func text(_ costs: [Cost]) -> String {
        func median(_ figure: (Cost) -> Double) -> Double { Mutate.median(costs.map(figure)) }
        func three(_ figure: (Use) -> Double) -> String {
            [
                median { figure($0.writer) }, median { figure($0.kernel) },
                median { figure($0.subscriber) },
            ].map { "\(Int($0))" }.joined(separator: "/")
        }
        return "\(Int(median { $0.nanoseconds })) ns a commit; of writer/kernel/subscriber "
            + "\(three { $0.nanoseconds }) ns of processor, \(three { $0.allocations }) "
            + "allocations of \(three { $0.allocated }) bytes; on the wire "
            + "\(Int(median { $0.writer.sent })) bytes "
            + "from the writer, \(Int(median { $0.writer.received })) to it, "
            + "\(Int(median { $0.subscriber.received })) to the subscriber"
    }
}

/// A table of one size, under whatever type.
@LoopActor
private protocol Follower {
    /// Has the writer work, and waits until this process has seen all of it.
    /// - Returns: the nanoseconds of the commits as the writer sees them.
    func perform(_ work: Ledgers.Work) async throws -> Int
    /// Compares what this process has with what the writer has.
    func compare() async throws
}

/// This process as the subscriber of one region.
@LoopActor
private final class Subscriber<Size: LedgerSize>: Follower {
    private let kernel: Kernel
    private var rows = Table<LedgerRow>()
    /// Rows that were seen to change.
    private var changes = 0
    private var failure: (any Error)?
    private var waiter: UnsafeContinuation<Void, Never>?

    init(_ kernel: Kernel) { self.kernel = kernel }

    /// Fills the table and follows it.
    func begin() async throws {
        _ = try await kernel.call(Ledgers.fill(Size.self), Size.rows)
        Program.spawn { @LoopActor [self] in
            do {
                for try await rows in kernel.buffer.changes(of: Ledger<Size>.self, \.rows) {
                    try take(rows)
                }
            } catch {
                failure = error
            }
            waiter?.resume()
            waiter = nil
        }
        try await see(Size.rows)
    }

    private func take(_ now: Table<LedgerRow>) throws {
        changes += try now.changes(since: rows).count
        rows = now
        waiter?.resume()
        waiter = nil
    }

    /// Waits until so many rows have been seen to change.
    private func see(_ count: Int) async throws {
        while changes < count {
            if let failure { throw failure }
            await withUnsafeContinuation { waiter = $0 }
        }
    }

    func perform(_ work: Ledgers.Work) async throws -> Int {
        let isMove = work.change == .move || work.change == .moveBack
        let all = changes + work.count * (isMove ? 2 : 1)
        let time = try await kernel.call(Ledgers.work(Size.self), work)
        try await see(all)
        return time
    }

    func compare() async throws {
        let theirs = try await kernel.call(Ledgers.sum(Size.self), 0)
        let own = try rows.rows.sum
        guard own == theirs, own[0] == Size.rows else {
            throw KernelError(
                .failed, "the subscriber has other rows than the writer: \(own), not \(theirs)")
        }
    }
}
