import CSQLite
import Contract
import Testing

@testable import Infrastructure

struct InvocationsTests {
    private struct Stop: Error {}
    private let folder = TemporaryFolder()
    private let database: Database
    private let invocations: Invocations

    init() throws {
        database = try Database(directory: folder.path)
        invocations = Invocations(database)
    }

    private func keys() throws -> [String] {
        try database.rows("SELECT key FROM invocation ORDER BY key") { try $0.text(0) }
    }

    @Test func `the same key runs the effect once, for the next process too`() throws {
        var runs = 0
        for _ in 0..<3 {
            let reply = try invocations.once(key: "1-2/3", at: 5) {
                runs += 1
                _ = try Library(database).insert(slideshow(UInt8(runs)))
                return [UInt8(runs)]
            }
            #expect(reply == [1])
        }
        let next = Invocations(try Database(directory: folder.path))
        #expect(try next.once(key: "1-2/3", at: 6) { [9] } == [1])
        #expect(try next.once(key: "1-2/4", at: 6) { [9] } == [9])
        #expect(runs == 1)
        #expect(try Library(database).fetchSummaries().count == 1)
    }

    @Test func `an empty and a large reply come back`() throws {
        for reply in [[], Array(repeating: UInt8(1), count: 1 << 20)] as [[UInt8]] {
            let key = "own:\(reply.count)"
            #expect(try invocations.once(key: key, at: 0) { reply } == reply)
            #expect(try invocations.once(key: key, at: 0) { [2] } == reply)
        }
    }

    @Test func `without a key the effect runs each time`() throws {
        var runs = 0
        for _ in 0..<2 {
            _ = try invocations.once(key: nil, at: 0) {
                runs += 1
                return []
            }
        }
        #expect(runs == 2)
        #expect(try keys() == [])
    }

