/// One step of the schema, from `user_version` n to n + 1. A released step never changes: a new
/// one is added behind it.
struct Migration {
    let sql: String

    /// Step n makes schema n + 1.
    static let all = [library, invocations, versions]

    /// Ids are lower-case canonical UUIDs, times are milliseconds since 1970 in UTC. The slides of
    /// a slideshow lie together in their order, so reading them is one range of one tree.
    private static let library = Migration(
        sql: """
            CREATE TABLE slideshow (
                id TEXT PRIMARY KEY NOT NULL,
                name TEXT NOT NULL,
                duration TEXT NOT NULL,
                transition TEXT NOT NULL,
                loop INTEGER NOT NULL CHECK (loop IN (0, 1)),
                created_at INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE slide (
                slideshow_id TEXT NOT NULL REFERENCES slideshow (id) ON DELETE CASCADE,
                position INTEGER NOT NULL CHECK (position >= 0),
                id TEXT NOT NULL,
                photo TEXT NOT NULL,
                duration TEXT NOT NULL,
                title TEXT,
                PRIMARY KEY (slideshow_id, position),
                UNIQUE (slideshow_id, id)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE config (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                duration TEXT NOT NULL,
                transition TEXT NOT NULL,
                loop INTEGER NOT NULL CHECK (loop IN (0, 1))
            ) STRICT;
            """)

    /// What was done already, by the key of the invocation. A caller's own key has no flow.
    private static let invocations = Migration(
        sql: """
            CREATE TABLE invocation (
                key TEXT PRIMARY KEY NOT NULL,
                epoch INTEGER,
                flow INTEGER,
                at INTEGER NOT NULL,
                reply BLOB NOT NULL,
                CHECK ((epoch IS NULL) = (flow IS NULL))
            ) STRICT;
            CREATE INDEX invocation_flow ON invocation (epoch, flow) WHERE epoch IS NOT NULL;
            CREATE INDEX invocation_own ON invocation (at) WHERE epoch IS NULL;
            """)

    /// Each change of a slideshow counts: a reader tells the newer of two by it.
    private static let versions = Migration(
        sql: """
            ALTER TABLE slideshow ADD COLUMN version INTEGER NOT NULL DEFAULT 1 CHECK (version > 0);
            """)
}

extension Database {
    /// The schema of the file.
    var schemaVersion: Int {
        get throws { Int(try rows("PRAGMA user_version") { try $0.integer(0) }.first ?? 0) }
    }

    /// Brings the file to the last schema, each step in a transaction of its own: a kill between
    /// two leaves a schema that the next start continues from.
    func migrate(_ migrations: [Migration]) throws {
        while try schemaVersion != migrations.count {
            try transaction {
                // Read again under the write lock: another process may have made the step.
                let version = try schemaVersion
                guard (0...migrations.count).contains(version) else {
                    throw DatabaseError(
                        reason: .newerSchema(found: version, known: migrations.count),
                        verb: "OPEN", path: path)
                }
                guard version < migrations.count else { return }
                try execute(migrations[version].sql)
                try execute("PRAGMA user_version=\(version + 1)")
            }
        }
    }
}
