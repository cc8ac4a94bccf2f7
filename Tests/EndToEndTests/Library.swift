import CSQLite
import DeviceKit
import Glibc

extension Instance {
    /// A folder of files that look like photos by their names.
    func photos(_ count: Int = 3) throws -> String {
        let folder = "\(folder)/photos"
        mkdir(folder, 0o700)
        for number in 1...count { try Files.write("not read", to: "\(folder)/\(number).jpg") }
        return folder
    }

    /// The payload of a create.
    static func create(_ id: String, name: String, photos: String) -> String {
        Value.map(["id": .text(id), "name": .text(name), "photos": [.text(photos)]]).json()
    }

    /// The n-th id of a test.
    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
            + digits
    }

    /// The ids in the region, in its order.
    func regionIDs() throws -> [String] {
        let value = try json("buffer", "LibraryState")["value"]
        return Instance.ids(in: value ?? .null)
    }

    static func ids(in library: Value) -> [String] {
        (library["slideshows"]?.array ?? []).compactMap { $0["id"]?.uuid?.description.lowercased() }
    }

    /// The ids in the library file, read beside the device.
    func storedIDs() throws -> [String] {
        try column("SELECT id FROM slideshow ORDER BY id")
    }

    /// The photos of a slideshow in the library file, in their order.
    func storedPhotos(of id: String) throws -> [String] {
        try column("SELECT photo FROM slide WHERE slideshow_id = '\(id)' ORDER BY position")
    }

    private func column(_ sql: String) throws -> [String] {
        var database: OpaquePointer?
        let path = "\(data)/library.db"
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
            throw Failure("\(path) cannot be read")
        }
        defer { sqlite3_close(database) }
        sqlite3_busy_timeout(database, 5_000)
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure(String(cString: sqlite3_errmsg(database)))
        }
        defer { sqlite3_finalize(statement) }
        var values: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            values.append(String(cString: sqlite3_column_text(statement, 0)))
        }
        return values
    }
}
