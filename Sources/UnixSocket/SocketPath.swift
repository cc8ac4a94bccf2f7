internal import CLinux
internal import Glibc

/// Where the socket of a named instance stands: `$XDG_RUNTIME_DIR/concentric/<name>.sock`, and
/// without that variable `/tmp/concentric-<uid>/<name>.sock`. Beside it lies its lock file, which
/// is never removed.
package struct SocketPath: Equatable, Sendable, CustomStringConvertible {
    package let directory: String
    package let name: String

    package var socket: String { "\(directory)/\(name).sock" }
    package var lock: String { "\(directory)/\(name).lock" }
    package var description: String { socket }

    /// The path of the instance `name`: 1 to 64 of `[A-Za-z0-9._-]`, but not `.` or `..`.
    /// - Throws: `badName` or `pathTooLong`.
    package init(name: String) throws(SocketError) {
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
        try self.init(name: name, runtimeDirectory: runtime)
    }

    /// As `init(name:)`, with a given value of `XDG_RUNTIME_DIR`. One that is not absolute counts
    /// for none, as its specification demands.
    package init(name: String, runtimeDirectory: String?) throws(SocketError) {
        let variable: String
        let directory: String
        if let runtimeDirectory, runtimeDirectory.utf8.first == UInt8(ascii: "/") {
            variable = "set XDG_RUNTIME_DIR to a shorter directory or choose a shorter name"
            directory = "\(runtimeDirectory)/concentric"
        } else {
            variable = "choose a shorter name"
            directory = "/tmp/concentric-\(geteuid())"
        }
        try self.init(directory: directory, name: name, whenTooLong: variable)
    }

    /// A socket in a directory of one's own.
    package init(
        directory: String, name: String,
        whenTooLong advice: String = "choose a shorter directory or a shorter name"
    ) throws(SocketError) {
        // A folder is named after the instance, too.
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isAllowed),
            name != ".", name != ".."
        else {
            throw SocketError(
                .badName, "'\(name.prefix(80))' is no name for an instance",
                advice: "use 1 to 64 of the characters A-Z a-z 0-9 . _ -")
        }
        self.directory = directory
        self.name = name
        let length = socket.utf8.count
        guard length <= SocketLimits.pathBytes else {
            throw SocketError(
                .pathTooLong,
                "a socket path of \(length) bytes is over the limit of \(SocketLimits.pathBytes)",
                path: socket, advice: advice)
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Makes the directory, for this user alone, or checks that the one that is there is so.
    func prepareDirectory() throws(SocketError) {
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw SocketError.system(
                "cannot make the directory of the socket", path: directory,
                advice: "make its parent, or set XDG_RUNTIME_DIR to a directory of yours")
        }
        let number = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else {
            if errno == ELOOP || errno == ENOTDIR {
                throw SocketError(
                    .unsafeDirectory, "the directory of the socket is \(kind(of: directory))",
                    path: directory, advice: "remove it")
            }
            throw SocketError.system("cannot open the directory of the socket", path: directory)
        }
        let opened = OwnedDescriptor(owning: number)
        var status = stat()
        guard fstat(opened.number, &status) == 0 else {
            throw SocketError.system("cannot look at the directory of the socket", path: directory)
        }
        guard status.st_uid == geteuid() else {
            throw SocketError(
                .unsafeDirectory,
                "the directory of the socket belongs to user \(status.st_uid), not to \(geteuid())",
                path: directory, advice: "set XDG_RUNTIME_DIR to a directory of yours")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SocketError(
                .unsafeDirectory,
                "the directory of the socket is open to others (mode \(octal(status.st_mode)))",
                path: directory, advice: "chmod 700 \(directory)")
        }
    }

    /// The address for bind and connect; the path is known to fit.
    func withAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

private func octal(_ mode: mode_t) -> String {
    let digits = String(mode & 0o7777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

/// What stands at a path, as words for a message.
func kind(of path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0 else { return "missing" }
    switch status.st_mode & S_IFMT {
    case S_IFLNK: return "a symbolic link"
    case S_IFREG: return "a regular file"
    case S_IFDIR: return "a directory"
    case S_IFSOCK: return "a socket"
    case S_IFIFO: return "a pipe"
    default: return "a device file"
    }
}
