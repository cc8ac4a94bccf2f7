internal import CLinux
internal import Glibc

/// A socket that is bound to its path, and the lock that makes this process its only server.
///
/// Whoever wants to serve a path first takes the lock of the file beside it. The lock goes with its
/// process, however that ends, so a socket file that is found under the lock and that nobody
/// answers is left from a dead server and may be removed. The lock file itself stays for ever: a
/// removed one could be locked by two.
struct Binding: ~Copyable {
    let socket: OwnedDescriptor
    private let path: SocketPath
    private let lock: OwnedDescriptor
    private let device: dev_t
    private let inode: ino_t

    init(path: SocketPath) throws(SocketError) {
        try path.prepareDirectory()
        let lock = try Self.takeLock(path)
        try Self.clear(path)
        let socket = try makeSocket()
        // The file takes its mode from the socket; 0600 whatever the mask is.
        guard fchmod(socket.number, 0o600) == 0,
            path.withAddress({ bind(socket.number, $0, $1) }) == 0,
            listen(socket.number, SocketLimits.backlog) == 0
        else { throw SocketError.system("cannot listen at the socket", path: path.socket) }
        var status = stat()
        guard lstat(path.socket, &status) == 0 else {
            throw SocketError.system("the new socket is gone", path: path.socket)
        }
        device = status.st_dev
        inode = status.st_ino
        self.socket = socket
        self.path = path
        self.lock = lock
    }

    /// Removes the socket's file if it is still the one that was bound.
    deinit {
        var status = stat()
        if lstat(path.socket, &status) == 0, status.st_dev == device, status.st_ino == inode {
            unlink(path.socket)
        }
    }

    private static func takeLock(_ path: SocketPath) throws(SocketError) -> OwnedDescriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let number = open(path.lock, flags, 0o600)
        guard number >= 0 else {
            if errno == ELOOP {
                throw SocketError(
                    .inTheWay, "the lock file is a symbolic link", path: path.lock,
                    advice: "remove it")
            }
            throw SocketError.system("cannot open the lock file", path: path.lock)
        }
        let file = OwnedDescriptor(owning: number)
        var patience = 50
        while clx_flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else {
                throw SocketError.system("cannot lock", path: path.lock)
            }
            // A server that was just killed holds its lock a moment longer, and answers nobody.
            if let server = probe(path) { throw inUse(path, by: server) }
            guard patience > 0 else { throw inUse(path, by: recordedPID(file.number)) }
            patience -= 1
            usleep(10_000)
        }
        // For people, and for whoever is refused while no socket answers yet.
        let text = "\(getpid())\n"
        _ = ftruncate(file.number, 0)
        _ = text.withCString { pwrite(file.number, $0, strlen($0), 0) }
        return file
    }

    /// Makes way for the new socket, but only over a dead one.
    private static func clear(_ path: SocketPath) throws(SocketError) {
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
        if let pid = probe(path) { throw inUse(path, by: pid) }
        guard unlink(path.socket) == 0 || errno == ENOENT else {
            throw SocketError.system("cannot remove the dead socket", path: path.socket)
        }
    }

    /// The process that listens at the path, nil if nobody does; 0 if somebody does who cannot be
    /// asked.
    private static func probe(_ path: SocketPath) -> Int32? {
        guard let socket = try? makeSocket() else { return 0 }
        if path.withAddress({ Glibc.connect(socket.number, $0, $1) }) == 0 {
            return (try? Peer(of: socket.number))?.pid ?? 0
        }
        return errno == ECONNREFUSED || errno == ENOENT ? nil : 0
    }

    private static func recordedPID(_ file: Int32) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            let count = pread(file, buffer.baseAddress, buffer.count, 0)
            let digits = buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
            return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
        }
    }

    private static func inUse(_ path: SocketPath, by pid: Int32) -> SocketError {
        SocketError(
            .inUse,
            pid > 0 ? "process \(pid) serves the socket" : "another process serves the socket",
            path: path.socket, pid: pid > 0 ? pid : nil, advice: "stop it or choose another name")
    }
}
