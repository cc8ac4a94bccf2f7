internal import CLinux
internal import Glibc

/// A signal that has come.
package struct SignalEvent: Equatable, Sendable {
    package var signal: Int32
    /// The process that sent it, 0 if it was the system.
    package var sender: Int32
    package var uid: UInt32
    /// Where it comes from, the `si_code`: `SI_USER` from kill(2), `SI_KERNEL` from the terminal.
    package var code: Int32
}

/// Turns signals into events of the loop. The loop holds it until it is closed.
///
/// The signals are blocked in the calling thread, and threads and programs started later inherit
/// that: whoever starts a program unblocks them there. Signals of one number that come together are
/// told once.
@LoopActor
package final class SignalWatcher: Watcher {
    private var descriptor: OwnedDescriptor?
    private var handler: (@LoopActor (SignalEvent) -> Void)?
    private var signals: sigset_t

    /// Blocks `signals` and tells `handler` of each that comes.
    package init(
        _ signals: [Int32], _ handler: @escaping @LoopActor (SignalEvent) -> Void
    ) throws(SocketError) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        self.signals = set
        self.handler = handler
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let number = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        let owned = try OwnedDescriptor(checking: number, "cannot watch signals")
        descriptor = consume owned
        EventLoop.shared.watch(number, .read, self)
    }

    /// Stops watching; the signals act as they did before.
    package func close() {
        guard let number = descriptor?.number else { return }
        EventLoop.shared.unwatch(number)
        descriptor = nil
        handler = nil
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Called by the loop.
    package func ready(_ events: Interest) {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while let number = descriptor?.number, read(number, &info, size) == size {
            let event = SignalEvent(
                signal: Int32(bitPattern: info.ssi_signo), sender: Int32(bitPattern: info.ssi_pid),
                uid: info.ssi_uid, code: info.ssi_code)
            handler?(event)
        }
    }
}
