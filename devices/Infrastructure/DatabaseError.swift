import CSQLite
import Contract
import Glibc

/// Why the library file could not be read or written. Values of the application never stand in it,
/// so it may be logged.
struct DatabaseError: Error, Equatable, CustomStringConvertible {
    enum Reason: Equatable {
        /// SQLite's extended result code and its message.
        case sqlite(code: Int32, message: String)
        /// The file was written by a newer build.
        case newerSchema(found: Int, known: Int)
        /// The bytes of the file, or a value in it, are not what SQLite or this build wrote.
        case damaged(detail: String)
        /// The data directory cannot be made or is no directory.
        case directory(errno: Int32)
        /// SQLite gave up the transaction by itself, and more was asked within it.
        case rolledBack
        /// An invocation was begun within another one.
        case nested
    }

    var reason: Reason
    /// The first word of the statement, or what was tried.
    var verb: String
    /// The library file, or the data directory.
    var path: String

    /// The error of a result code, with the message of the connection that gave it.
    static func sqlite(_ code: Int32, of connection: OpaquePointer?, verb: String, path: String)
        -> DatabaseError
    {
        let text = connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)
        let message = text.map { String(cString: $0) } ?? "no message"
        let primary = code & 0xFF
        let damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB
        return DatabaseError(
            reason: damaged
                ? .damaged(detail: message) : .sqlite(code: code, message: message),
            verb: verb, path: path)
    }

    /// Whether the same statement may succeed later: the disk has room again, or the other
    /// connection is done.
    var retry: Bool {
        guard case .sqlite(let code, _) = reason else { return false }
        let transient = [
            SQLITE_FULL, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_INTERRUPT,
            SQLITE_PROTOCOL,
        ]
        return transient.contains(code & 0xFF)
    }

    var description: String {
        switch reason {
        case .sqlite(let code, let message) where code & 0xFF == SQLITE_FULL:
            "\(verb) failed: \(message) (SQLite \(code)); make room on the disk of \(path)"
        case .sqlite(let code, let message):
            "\(verb) failed: \(message) (SQLite \(code)) in \(path)"
        case .newerSchema(let found, let known):
            "\(path) has schema \(found), but this build knows schemas up to \(known); "
                + "start a newer build, or another --data directory"
        case .damaged(let detail):
            "\(path) is damaged (\(detail)); move it away together with its -wal and -shm files, "
                + "then put a backup in its place or save what is left with "
                + "`sqlite3 FILE .recover`"
        case .directory(let code):
            "the data directory \(path) cannot be made: \(String(cString: strerror(code))); "
                + "make it by hand or choose another with --data"
        case .rolledBack:
            "\(verb) came after SQLite had given up its transaction in \(path)"
        case .nested:
            "an invocation was begun within another one in \(path)"
        }
    }

    /// The form in which the error leaves the device.
    var application: ApplicationError {
        ApplicationError(
            code: ApplicationError.Code.storage, message: description, retry: retry)
    }
}
