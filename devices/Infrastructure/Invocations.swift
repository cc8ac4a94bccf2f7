import Contract

/// The memory of what was done, so that nothing is done twice.
///
/// A device may be killed after its effect and before its reply; the kernel then sends the same
/// visit, with the same key, to the next process. The key, the effect and the reply are one
/// transaction: either all of them are in the file, and the repeat gets the stored reply, or none
/// is, and the repeat runs the effect. The look-up stands in that transaction too, under the write
/// lock, so two processes cannot both find nothing.
final class Invocations {
    /// How long a caller's own key is kept.
    static let ownKeysKeptMilliseconds: Int64 = 24 * 60 * 60 * 1_000
    /// The shortest time between two prunings.
    static let pruneIntervalMilliseconds: Int64 = 1_000
    /// How many keys one pruning takes at most: about 10 ms of work, and more a second than effects
    /// can be flushed to a disk.
    static let prunedAtMost: Int64 = 4_096

    private let database: Database
    private var lastPrune: Int64?

    init(_ database: Database) {
        self.database = database
    }

    /// Runs the effect in a transaction, at most once for each key, and gives its reply: the stored
    /// one if the key is known. Without a key the effect runs each time. An effect that throws
    /// leaves nothing, its key neither.
    ///
    /// - Parameter now: milliseconds since 1970, the time of the visit's first delivery.
    /// - Throws: `ApplicationError` for a malformed key, `DatabaseError`, what the effect throws.
    func once(key: String?, at now: Int64, effect: () throws -> [UInt8]) throws -> [UInt8] {
        guard !database.isInTransaction else {
            throw DatabaseError(reason: .nested, verb: "BEGIN", path: database.path)
        }
        guard let key = try key.map(InvocationKey.init) else {
            return try database.transaction(effect)
        }
        return try database.transaction {
            let known = try database.rows(
                "SELECT reply FROM invocation WHERE key = ?", .text(key.text)
            ) { try $0.blob(0) }
            if let reply = known.first { return reply }
            let reply = try effect()
            try database.run(
                "INSERT INTO invocation (key, epoch, flow, at, reply) VALUES (?, ?, ?, ?, ?)",
                .text(key.text), key.flow.map { .integer($0.epoch) } ?? .null,
                key.flow.map { .integer($0.number) } ?? .null, .integer(now), .blob(reply))
            return reply
        }
    }

    /// Forgets what can no longer be replayed: flows below the lowest live one, older lives of the
    /// kernel, and own keys older than a day. It does nothing within a second of the last time; a
    /// backlog is worked off over several calls.
    ///
    /// - Returns: how many keys were forgotten.
    @discardableResult
    func prune(below lowest: InvocationKey.Flow, at now: Int64) throws -> Int {
        if let lastPrune {
            // A clock that was set back must not stop the pruning.
            let (passed, overflow) = now.subtractingReportingOverflow(lastPrune)
            if !overflow, (0..<Self.pruneIntervalMilliseconds).contains(passed) { return 0 }
        }
        lastPrune = now
        let epoch = SQLValue.integer(lowest.epoch)
        var pruned = try forget("epoch IS NOT NULL AND epoch < ?", epoch)
        pruned += try forget("epoch = ? AND flow < ?", epoch, .integer(lowest.number))
        let (oldest, overflow) = now.subtractingReportingOverflow(Self.ownKeysKeptMilliseconds)
        if !overflow { pruned += try forget("epoch IS NULL AND at < ?", .integer(oldest)) }
        return pruned
    }

    private func forget(_ condition: String, _ first: SQLValue, _ second: SQLValue? = nil) throws
        -> Int
    {
        let sql = """
            DELETE FROM invocation WHERE rowid IN \
            (SELECT rowid FROM invocation WHERE \(condition) LIMIT \(Self.prunedAtMost))
            """
        if let second { return try database.run(sql, first, second) }
        return try database.run(sql, first)
    }
}
