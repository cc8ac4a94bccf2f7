internal import CLinux
internal import Glibc
internal import Installation
internal import UnixSocket

/// One process of a device, from its start until it is reaped. It is a group of its own, which
/// carries its number.
@LoopActor
final class ChildProcess: Watcher {
    let device: String
    let incarnation: Int
    /// It was started for one visit, and another process serves.
    let isCell: Bool
    let pid: Int32
    private let handle: OwnedDescriptor
    private let lifeline: OwnedDescriptor
    private let page: StatusPage
    private(set) var logs: [LogPump]
    private let ended: @LoopActor (ChildProcess) -> Void
    private var isReaped = false

    init(
        _ spec: DeviceSpec, incarnation: Int, isCell: Bool, pid: Int32,
        handle: consuming OwnedDescriptor,
        lifeline: consuming OwnedDescriptor, page: consuming StatusPage, logs: [LogPump],
        ended: @escaping @LoopActor (ChildProcess) -> Void
    ) {
        device = spec.name
        self.incarnation = incarnation
        self.isCell = isCell
        self.pid = pid
        self.handle = handle
        self.lifeline = lifeline
        self.page = page
        self.logs = logs
        self.ended = ended
        EventLoop.shared.watch(self.handle.number, .read, self)
    }

    /// Called by the loop: the process is dead.
    func ready(_ events: Interest) { ended(self) }

    /// Until the reap the number cannot belong to anyone else. The process itself may have left its
    /// group.
    func signalGroup(_ signal: Int32) {
        guard !isReaped else { return }
        Glibc.kill(-pid, signal)
        if getpgid(pid) != pid { clx_pidfd_send_signal(handle.number, signal) }
    }

    func signalProcess(_ signal: Int32) {
        guard !isReaped else { return }
        clx_pidfd_send_signal(handle.number, signal)
    }

    /// Reaps it and lets go of everything but the last lines of its logs; nil if it is not dead.
    func reap() -> clx_exit? {
        var result = clx_exit()
        let reaped = clx_reap(handle.number, &result)
        if reaped == 0 { return nil }
        // Negative: somebody else took its status. It is gone all the same, and how is not known.
        if reaped < 0 { result.code = -1 }
        isReaped = true
        EventLoop.shared.unwatch(handle.number)
        for log in logs { log.finish() }
        logs = []
        return result
    }

    func readPage() -> PageReading? { page.read() }

    /// Whether the process says that it was refused memory when it trapped.
    var ranOutOfMemory: Bool { page.isExhausted }

    /// Whether it is stopped or traced. An idle loop is only asked for the stop, which is one
    /// system call.
    func held(_ page: PageReading?, isIdle: Bool) -> (stopped: Bool, traced: Bool) {
        if isIdle, page?.asleep == true {
            return (clx_is_stopped(handle.number) > 0, false)
        }
        guard let status = SystemFile.text("/proc/\(pid)/status") else { return (false, false) }
        return Self.held(status)
    }

    nonisolated static func held(_ status: String) -> (stopped: Bool, traced: Bool) {
        var stopped = false
        var traced = false
        for line in status.utf8.split(separator: UInt8(ascii: "\n")) {
            let text = Substring(line)
            if text.hasPrefix("State:\t") {
                stopped = text.hasPrefix("State:\tT")
                traced = text.hasPrefix("State:\tt")
            } else if text.hasPrefix("TracerPid:\t") {
                traced = traced || !text.hasSuffix("\t0")
                break
            }
        }
        return (stopped, traced)
    }
}
