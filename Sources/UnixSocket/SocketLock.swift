internal import CLinux
internal import Glibc

/// The lock that makes this process the only server of a path.
///
/// Whoever wants to serve a path first takes the lock of the file beside it. The lock goes with its
/// process, however that ends, so a socket file that is found under the lock and that nobody
/// answers is left from a dead server and may be removed. The lock file itself stays for ever: a
/// removed one could be locked by two. Should somebody else remove it, a lock counts only while it
/// is on the file that stands at the path: a server that lives takes the new one, and one that
/// starts meanwhile finds its socket answered.
struct SocketLock: ~Copyable {
    private let path: SocketPath
    private let file: OwnedDescriptor

    /// - Parameter tries: how often, every 10 ms, a lock that is taken is tried again.
    /// - Throws: `unsafeDirectory`, `inTheWay`, `inUse` with the process that serves the path or
    ///   was the last to lock it, `system`.
    init(path: SocketPath, tries: Int) throws(SocketError) {
        try path.prepareDirectory()
        var left = tries
        var file = try Self.open(path)
        while true {
            if clx_flock(file.number, LOCK_EX | LOCK_NB) == 0 {
                if FilePlace(file.number) == FilePlace(path.lock) { break }
                // It was removed between the two calls, and whoever made another locks that.
                guard left > 0 else { throw path.inUse(by: 0) }
                left -= 1
                file = try Self.open(path)
                continue
            }
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else {
                throw SocketError.system("cannot lock", path: path.lock)
            }
            // A server that was just killed holds its lock a moment longer, and answers nobody.
            if let server = tries > 0 ? path.lastingServer() : path.probe() {
                throw path.inUse(by: server)
            }
            guard left > 0 else { throw path.inUse(by: Self.recordedPID(file.number)) }
            left -= 1
            usleep(10_000)
        }
        // For people, and for whoever is refused while no socket answers yet.
        let text = "\(getpid())\n"
        _ = ftruncate(file.number, 0)
        _ = text.withCString { pwrite(file.number, $0, strlen($0), 0) }
        self.path = path
        self.file = file
    }

    /// Whether it still keeps others out.
    var isCurrent: Bool { FilePlace(file.number) == FilePlace(path.lock) }

    private static func open(_ path: SocketPath) throws(SocketError) -> OwnedDescriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let number = Glibc.open(path.lock, flags, 0o600)
        if number >= 0 { return OwnedDescriptor(owning: number) }
        switch errno {
        case ELOOP, EISDIR, ENXIO:
            throw SocketError(
                .inTheWay, "the lock's place is taken by \(kind(of: path.lock))", path: path.lock,
                advice: "remove it or choose another name")
        default: throw SocketError.system("cannot open the lock file", path: path.lock)
        }
    }

    private static func recordedPID(_ file: Int32) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            let count = pread(file, buffer.baseAddress, buffer.count, 0)
            let digits = buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
            return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
        }
    }
}

/// Which file it is, whatever its name.
package struct FilePlace: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// What stands at a path; nil if nothing does.
    package init?(_ path: String, followsLinks: Bool = false) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
    }

    package init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
    }
}

extension SocketPath {
    /// The process that listens at the path, nil if nobody does; 0 if somebody does who cannot be
    /// asked.
    func probe() -> Int32? {
        guard let socket = try? makeSocket() else { return 0 }
        if withAddress({ Glibc.connect(socket.number, $0, $1) }) == 0 {
            return (try? Peer(of: socket.number))?.pid ?? 0
        }
        return errno == ECONNREFUSED || errno == ENOENT ? nil : 0
    }

    /// As `probe`, but a server that ends within a moment counts for none: the socket of a killed
    /// process answers until the system has closed it, and until a process has that it was just
    /// about to start.
    func lastingServer() -> Int32? {
        guard let pid = probe() else { return nil }
        guard pid > 0 else { return pid }
        if isAlive(pid, after: SocketLimits.dyingMilliseconds) { return pid }
        for _ in 0..<SocketLimits.lockTries {
            guard probe() == pid else { break }
            usleep(10_000)
        }
        return probe()
    }

    private func isAlive(_ pid: Int32, after milliseconds: Int32) -> Bool {
        let number = clx_pidfd_open(pid)
        // It has been reaped since.
        guard number >= 0 else { return false }
        let handle = OwnedDescriptor(owning: number)
        var event = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) == 0
    }

    func inUse(by pid: Int32) -> SocketError {
        SocketError(
            .inUse,
            pid > 0 ? "process \(pid) serves the socket" : "another process serves the socket",
            path: socket, pid: pid > 0 ? pid : nil, advice: "stop it or choose another name")
    }
}
