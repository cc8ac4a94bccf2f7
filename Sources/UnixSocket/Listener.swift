internal import CLinux
internal import Glibc

/// Who takes the connections of a listener.
@LoopActor
package protocol ListenerDelegate: AnyObject {
    /// A process of this user has connected. The socket does not block and is closed on exec.
    func listener(_ listener: Listener, accepted socket: consuming OwnedDescriptor, from peer: Peer)

    /// A connection was closed again unheard: its process belongs to another user, or there is no
    /// descriptor left (`EMFILE`, `ENFILE`), in which case nobody is named.
    func listener(_ listener: Listener, refused peer: Peer?, because error: SocketError)

    /// The socket's place was lost and cannot be taken again for now, which is told once for each
    /// reason. It is tried again whenever its folder changes.
    func listener(_ listener: Listener, lost error: SocketError)

    /// The socket's place cannot be watched, which is told once for each reason: if the socket is
    /// removed it stays away.
    func listener(_ listener: Listener, unwatched error: SocketError)

    /// The socket was removed from its place and stands there again; connections go on.
    func listenerReturned(_ listener: Listener)
}

/// Accepts connections at a path that it serves alone. The loop holds it until it is closed, and it
/// its delegate.
///
/// It keeps one descriptor in reserve. When the process has none left, a connection can be neither
/// accepted nor refused and epoll would report it for ever; the reserve is given up for as long as
/// it takes to close that connection.
@LoopActor
package final class Listener: Watcher {
    package let path: SocketPath
    var lock: SocketLock?
    var binding: Binding?
    var upkeep = ListenerUpkeep()
    private(set) var isClosed = false
    private(set) var delegate: (any ListenerDelegate)?
    private var reserve: OwnedDescriptor?
    private var pause: Timer?

    /// Makes the directory, takes the lock, removes the socket of a dead server, binds and listens.
    /// - Throws: `unsafeDirectory`, `inTheWay`, `inUse` with the process that serves the path,
    ///   `system`.
    package init(path: SocketPath, delegate: any ListenerDelegate) throws(SocketError) {
        self.path = path
        self.delegate = delegate
        let lock = try SocketLock(path: path, tries: SocketLimits.lockTries)
        try enter(Binding(path: path, under: lock, waits: true))
        self.lock = consume lock
        keepUp()
    }

    /// The listening descriptor, -1 while there is none.
    package var descriptor: Int32 { binding?.socket.number ?? -1 }

    /// Stops listening, removes the socket's file and lets go of the lock. Does nothing the second
    /// time.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        upkeep.end()
        leave()
        lock = nil
        delegate = nil
    }

    /// Begins to accept.
    func enter(_ fresh: consuming Binding) throws(SocketError) {
        let number = fresh.socket.number
        binding = consume fresh
        reserve = openReserve()
        guard EventLoop.shared.watch(number, .read, self) else {
            let error = SocketError.system("cannot watch the socket", path: path.socket)
            // It is the same socket, and would go on to take connections.
            reserve = nil
            binding = nil
            throw error
        }
    }

    /// Stops accepting.
    func leave() {
        guard descriptor >= 0 else { return }
        EventLoop.shared.unwatch(descriptor)
        pause?.cancel()
        pause = nil
        reserve = nil
        binding = nil
    }

    /// Takes whoever has connected so far.
    func acceptAll() {
        while descriptor >= 0, acceptOne() {}
    }

    /// Called by the loop.
    package func ready(_ events: Interest) {
        for _ in 0..<SocketLimits.acceptsPerTurn {
            guard descriptor >= 0, acceptOne() else { return }
        }
    }

    /// Whether there may be another.
    private func acceptOne() -> Bool {
        let number = clx_accept(descriptor)
        if number >= 0 {
            welcome(OwnedDescriptor(owning: number))
            return true
        }
        switch errno {
        case EINTR, ECONNABORTED: return true
        case EMFILE, ENFILE: return refuseOne(errno)
        case ENOBUFS, ENOMEM:
            rest()
            return false
        default: return false
        }
    }

    private func welcome(_ socket: consuming OwnedDescriptor) {
        let peer: Peer
        do throws(SocketError) {
            peer = try Peer(of: socket.number)
        } catch {
            delegate?.listener(self, refused: nil, because: error)
            return
        }
        if peer.uid == geteuid() {
            delegate?.listener(self, accepted: socket, from: peer)
        } else {
            let error = SocketError(
                .system, "process \(peer.pid) of user \(peer.uid) is not let in", path: path.socket,
                errno: EACCES, pid: peer.pid)
            delegate?.listener(self, refused: peer, because: error)
        }
    }

    private func refuseOne(_ error: Int32) -> Bool {
        let hadReserve = reserve != nil
        reserve = nil
        let number = clx_accept(descriptor)
        if number >= 0 { Glibc.close(number) }
        reserve = openReserve()
        if number < 0, !hadReserve || errno != EAGAIN { rest() }
        guard number >= 0 else { return false }
        let failure = SocketError(
            .system, "no descriptor is left for a new connection", path: path.socket, errno: error,
            advice: "raise the limit of open files")
        delegate?.listener(self, refused: nil, because: failure)
        return true
    }

    private func openReserve() -> OwnedDescriptor? {
        let number = clx_duplicate(descriptor, 0)
        return number >= 0 ? OwnedDescriptor(owning: number) : nil
    }

    /// Stops accepting for a moment, for the loop would turn without end on a connection that
    /// cannot be taken.
    private func rest() {
        guard pause == nil else { return }
        EventLoop.shared.change(descriptor, [])
        let deadline = EventLoop.shared.now + SocketLimits.acceptPause
        pause = EventLoop.shared.schedule(at: deadline) {
            self.pause = nil
            EventLoop.shared.change(self.descriptor, .read)
        }
    }
}
