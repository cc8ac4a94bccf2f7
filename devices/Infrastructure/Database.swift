import CSQLite

/// The library file and its one connection. It belongs to the loop of its process, so SQLite's own
/// locks are off.
///
/// Durability: the journal is a write-ahead log with `synchronous=FULL`, so what was answered is on
/// the disk before the answer, after a kill and after a loss of power. That costs one flush a
/// transaction. A process that is killed leaves a log that the next one plays at its first read.
final class Database {
    static let fileName = "library.db"
    /// Below the attempt limit of a visit, so that a lock that another program holds becomes an
    /// error with a name instead of a hang.
    static let busyTimeoutMilliseconds: Int32 = 2_000
    /// To what size the log is cut after it was played back.
    static let journalLimitBytes = 16 << 20

    /// The library file.
    let path: String
    let connection: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var depth = 0

    /// Opens the library in `directory`, an absolute path, making what is missing and bringing an
    /// older schema up to date.
    init(directory: String, migrations: [Migration] = Migration.all) throws {
        try DataDirectory.make(directory)
        path = directory + "/" + Self.fileName
        DataDirectory.touch(path)
        connection = try Self.open(path)
        let settings = [
            "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON",
            "PRAGMA trusted_schema=OFF", "PRAGMA temp_store=MEMORY",
            "PRAGMA journal_size_limit=\(Self.journalLimitBytes)",
        ]
        for setting in settings { try execute(setting) }
        try migrate(migrations)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(connection)
    }

    private static func open(_ path: String) throws(DatabaseError) -> OpaquePointer {
        var connection: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &connection, flags, nil)
        guard code == SQLITE_OK, let connection else {
            let failure = DatabaseError.sqlite(code, of: connection, verb: "OPEN", path: path)
            sqlite3_close_v2(connection)
            throw failure
        }
        sqlite3_busy_timeout(connection, busyTimeoutMilliseconds)
        return connection
    }

    /// Reads the whole file and looks for damage. It takes time in proportion to the size, so it is
    /// for a person who asks, not for a start.
    func check() throws {
        try rows("PRAGMA quick_check(1)") { row in
            let finding = try row.text(0)
            guard finding == "ok" else {
                throw DatabaseError(
                    reason: .damaged(detail: finding), verb: "PRAGMA", path: path)
            }
        }
    }

    // MARK: Statements

    /// Runs a statement and gives the number of rows that it changed itself (cascades not counted).
    @discardableResult
    func run(_ sql: String, _ values: SQLValue...) throws -> Int {
        try prepared(sql).run(values)
        return Int(sqlite3_changes(connection))
    }

    /// Runs a query and collects what `read` makes of its rows.
    @discardableResult
    func rows<T>(_ sql: String, _ values: SQLValue..., read: (borrowing Row) throws -> T) throws
        -> [T]
    {
        var result: [T] = []
        try prepared(sql).run(values) { row in result.append(try read(row)) }
        return result
    }

    /// Runs statements that take no values and give no rows, separated by semicolons.
    func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else {
            let verb = sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
            throw .sqlite(code, of: connection, verb: verb, path: path)
        }
    }

    private func prepared(_ sql: String) throws(DatabaseError) -> Statement {
        // A full disk makes SQLite roll back by itself; what follows would be kept on its own.
        if depth > 0, !isInTransaction {
            throw DatabaseError(reason: .rolledBack, verb: String(sql.prefix(6)), path: path)
        }
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, connection: connection, path: path)
        statements[sql] = statement
        return statement
    }

    // MARK: Transactions

    /// Whether a transaction is open on this connection.
    var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Runs the body in a transaction that holds the write lock from its start; all of it is kept,
    /// or, when the body throws, none. Within a transaction the same holds for this part of it.
    func transaction<T>(_ body: () throws -> T) throws -> T {
        try enclose("BEGIN IMMEDIATE", body)
    }

    /// Runs several reads that see the file at one moment, without keeping writers out.
    func snapshot<T>(_ body: () throws -> T) throws -> T {
        try enclose("BEGIN", body)
    }

    private func enclose<T>(_ begin: String, _ body: () throws -> T) throws -> T {
        let isOuter = depth == 0
        try execute(isOuter ? begin : "SAVEPOINT part")
        depth += 1
        defer { depth -= 1 }
        do {
            let value = try body()
            try execute(isOuter ? "COMMIT" : "RELEASE part")
            return value
        } catch {
            // Nothing is left to undo when SQLite rolled back by itself. A failure here leaves the
            // transaction open, and the next one is refused by name.
            if isInTransaction {
                try? execute(isOuter ? "ROLLBACK" : "ROLLBACK TO part; RELEASE part")
            }
            throw error
        }
    }
}
