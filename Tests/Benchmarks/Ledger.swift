import DeviceKit
import Glibc

/// How many rows a ledger has.
protocol LedgerSize: Sendable {
    static var rows: Int { get }
}

enum Hundred: LedgerSize { static let rows = 100 }
enum TenThousand: LedgerSize { static let rows = 10_000 }
enum HundredThousand: LedgerSize { static let rows = 100_000 }

struct LedgerRow: Codable, Sendable, Identifiable, Equatable {
    var id: Int
    var name: String
    var amount: Int
    var isPaid = false

    /// A row as it is at first.
    init(_ id: Int) {
        self.id = id
        name = "the row of number \(id)"
        amount = id % 1_000
    }
}

/// A region with many rows. The ids are even, so that between any two there is room for one more.
struct Ledger<Size: LedgerSize>: Region {
    static var region: String { "BenchLedger\(Size.rows)" }

    var rows = Table<LedgerRow>()
    var title = "a ledger of \(Size.rows) rows"
}

/// What a commit does to one row.
enum LedgerChange: String, Codable, Sendable, CaseIterable {
    case update
    case insert
    case remove
    /// It takes another id, and so another place.
    case move
    /// And back.
    case moveBack
}

/// A device that changes one row of a ledger with each commit, one after the other.
enum Ledgers {
    static let all: [any LedgerSize.Type] = [
        Hundred.self, TenThousand.self, HundredThousand.self,
    ]
    /// Rows that one commit of `fill` adds.
    static let page = 10_000

    struct Work: Codable, Sendable {
        var change: LedgerChange
        /// The first of the places that are changed.
        var first: Int
        /// Commits.
        var count: Int
    }

    static func fill<Size: LedgerSize>(_ size: Size.Type) -> Symbol<Int, Int> {
        Symbol("Bench.fill\(Size.rows)", .replayable.limits(attempt: 120_000, deadline: 400_000))
    }

    /// The nanoseconds that the commits took as their writer sees it.
    static func work<Size: LedgerSize>(_ size: Size.Type) -> Symbol<Work, Int> {
        Symbol("Bench.work\(Size.rows)", .replayable.limits(attempt: 120_000, deadline: 400_000))
    }

    /// The rows as this process has them, for a comparison.
    static func sum<Size: LedgerSize>(_ size: Size.Type) -> Symbol<Int, [Int]> {
        Symbol("Bench.sum\(Size.rows)", .replayable)
    }

    /// The manifest of this program as the device; its processes are counted like this one.
    static func manifest(_ executable: String) -> String {
        let variables = ["LD_PRELOAD", "BENCH_COUNTERS"].compactMap { (name: String) in
            getenv(name).map { "\"\(name)\": \"\(String(cString: $0))\"" }
        }
        let names = all.map { "BenchLedger\($0.rows)" }
        let symbols = all.flatMap { size in
            ["fill", "work", "sum"].map { "\"Bench.\($0)\(size.rows)\"" }
        }
        return """
            {"name": "ledgers", "executable": "\(executable)", "arguments": ["ledgers"],
             "environment": {\(variables.joined(separator: ", "))},
             "provides": [\(symbols.joined(separator: ", "))],
             "reads": [\(names.map { "\"\($0)\"" }.joined(separator: ", "))],
             "writes": [\(names.map { "\"\($0)\"" }.joined(separator: ", "))],
             "regions": [\(
                 names.map { "{\"name\": \"\($0)\", \"initial\": {\"rows\": {}, \"title\": \"\"}}" }
                     .joined(separator: ", "))]}
            """
    }

    static func serve() -> Never {
        Device.serve { device in
            for size in all { bind(size, to: device) }
        }
    }

    @LoopActor
    private static func bind<Size: LedgerSize>(_ size: Size.Type, to device: Bindings) {
        device.bind(fill(size)) { kernel, rows in
            for start in stride(from: 0, to: rows, by: page) {
                try await kernel.buffer.mutate(Ledger<Size>.self) { ledger in
                    for place in start..<min(start + page, rows) {
                        try ledger.rows.set(LedgerRow(2 * place))
                    }
                }
            }
            return rows
        }
        device.bind(work(size)) { kernel, work in
            let begin = Bench.now
            for number in 0..<work.count {
                // The step has no divisor in common with a size: no place comes twice in a size.
                let place = (work.first + number) * 7_919 % Size.rows
                try await kernel.buffer.mutate(Ledger<Size>.self) { ledger in
                    try perform(work.change, on: &ledger.rows, at: place)
                }
            }
            return Int(Bench.now - begin)
        }
        device.bind(sum(size)) { kernel, _ in
            try await kernel.buffer.read(Ledger<Size>.self).rows.rows.sum
        }
    }

    private static func perform(
        _ change: LedgerChange, on rows: inout Table<LedgerRow>, at place: Int
    ) throws {
        let id = 2 * place
        switch change {
        case .update: try rows.update(id) { $0.amount += 1 }
        case .insert: try rows.set(LedgerRow(id + 1))
        case .remove: rows.remove(id + 1)
        case .move: try move(id, to: id + 1, in: &rows)
        case .moveBack: try move(id + 1, to: id, in: &rows)
        }
    }

    private static func move(
        _ old: Int, to new: Int, in rows: inout Table<LedgerRow>
    ) throws {
        guard var row = try rows[old] else {
            throw KernelError(.failed, "there is no row \(old)")
        }
        row.id = new
        rows.remove(old)
        try rows.set(row)
    }
}

extension Sequence<LedgerRow> {
    /// How many there are, and two sums that differ when one differs.
    var sum: [Int] {
        reduce(into: [0, 0, 0]) { sum, row in
            sum[0] += 1
            sum[1] += row.amount
            sum[2] += (row.id + 1) * (row.amount + 1) % 1_000_003
        }
    }
}
