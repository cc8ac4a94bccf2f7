import CSQLite
import Contract
import FoundationEssentials

/// The library file, read beside the device. Triggers in it note each write of a slideshow, so
/// that an effect that was made twice is seen even where the second one changed nothing.
final class LibraryFile {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Lays the triggers.
    func audit() throws {
        let columns = "name, duration, transition, loop"
        func trigger(_ kind: String, _ row: String) -> String {
            """
            CREATE TRIGGER chaos_\(kind) AFTER \(kind) ON slideshow BEGIN
                INSERT INTO chaos (kind, id, \(columns)) VALUES ('\(kind)', \(row).id, \
            \(row).name, \(row).duration, \(row).transition, \(row).loop);
            END;
            """
        }
        _ = try rows(
            """
            CREATE TABLE chaos (number INTEGER PRIMARY KEY, kind TEXT, id TEXT, name TEXT, \
            duration TEXT, transition TEXT, loop INTEGER)
            """)
        for (kind, row) in [("insert", "new"), ("update", "new"), ("delete", "old")] {
            _ = try rows(trigger(kind, row))
        }
    }

    /// The writes of each slideshow, in their order.
    func writes() throws -> [UUID: [Album.Write]] {
        var all: [UUID: [Album.Write]] = [:]
        for row in try rows("SELECT kind, id, name, \(Self.config) FROM chaos ORDER BY number") {
            all[try id(row[1]), default: []].append(
                Album.Write(kind: row[0], name: row[2], config: try config(row[3...])))
        }
        return all
    }

    /// What is stored.
    func slideshows() throws -> [UUID: Slideshow] {
        var all: [UUID: Slideshow] = [:]
        for row in try rows("SELECT id, name, created_at, version, \(Self.config) FROM slideshow") {
            let key = try id(row[0])
            let created = Date(timeIntervalSince1970: (Double(row[2]) ?? 0) / 1_000)
            all[key] = Slideshow(
                id: key, name: row[1], slides: [], config: try config(row[4...]),
                createdAt: created, version: Int(row[3]) ?? 0)
        }
        let slides = """
            SELECT slideshow_id, id, photo, duration, title IS NULL, ifnull(title, '') FROM slide \
            ORDER BY slideshow_id, position
            """
        for row in try rows(slides) {
            let key = try id(row[0])
            guard let duration = Config.Duration(rawValue: row[3]), all[key] != nil else {
                throw Failure("a slide of no slideshow, or of no duration: \(row)")
            }
            let order = all[key]?.slides.count ?? 0
            all[key]?.slides.append(
                Slide(
                    id: try id(row[1]), photo: row[2], order: order,
                    duration: duration, title: row[4] == "1" ? nil : row[5]))
        }
        return all
    }

    private static let config = "duration, transition, loop"

    private func id(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else { throw Failure("'\(text)' is no id") }
        return id
    }

    private func config(_ row: ArraySlice<String>) throws -> Config {
        let words = Array(row)
        guard words.count == 3, let duration = Config.Duration(rawValue: words[0]),
            let transition = Config.Transition(rawValue: words[1])
        else { throw Failure("\(words) is no configuration") }
        return Config(duration: duration, transition: transition, loop: words[2] == "1")
    }

    private func rows(_ sql: String) throws -> [[String]] {
        var database: OpaquePointer?
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw Failure("\(path) cannot be opened")
        }
        defer { sqlite3_close(database) }
        sqlite3_busy_timeout(database, 10_000)
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure("\(path): \(String(cString: sqlite3_errmsg(database)))")
        }
        defer { sqlite3_finalize(statement) }
        var rows: [[String]] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return rows }
            guard code == SQLITE_ROW else {
                throw Failure("\(path): \(String(cString: sqlite3_errmsg(database)))")
            }
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
                })
        }
    }
}
