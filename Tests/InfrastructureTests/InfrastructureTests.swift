import CSQLite
import Contract
import FoundationEssentials
import Glibc
import Testing

@testable import Infrastructure

struct DatabaseTests {
    private let folder = TemporaryFolder()

    private func permissions(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func pragma(_ name: String, _ database: Database) throws -> Int64? {
        try database.rows("PRAGMA \(name)") { try $0.integer(0) }.first
    }

    @Test func `the data directory and its files are the user's alone`() throws {
        let data = folder.path + "/a/b"
        let database = try Database(directory: data)
        try Library(database).save(Config())
        #expect(permissions(folder.path + "/a") == 0o700)
        #expect(permissions(data) == 0o700)
        for name in ["library.db", "library.db-wal", "library.db-shm"] {
            #expect(permissions(data + "/" + name) == 0o600, "\(name)")
        }
    }

    @Test func `the connection has the settings that the promises need`() throws {
        let database = try Database(directory: folder.path)
        #expect(try database.rows("PRAGMA journal_mode") { try $0.text(0) } == ["wal"])
        #expect(try pragma("synchronous", database) == 2)
        #expect(try pragma("foreign_keys", database) == 1)
        #expect(try pragma("busy_timeout", database) == 2_000)
        #expect(try database.schemaVersion == Migration.all.count)
        try database.check()
    }

    @Test(arguments: ["", "data", "./data", "/tmp/a\u{0}b"])
    func `a data directory that is no absolute path is refused`(path: String) {
        let error = databaseError { _ = try Database(directory: path) }
        #expect(error?.reason == .directory(errno: EINVAL))
    }

    @Test func `a file in the place of the data directory is named`() throws {
        try folder.file("data")
        let error = databaseError { _ = try Database(directory: folder.path + "/data/x") }
        #expect(error?.reason == .directory(errno: ENOTDIR))
        #expect(error?.description.contains(folder.path + "/data/x") == true)
    }

    @Test func `an older schema is brought up to date with its rows`() throws {
        do {
            let old = try Database(
                directory: folder.path, migrations: Array(Migration.all.prefix(1)))
            #expect(try old.schemaVersion == 1)
            try old.run(
                "INSERT INTO slideshow VALUES (?, 'Old', '10', 'fade', 0, 7000)",
                .text(id(1).stored))
        }
        let database = try Database(directory: folder.path)
        #expect(try database.schemaVersion == Migration.all.count)
        let stored = try Library(database).fetch(id(1))
        #expect(stored?.name == "Old")
        #expect(stored?.version == 1)
        let reply = try Invocations(database).once(key: "1-1/1", at: 0) { [7] }
        #expect(reply == [7])
    }

    @Test func `a step that fails leaves the schema before it`() throws {
        let broken = [Migration.all[0], Migration(sql: "CREATE TABLE t (x); SELECT nonsense;")]
        let error = databaseError {
            _ = try Database(directory: folder.path, migrations: broken)
        }
        #expect(error?.reason == .sqlite(code: 1, message: "no such column: nonsense"))
        let database = try Database(
            directory: folder.path, migrations: Array(Migration.all.prefix(1)))
        #expect(try database.schemaVersion == 1)
        #expect(try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 't'") { _ in 0 } == [])
    }

    @Test func `a newer schema is refused by both numbers`() throws {
        do { try Database(directory: folder.path).execute("PRAGMA user_version=9") }
        let error = databaseError { _ = try Database(directory: folder.path) }
        #expect(error?.reason == .newerSchema(found: 9, known: Migration.all.count))
        #expect(error?.description.contains("schema 9") == true)
        #expect(error?.description.contains("up to \(Migration.all.count)") == true)
        #expect(error?.application.code == ApplicationError.Code.storage)
        #expect(error?.retry == false)
    }

    @Test func `a file that is no database is named with what to do`() throws {
        try folder.file("library.db", String(repeating: "not a database. ", count: 1_000))
        let error = databaseError { _ = try Database(directory: folder.path) }
        guard case .damaged = error?.reason else {
            Issue.record("got \(String(describing: error))")
            return
        }
        #expect(error?.description.contains(folder.path + "/library.db is damaged") == true)
        #expect(error?.description.contains("move it away") == true)
        #expect(error?.retry == false)
    }

    @Test func `a damaged page is found by a read and by the check`() throws {
        do {
            let database = try Database(directory: folder.path)
            _ = try Library(database).insert(slideshow(1, slides: 2_000))
            try database.rows("PRAGMA wal_checkpoint(TRUNCATE)") { _ in }
        }
        let file = folder.path + "/library.db"
        var bytes = try Data(contentsOf: URL(filePath: file))
        for index in (bytes.count / 4)..<(bytes.count * 3 / 4) { bytes[index] = 0xA5 }
        try bytes.write(to: URL(filePath: file))
        let database = try Database(directory: folder.path)
        for error in [
            databaseError { _ = try Library(database).fetch(id(1)) },
            databaseError { try database.check() },
        ] {
            guard case .damaged = error?.reason else {
                Issue.record("got \(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: [
        (SQLITE_FULL, true), (SQLITE_BUSY, true), (SQLITE_BUSY | 1 << 8, true),
        (SQLITE_LOCKED, true), (SQLITE_NOMEM, true), (SQLITE_READONLY, false),
        (SQLITE_CONSTRAINT, false), (SQLITE_CORRUPT, false), (SQLITE_NOTADB, false),
        (SQLITE_ERROR, false), (SQLITE_CANTOPEN, false),
    ])
    func `only what passes by itself may be tried again`(code: Int32, retry: Bool) {
        let error = DatabaseError.sqlite(code, of: nil, verb: "INSERT", path: "/d/library.db")
        #expect(error.retry == retry)
        #expect(error.application.retry == retry)
        #expect(error.application.code == ApplicationError.Code.storage)
        #expect(error.description.contains("/d/library.db"))
    }

    @Test func `a full disk is told as such and leaves nothing`() throws {
        let database = try Database(directory: folder.path)
        let library = Library(database)
        let first = try library.insert(slideshow(1))
        try database.rows("PRAGMA max_page_count=20") { _ in }
        let error = databaseError { _ = try library.insert(slideshow(2, slides: 5_000)) }
        #expect(error?.retry == true)
        #expect(error?.verb == "INSERT")
        #expect(error?.description.contains("make room") == true)
        #expect(try library.fetch(id(2)) == nil)
        #expect(try library.fetch(id(1)) == first)
    }

    @Test func `a lock that another connection holds is an error with a name`() throws {
        let database = try Database(directory: folder.path)
        let other = try Database(directory: folder.path)
        try database.rows("PRAGMA busy_timeout=20") { _ in }
        try other.transaction {
            let error = databaseError { try Library(database).save(Config()) }
            #expect(error?.retry == true)
            // Readers are not kept out.
            let summaries = try Library(database).fetchSummaries()
            #expect(summaries == [])
        }
        try Library(database).save(Config())
    }
}

struct StatementTests {
    private let folder = TemporaryFolder()

    @Test func `values come back as they were bound`() throws {
        let database = try Database(directory: folder.path)
        let texts = ["", "a", "a\u{0}b", "'; DROP TABLE slide; --", "e\u{301}", "😀"]
        for text in texts {
            let back = try database.rows("SELECT ?", .text(text)) { try $0.text(0) }
            #expect(back.map { Array($0.utf8) } == [Array(text.utf8)])
        }
        for integer in [0, -1, Int64.min, Int64.max] {
            #expect(
                try database.rows("SELECT ?", .integer(integer)) { try $0.integer(0) } == [integer])
        }
        for blob in [[], [0], Array(repeating: UInt8(0xFF), count: 100_000)] as [[UInt8]] {
            #expect(try database.rows("SELECT ?", .blob(blob)) { try $0.blob(0) } == [blob])
        }
        #expect(try database.rows("SELECT ?", .null) { try $0.optionalText(0) } == [nil])
        #expect(SQLValue(nil) == .null)
    }

    @Test func `a column of another type is damage, with its name`() throws {
        let database = try Database(directory: folder.path)
        let reads: [(borrowing Row) throws -> Void] = [
            { _ = try $0.text(0) }, { _ = try $0.integer(1) }, { _ = try $0.blob(1) },
            { _ = try $0.integer(2) }, { _ = try $0.parsed(1, Config.Duration.init(rawValue:)) },
        ]
        for read in reads {
            let error = databaseError {
                try database.rows("SELECT 1 AS number, 'x' AS word, NULL AS absent", read: read)
            }
            guard case .damaged(let detail) = error?.reason else {
                Issue.record("got \(String(describing: error))")
                continue
            }
            #expect(detail.contains("column"))
        }
        let invalid = databaseError {
            try database.rows("SELECT CAST(x'FF' AS TEXT)") { _ = try $0.text(0) }
        }
        #expect(invalid?.retry == false)
    }

    @Test func `a statement is reset whatever its use ended with`() throws {
        struct Stop: Error {}
        let database = try Database(directory: folder.path)
        _ = try Library(database).insert(slideshow(1))
        let sql = "SELECT position FROM slide"
        #expect(throws: Stop.self) { try database.rows(sql) { _ in throw Stop() } }
        #expect(try database.rows(sql) { try $0.integer(0) } == [0, 1, 2])
        // A statement that were left in the middle would keep the log from being cut.
        let busy = try database.rows("PRAGMA wal_checkpoint(TRUNCATE)") { try $0.integer(0) }
        #expect(busy == [0])
    }

    @Test func `a statement within itself and a wrong statement are errors`() throws {
        let database = try Database(directory: folder.path)
        let nested = databaseError {
            try database.rows("SELECT 1") { _ in try database.rows("SELECT 1") { _ in } }
        }
        #expect(nested?.verb == "SELECT")
        #expect(databaseError { try database.run("NONSENSE x") }?.verb == "NONSENSE")
        #expect(databaseError { try database.run("SELECT 1", .null) } != nil)
    }
}

struct TransactionTests {
    private struct Stop: Error {}
    private let folder = TemporaryFolder()

    @Test func `what throws leaves nothing, for the other connection too`() throws {
        let database = try Database(directory: folder.path)
        let other = try Database(directory: folder.path)
        #expect(throws: Stop.self) {
            try database.transaction {
                _ = try Library(database).insert(slideshow(1))
                #expect(try Library(other).fetchSummaries() == [])
                throw Stop()
            }
        }
        #expect(!database.isInTransaction)
        #expect(try Library(database).fetchSummaries() == [])
        #expect(try Library(other).fetchSummaries() == [])
    }

    @Test func `a part that throws is undone alone`() throws {
        let database = try Database(directory: folder.path)
        let library = Library(database)
        try database.transaction {
            _ = try library.insert(slideshow(1))
            try? database.transaction {
                _ = try library.insert(slideshow(2))
                throw Stop()
            }
            _ = try library.insert(slideshow(3))
        }
        #expect(try library.fetchSummaries().map(\.id) == [id(1), id(3)])
    }

    @Test func `nothing runs on after SQLite gave the transaction up`() throws {
        let database = try Database(directory: folder.path)
        let error = databaseError {
            try database.transaction {
                try database.execute("ROLLBACK")
                try Library(database).save(Config(duration: .five))
            }
        }
        #expect(error?.reason == .rolledBack)
        #expect(try Library(database).loadConfig() == Config())
    }

    @Test func `a snapshot sees one moment`() throws {
        let database = try Database(directory: folder.path)
        let other = try Database(directory: folder.path)
        try database.snapshot {
            #expect(try Library(database).fetchSummaries().count == 0)
            _ = try Library(other).insert(slideshow(1))
            #expect(try Library(database).fetchSummaries().count == 0)
        }
        #expect(try Library(database).fetchSummaries().count == 1)
    }
}
