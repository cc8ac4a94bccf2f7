internal import Glibc
internal import UnixSocket

/// The log of one device over all its processes: a file, if there is a folder for it.
@LoopActor
final class DeviceLog {
    let device: String
    private let path: String?
    private var file: OwnedDescriptor?
    private var size = 0
    private var pending: [UInt8] = []
    private let tell: @LoopActor (LogStream, String) -> Void

    /// `folder` is made if it is missing.
    init(
        _ device: String, folder: String?, tell: @escaping @LoopActor (LogStream, String) -> Void
    ) {
        self.device = device
        self.tell = tell
        let name = String(device.map { $0 == "/" ? "_" : $0 })
        path = folder.map { "\($0)/\(name).log" }
        if let folder { mkdir(folder, 0o700) }
        openFile()
    }

    func add(_ incarnation: Int, _ stream: LogStream, _ line: String) {
        tell(stream, line)
        guard file != nil else { return }
        pending.append(contentsOf: "\(Self.stamp()) #\(incarnation) \(stream.rawValue) ".utf8)
        pending.append(contentsOf: line.utf8)
        pending.append(10)
    }

    /// Writes what was added. A full disk costs lines, not the kernel.
    func flush() {
        guard !pending.isEmpty else { return }
        if size + pending.count > LogLimits.fileBytes { rotate() }
        if let number = file?.number {
            let written = pending.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            size += max(0, written)
        }
        pending.removeAll(keepingCapacity: pending.capacity <= LogLimits.bytesPerSecond)
    }

    private func openFile() {
        guard let path else { return }
        let number = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            file = nil
            tell(.kernel, "no log file \(path): \(SocketError.text(of: errno))")
            return
        }
        file = OwnedDescriptor(owning: number)
        var status = stat()
        size = fstat(number, &status) == 0 ? Int(status.st_size) : 0
    }

    private func rotate() {
        guard let path, size > 0 else { return }
        guard rename(path, path + ".1") == 0 else { return }
        openFile()
    }

    /// Now, as RFC 3339 in UTC with milliseconds.
    private static func stamp() -> String {
        let now = Clock.realtime
        var seconds = time_t(now / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day =
            "\(parts.tm_year + 1900)-\(digits(Int(parts.tm_mon) + 1, 2))"
            + "-\(digits(Int(parts.tm_mday), 2))"
        let time =
            "\(digits(Int(parts.tm_hour), 2)):\(digits(Int(parts.tm_min), 2))"
            + ":\(digits(Int(parts.tm_sec), 2))"
        return "\(day)T\(time).\(digits(Int(now % 1000), 3))Z"
    }
}

/// Drains one stream of one process for ever, so that the process never waits for its log.
@LoopActor
final class LogPump: Watcher {
    private let stream: LogStream
    private let incarnation: Int
    private let log: DeviceLog
    private var pipe: OwnedDescriptor?
    private var lines = LogLines()
    /// The last lines, for reports.
    private(set) var tail: [String] = []

    init(
        _ pipe: consuming OwnedDescriptor, _ stream: LogStream, _ incarnation: Int, _ log: DeviceLog
    ) {
        self.stream = stream
        self.incarnation = incarnation
        self.log = log
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
        guard lines.suppressed > 0 else { return }
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
