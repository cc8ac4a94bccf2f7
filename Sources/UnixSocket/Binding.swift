internal import CLinux
internal import Glibc

/// A socket that is bound to its path. Only the holder of the path's lock makes one.
struct Binding: ~Copyable {
    let socket: OwnedDescriptor
    private let path: SocketPath
    private let place: FilePlace

    /// - Parameter waits: whether a server that is just being killed may be waited for, which
    ///   blocks.
    init(
        path: SocketPath, under lock: borrowing SocketLock, waits: Bool
    ) throws(SocketError) {
        try Self.clear(path, waits: waits)
        let socket = try makeSocket()
        // The file takes its mode from the socket; 0600 whatever the mask is.
        guard fchmod(socket.number, 0o600) == 0,
            path.withAddress({ bind(socket.number, $0, $1) }) == 0,
            listen(socket.number, SocketLimits.backlog) == 0
        else { throw SocketError.system("cannot listen at the socket", path: path.socket) }
        guard let place = FilePlace(path.socket) else {
            throw SocketError.system("the new socket is gone", path: path.socket)
        }
        self.place = place
        self.socket = socket
        self.path = path
    }

    /// Removes the socket's file if it is still the one that was bound.
    deinit {
        if isCurrent { unlink(path.socket) }
    }

    /// Whether who connects to the path comes here.
    var isCurrent: Bool { FilePlace(path.socket) == place }

    /// Makes way for the new socket, but only over a dead one.
    private static func clear(_ path: SocketPath, waits: Bool) throws(SocketError) {
        var status = stat()
        guard lstat(path.socket, &status) == 0 else {
            if errno == ENOENT { return }
            throw SocketError.system("cannot look at the socket", path: path.socket)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError(
                .inTheWay, "the socket's place is taken by \(kind(of: path.socket))",
                path: path.socket, advice: "remove it or choose another name")
        }
        if let pid = waits ? path.lastingServer() : path.probe() { throw path.inUse(by: pid) }
        guard unlink(path.socket) == 0 || errno == ENOENT else {
            throw SocketError.system("cannot remove the dead socket", path: path.socket)
        }
    }
}
