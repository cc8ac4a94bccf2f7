import Glibc
import Supervisor
import UnixSocket

/// How the kernel ends: in order, and at once when it is told twice by a signal.
///
/// Devices are in groups of their own, so a key of the terminal reaches the kernel alone, which
/// ends them through the protocol. A terminal that closes tells it more than once: that is one
/// request.
@LoopActor
final class Stopping {
    private(set) var isStopping = false
    private var isUrgent = false
    /// The number with which the process ends.
    private(set) var code: Int32 = 0
    private var watcher: SignalWatcher?

    /// Watches for the signals that ask a program to end, but for those that were ignored when
    /// this one was started, as nohup(1) does.
    init(_ asked: @escaping @LoopActor (SignalEvent) -> Void) throws(SocketError) {
        let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !SignalWatcher.isIgnored($0) }
        watcher = try SignalWatcher(signals, asked)
    }

    /// - Parameter failed: whether it ends because it could not start.
    /// - Returns: whether the end begins now.
    func begin(failed: Bool = false) -> Bool {
        guard !isStopping else { return false }
        isStopping = true
        if failed { code = 69 }
        return true
    }

    /// A signal has come.
    /// - Returns: whether what is left is to be killed now.
    func isSecond(_ signal: Int32) -> Bool {
        guard signal != SIGHUP else { return false }
        defer { isUrgent = true }
        if isUrgent { code = 128 + signal }
        return isUrgent
    }
}

extension House {
    func asked(_ event: SignalEvent) {
        let name = SignalName.of(event.signal)
        if stopping.isSecond(event.signal) {
            complain("SIG\(name) again: killing what is left")
            return supervisor.shutdown()
        }
        guard !stopping.isStopping || event.signal != SIGHUP else { return }
        complain(
            "SIG\(name): stopping the devices, which may take "
                + "\(Int(supervisor.longestShutdown.rounded(.up))) s; "
                + "a second Ctrl-C or SIGTERM kills them")
        shutdown()
    }
}
