internal import CLinux

/// What a watcher waits for, and what it is told; the bits are those of epoll.
package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let read = Interest(rawValue: UInt32(clx_epoll_in))
    package static let write = Interest(rawValue: UInt32(clx_epoll_out))
    /// Told unasked: nobody is at the other end any more.
    package static let hangup = Interest(rawValue: UInt32(clx_epoll_hangup))
    /// Told unasked: the descriptor has an error to give.
    package static let error = Interest(rawValue: UInt32(clx_epoll_error))
    /// There is something to be learnt by reading: bytes, the end, or an error.
    static let readable: Interest = [.read, .hangup, .error]
}

/// Someone that is told when a descriptor is ready. The loop holds it until `unwatch`.
@LoopActor
package protocol Watcher: AnyObject {
    /// Called once a turn while the descriptor is ready.
    func ready(_ events: Interest)
}
