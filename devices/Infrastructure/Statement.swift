import CSQLite

/// A value that is bound to a parameter of a statement.
enum SQLValue: Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    init(_ text: String?) {
        self = text.map(SQLValue.text) ?? .null
    }
}

/// A prepared statement. It lives as long as its database and is reset after every use, whatever
/// the use ended with: a statement that is left in the middle would hold a read lock.
final class Statement {
    private let handle: OpaquePointer
    private let path: String
    private let verb: String
    private var isRunning = false

    init(_ sql: String, connection: OpaquePointer, path: String) throws(DatabaseError) {
        self.path = path
        verb = Self.verb(of: sql)
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw .sqlite(code, of: connection, verb: verb, path: path)
        }
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement to its end, giving each row to `read`.
    func run(_ values: [SQLValue], read: (borrowing Row) throws -> Void = { _ in }) throws {
        guard !isRunning else {
            throw DatabaseError(
                reason: .sqlite(code: SQLITE_MISUSE, message: "the statement is already running"),
                verb: verb, path: path)
        }
        isRunning = true
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
            isRunning = false
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        while true {
            let code = sqlite3_step(handle)
            switch code {
            case SQLITE_ROW: try read(Row(handle: handle, verb: verb, path: path))
            case SQLITE_DONE: return
            default: throw failure(code)
            }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) throws(DatabaseError) {
        let code: Int32
        switch value {
        case .null:
            code = sqlite3_bind_null(handle, index)
        case .integer(let integer):
            code = sqlite3_bind_int64(handle, index, integer)
        case .text(var text):
            code = text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    csqlite_bind_text(handle, index, $0.baseAddress, UInt64($0.count))
                }
            }
        case .blob(let blob):
            code = blob.withUnsafeBytes {
                csqlite_bind_blob(handle, index, $0.baseAddress, UInt64($0.count))
            }
        }
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> DatabaseError {
        .sqlite(code, of: sqlite3_db_handle(handle), verb: verb, path: path)
    }

    private static func verb(of sql: String) -> String {
        String(sql.prefix { $0.isLetter || $0 == "_" }).uppercased()
    }
}

/// One row of a result, valid while it is being read. A column of another type than the one asked
/// for means that the file holds what no build wrote.
struct Row: ~Copyable {
    fileprivate let handle: OpaquePointer
    fileprivate let verb: String
    fileprivate let path: String

    func integer(_ column: Int32) throws(DatabaseError) -> Int64 {
        guard sqlite3_column_type(handle, column) == SQLITE_INTEGER else {
            throw damaged(column, "an integer")
        }
        return sqlite3_column_int64(handle, column)
    }

    func text(_ column: Int32) throws(DatabaseError) -> String {
        guard sqlite3_column_type(handle, column) == SQLITE_TEXT else {
            throw damaged(column, "text")
        }
        guard let bytes = sqlite3_column_text(handle, column) else {
            throw .sqlite(
                SQLITE_NOMEM, of: sqlite3_db_handle(handle), verb: verb, path: path)
        }
        let count = Int(sqlite3_column_bytes(handle, column))
        let buffer = UnsafeBufferPointer(start: bytes, count: count)
        guard let text = String(validating: buffer, as: UTF8.self) else {
            throw damaged(column, "UTF-8")
        }
        return text
    }

    func optionalText(_ column: Int32) throws(DatabaseError) -> String? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : try text(column)
    }

    func blob(_ column: Int32) throws(DatabaseError) -> [UInt8] {
        guard sqlite3_column_type(handle, column) == SQLITE_BLOB else {
            throw damaged(column, "bytes")
        }
        let count = Int(sqlite3_column_bytes(handle, column))
        guard count > 0, let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The column as one of the words that an enumeration knows, or whatever `parse` takes.
    func parsed<T>(_ column: Int32, _ parse: (String) -> T?) throws(DatabaseError) -> T {
        guard let value = parse(try text(column)) else {
            throw damaged(column, String(describing: T.self))
        }
        return value
    }

    private func damaged(_ column: Int32, _ expected: String) -> DatabaseError {
        let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
        return DatabaseError(
            reason: .damaged(detail: "the column \(name) is not \(expected)"), verb: verb,
            path: path)
    }
}
