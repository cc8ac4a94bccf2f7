internal import CLinux
internal import Glibc

/// The process at the other end of a socket, as the kernel saw it when the two were connected.
package struct Peer: Equatable, Sendable {
    package var pid: Int32
    package var uid: UInt32
    package var gid: UInt32

    /// Who is at the other end of `descriptor`.
    package init(of descriptor: Int32) throws(SocketError) {
        var pid: pid_t = 0
        var uid: uid_t = 0
        var gid: gid_t = 0
        guard clx_peer(descriptor, &pid, &uid, &gid) == 0 else {
            throw SocketError.system("cannot tell who is at the other end of a socket")
        }
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}

/// Connects to the server of `path`, without waiting.
/// - Throws: `notServed`; `busy`, to be tried again; `foreignServer` when another user serves the
///   path; `system`.
package func connect(path: SocketPath) throws(SocketError) -> OwnedDescriptor {
    let socket = try makeSocket()
    guard path.withAddress({ Glibc.connect(socket.number, $0, $1) }) == 0 else {
        let error = errno
        switch error {
        case ENOENT, ECONNREFUSED, ENOTDIR, ENOTSOCK:
            throw SocketError(
                .notServed, "nobody answers at the socket", path: path.socket, errno: error,
                advice: "start the instance '\(path.name)'")
        case EAGAIN:
            throw SocketError(
                .busy, "too many wait to be accepted at the socket", path: path.socket,
                errno: error, advice: "try again")
        default:
            throw SocketError(
                .system, "cannot connect to the socket", path: path.socket, errno: error)
        }
    }
    let server = try Peer(of: socket.number)
    guard server.uid == geteuid() else {
        throw SocketError(
            .foreignServer, "the socket is served by user \(server.uid), not by \(geteuid())",
            path: path.socket, pid: server.pid,
            advice: "set XDG_RUNTIME_DIR to a directory of yours")
    }
    return socket
}

/// A stream socket that does not block and is closed on exec.
func makeSocket() throws(SocketError) -> OwnedDescriptor {
    let kind = Int32(
        SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return try OwnedDescriptor(checking: socket(AF_UNIX, kind, 0), "cannot make a socket")
}