    @Test func `an effect that throws leaves nothing, its key neither`() throws {
        for key in ["1-1/1", nil] {
            #expect(throws: Stop.self) {
                try invocations.once(key: key, at: 0) {
                    _ = try Library(database).insert(slideshow(1))
                    throw Stop()
                }
            }
        }
        #expect(try keys() == [])
        #expect(try Library(database).fetchSummaries() == [])
        #expect(try invocations.once(key: "1-1/1", at: 0) { [3] } == [3])
    }

    @Test func `the look-up, the effect and the key are one transaction`() throws {
        let other = try Database(directory: folder.path)
        try other.rows("PRAGMA busy_timeout=0") { _ in }
        _ = try invocations.once(key: "1-1/1", at: 0) {
            #expect(database.isInTransaction)
            // The other process can neither look the key up nor write until this one is done.
            let error = databaseError {
                _ = try Invocations(other).once(key: "1-1/1", at: 0) { [2] }
            }
            #expect(error?.retry == true)
            return [1]
        }
        #expect(try Invocations(other).once(key: "1-1/1", at: 0) { [2] } == [1])
    }

    /// The process before may still be at its commit. A look-up ahead of the lock would find
    /// nothing and make the effect again.
    @Test func `a key that another process writes meanwhile is found, and the effect not made`()
        throws
    {
        let other = try Database(directory: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        try other.run(
            "INSERT INTO invocation (key, epoch, flow, at, reply) VALUES (?, 1, 1, 0, x'07')",
            .text("1-1/1"))
        // The other one commits at the very moment at which this one meets its lock.
        let context = Unmanaged.passUnretained(other).toOpaque()
        sqlite3_busy_handler(
            database.connection,
            { context, attempt in
                guard let context, attempt == 0 else { return 0 }
                let other = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
                return (try? other.execute("COMMIT")) == nil ? 0 : 1
            }, context)
        var ran = false
        let reply = try invocations.once(key: "1-1/1", at: 0) {
            ran = true
            return [9]
        }
        #expect(reply == [7])
        #expect(!ran)
        #expect(!other.isInTransaction, "it did wait for the lock")
    }

    @Test func `an invocation within another one is refused`() throws {
        let error = databaseError {
            _ = try invocations.once(key: "1-1/1", at: 0) {
                try invocations.once(key: "1-1/2", at: 0) { [] }
            }
        }
        #expect(error?.reason == .nested)
        #expect(try keys() == [])
    }

    @Test(
        arguments: [
            ("0-0", 0, 0), ("1-2/3", 1, 2), ("7-9223372036854775807/a/b", 7, .max),
            ("12-34/", 12, 34),
        ] as [(String, Int64, Int64)])
    func `a key names its flow`(text: String, epoch: Int64, number: Int64) throws {
        let key = try InvocationKey(text)
        #expect(key.text == text)
        #expect(key.flow == InvocationKey.Flow(epoch: epoch, number: number))
    }

    @Test(arguments: ["own:a", "own:1-2/3", "own:/", "own: "])
    func `a caller's own key has no flow`(text: String) throws {
        #expect(try InvocationKey(text).flow == nil)
    }

    @Test(arguments: [
        "", "own:", "own", "1", "1-", "-1", "1-2-3/4", "a-1/1", "1-b/1", "+1-2/3", "1--2/3",
        " 1-2/3", "1/2", "9223372036854775808-1/1", "1-99999999999999999999/1", "１-２/3", "/1-2",
        "own:" + String(repeating: "x", count: 4_093),
    ])
    func `any other key is refused before the effect`(text: String) {
        var ran = false
        let refusal = code {
            _ = try invocations.once(key: text, at: 0) {
                ran = true
                return []
            }
        }
        #expect(refusal == ApplicationError.Code.invalidKey)
        #expect(!ran)
    }

    @Test func `pruning takes what can no longer be replayed`() throws {
        let day = Invocations.ownKeysKeptMilliseconds
        for (key, at) in [
            ("1-99/1", 0), ("2-4/1", 0), ("2-5/1", 0), ("2-6/1", 0), ("3-1/1", 0), ("own:old", 0),
            ("own:new", 2), ("2-10/1", 0),
        ] as [(String, Int64)] {
            _ = try invocations.once(key: key, at: at) { [] }
        }
        let floor = InvocationKey.Flow(epoch: 2, number: 5)
        #expect(try invocations.prune(below: floor, at: day + 1) == 3)
        #expect(try keys() == ["2-10/1", "2-5/1", "2-6/1", "3-1/1", "own:new"])
    }

    @Test func `pruning works at most once a second, whatever the clock does`() throws {
        let floor = InvocationKey.Flow(epoch: 1, number: 10)
        func pruned(at now: Int64) throws -> Int {
            _ = try invocations.once(key: "1-1/1", at: now) { [] }
            return try invocations.prune(below: floor, at: now)
        }
        #expect(try pruned(at: 5_000) == 1)
        #expect(try pruned(at: 5_000) == 0)
        #expect(try pruned(at: 5_999) == 0)
        #expect(try pruned(at: 6_000) == 1)
        #expect(try pruned(at: 100) == 1)
        #expect(try pruned(at: .min) == 1)
        #expect(try pruned(at: .max) == 1)
    }

    @Test func `a backlog is worked off over several calls`() throws {
        let limit = Int(Invocations.prunedAtMost)
        try database.transaction {
            for flow in 0..<limit + 10 {
                try database.run(
                    "INSERT INTO invocation (key, epoch, flow, at, reply) VALUES (?, 1, ?, 0, x'')",
                    .text("1-\(flow)/1"), .integer(Int64(flow)))
            }
        }
        let floor = InvocationKey.Flow(epoch: 2, number: 0)
        #expect(try invocations.prune(below: floor, at: 0) == limit)
        #expect(try invocations.prune(below: floor, at: 1_000) == 10)
        #expect(try invocations.prune(below: floor, at: 2_000) == 0)
    }

    @Test(arguments: [
        "epoch IS NOT NULL AND epoch < 5", "epoch = 5 AND flow < 5", "epoch IS NULL AND at < 5",
    ])
    func `pruning searches an index`(condition: String) throws {
        let plan = try database.rows(
            "EXPLAIN QUERY PLAN SELECT rowid FROM invocation WHERE \(condition) LIMIT 9"
        ) { try $0.text(3) }
        #expect(plan.count == 1)
        #expect(plan.first?.hasPrefix("SEARCH invocation USING") == true, "\(plan)")
    }
}
