// A socket whose file is removed goes on to serve whoever is connected, and nobody else can reach
// it: a cleaner of /tmp or a careless `rm` would cut a running server off. So the listener watches
// its folder and puts back what is gone, the lock first. While another holds that lock, or
// something stands in the socket's place, it leaves both alone and tries again when the folder
// changes.

internal import Glibc

/// What a listener remembers of its place.
@LoopActor
struct ListenerUpkeep {
    fileprivate var watch: FolderWatch?
    fileprivate var retry: Timer?
    fileprivate var tries = 0
    /// What was said last and still holds.
    fileprivate var said: String?
    /// Why the folder is not watched, as it was said.
    fileprivate var unwatched: String?

    /// Whether nothing runs until the folder changes.
    var isQuiet: Bool { retry == nil }

    mutating func end() {
        watch?.close()
        watch = nil
        retry?.cancel()
        retry = nil
    }
}

extension Listener {
    /// From now on the socket is put back when it is removed. Without a watch it is served all the
    /// same, and the delegate is told.
    func keepUp() {
        do throws(SocketError) {
            upkeep.watch = try FolderWatch(path.directory) { [weak self] in
                self?.upkeep.tries = 0
                self?.look()
            }
        } catch {
            delegate?.listener(self, unwatched: error)
        }
        look()
    }

    /// Compares what stands at the path with what this process made.
    private func look() {
        upkeep.retry?.cancel()
        upkeep.retry = nil
        for _ in 0..<SocketLimits.returnTries {
            guard !isClosed else { return }
            // First the watch, so that nothing happens unseen after the look.
            arm()
            do throws(SocketError) {
                guard try mend() else {
                    upkeep.said = nil
                    return
                }
            } catch {
                return wait(because: error)
            }
        }
        // Somebody removes it as fast as it comes.
        again()
    }

    private func arm() {
        do throws(SocketError) {
            try upkeep.watch?.arm()
            upkeep.unwatched = nil
        } catch {
            guard upkeep.unwatched != error.description else { return }
            upkeep.unwatched = error.description
            delegate?.listener(self, unwatched: error)
        }
    }

    /// Makes anew what is gone.
    /// - Returns: whether something was.
    private func mend() throws(SocketError) -> Bool {
        let hasLock = lock?.isCurrent == true
        let hasSocket = binding?.isCurrent == true
        if hasLock, hasSocket { return false }
        if !hasSocket {
            acceptAll()
            leave()
        }
        if !hasLock { lock = try SocketLock(path: path, tries: 0) }
        if !hasSocket, lock != nil {
            try bindAgain()
            delegate?.listenerReturned(self)
        }
        return true
    }

    private func bindAgain() throws(SocketError) {
        guard let held = lock.take() else { return }
        do throws(SocketError) {
            try enter(Binding(path: path, under: held, waits: false))
        } catch {
            lock = consume held
            throw error
        }
        lock = consume held
    }

    /// Another server that is just ending or being refused holds the lock for a moment only: that
    /// is not worth a word.
    private func wait(because error: SocketError) {
        let isBrief = error.code == .inUse && upkeep.tries < SocketLimits.returnTries / 2
        if !isBrief, upkeep.said != error.description {
            upkeep.said = error.description
            delegate?.listener(self, lost: error)
        }
        again()
    }

    private func again() {
        guard upkeep.tries < SocketLimits.returnTries else { return }
        let pause = SocketLimits.returnPause << UInt64(upkeep.tries)
        upkeep.tries += 1
        upkeep.retry = EventLoop.shared.schedule(at: EventLoop.shared.now + pause) {
            [weak self] in self?.look()
        }
    }
}
