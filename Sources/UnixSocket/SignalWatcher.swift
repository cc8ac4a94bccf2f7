internal import CLinux

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
    private let signals: [Int32]

    /// Whether the process was told to ignore the signal. A blocked one would be told all the same.
    package nonisolated static func isIgnored(_ signal: Int32) -> Bool {
        clx_signal_is_ignored(signal) != 0
    }

    /// Blocks `signals` and tells `handler` of each that comes.
    package init(
        _ signals: [Int32], _ handler: @escaping @LoopActor (SignalEvent) -> Void
    ) throws(SocketError) {
        self.signals = signals
        self.handler = handler
        let number = clx_signalfd(signals, Int32(signals.count))
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
        clx_signals_unblock(signals, Int32(signals.count))
    }

    /// Called by the loop.
    package func ready(_ events: Interest) {
        var info = clx_signal()
        while let number = descriptor?.number, clx_signalfd_read(number, &info) == 1 {
            let event = SignalEvent(
                signal: info.number, sender: info.sender, uid: info.uid, code: info.code)
            handler?(event)
        }
    }
}
