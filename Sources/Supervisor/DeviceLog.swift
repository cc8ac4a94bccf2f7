internal import Glibc
internal import UnixSocket

/// The log of one device over all its processes: a file, if there is a folder for it.
@LoopActor
final class DeviceLog {
    let device: String
    private let file: LogFile?
    private var rates: [LogStream: LogRate] = [:]
    private let tell: @LoopActor (LogStream, String) -> Void

    /// `folder` is made if it is missing.
    init(
        _ device: String, folder: String?, tell: @escaping @LoopActor (LogStream, String) -> Void
    ) {
        self.device = device
        self.tell = tell
        file = folder.map { folder in
            LogFile(folder: folder, name: device, tell: { tell(.kernel, $0) })
        }
    }

    func add(_ incarnation: Int, _ stream: LogStream, _ line: String) {
        tell(stream, line)
        file?.add(incarnation, stream, line)
    }

    /// Writes what was added. A full disk costs lines, not the kernel.
    func flush() { file?.flush() }

    /// How much a stream has logged in this second, over all processes.
    func rate(of stream: LogStream) -> LogRate {
        if let rate = rates[stream] { return rate }
        let rate = LogRate()
        rates[stream] = rate
        return rate
    }
}

/// Drains one stream of one process for ever, so that the process never waits for its log.
@LoopActor
final class LogPump: Watcher {
    private let stream: LogStream
    private let incarnation: Int
    private let log: DeviceLog
    private var pipe: OwnedDescriptor?
    private var lines: LogLines
    /// The last lines, for reports.
    private(set) var tail: [String] = []

    init(
        _ pipe: consuming OwnedDescriptor, _ stream: LogStream, _ incarnation: Int, _ log: DeviceLog
    ) {
        self.stream = stream
        self.incarnation = incarnation
        self.log = log
        lines = LogLines(log.rate(of: stream))
        let number = pipe.number
        // The reading end is an open file of its own: the device's end goes on to block.
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        self.pipe = consume pipe
        EventLoop.shared.watch(number, .read, self)
    }

    /// Called by the loop.
    func ready(_ events: Interest) {
        drain(LogLimits.readBytes * LogLimits.readsPerTurn)
    }

    func tick(now: UInt64) {
        guard lines.rate.suppressed > 0 else { return }
        lines.tick(now: now) { say($0) }
        log.flush()
    }

    /// The process is dead: what it left is taken, and nobody waits for those that hold the other
    /// end still.
    func finish() {
        if pipe != nil { drain(LogLimits.restBytes) }
        close()
    }

    private func drain(_ budget: Int) {
        let isOver = withUnsafeTemporaryAllocation(byteCount: LogLimits.readBytes, alignment: 16) {
            buffer in
            var left = budget
            while left > 0, let number = pipe?.number {
                let count = read(number, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return false }
                guard count > 0 else { return true }
                left -= count
                lines.feed(
                    UnsafeRawBufferPointer(rebasing: buffer[..<count]), now: EventLoop.shared.now
                ) {
                    say($0)
                }
            }
            return false
        }
        log.flush()
        if isOver { close() }
    }

    private func close() {
        guard let number = pipe?.number else { return }
        EventLoop.shared.unwatch(number)
        pipe = nil
        lines.finish { say($0) }
        log.flush()
    }

    private func say(_ line: String) {
        log.add(incarnation, stream, line)
        if stream == .err {
            tail.append(line)
            if tail.count > LogLimits.tailLines { tail.removeFirst() }
        }
    }
}
