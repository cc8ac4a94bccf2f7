internal import Glibc

/// How often the system's memory killer has struck, in the kernel's own cgroup or, without one, on
/// the machine.
///
/// A death is compared with a reading that is some time old and not with the newest, which may
/// already have counted it.
struct MemoryKiller {
    private static let interval = 30.0
    private let path: String
    private var older: UInt64?
    private var newer: UInt64?
    private var readAt = 0.0

    init() {
        path = Self.findPath()
        older = Self.count(path)
        newer = older
    }

    /// Reads the counter now and then.
    mutating func tick(at now: Double) {
        guard now - readAt >= Self.interval else { return }
        readAt = now
        older = newer
        newer = Self.count(path)
    }

    /// Whether it has struck of late.
    mutating func hasStruck() -> Bool {
        guard let older, let now = Self.count(path) else { return false }
        self.older = now
        newer = now
        return now > older
    }

    private static func findPath() -> String {
        if let own = readFile("/proc/self/cgroup"),
            let line = own.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        {
            let path = "/sys/fs/cgroup\(line.dropFirst(3))/memory.events"
            if access(path, R_OK) == 0 { return path }
        }
        return "/proc/vmstat"
    }

    private static func count(_ path: String) -> UInt64? {
        guard let text = readFile(path) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("oom_kill ") {
            return UInt64(line.dropFirst("oom_kill ".count))
        }
        return nil
    }
}

/// The beginning of a small file of the system, at most 64 KiB.
func readFile(_ path: String) -> String? {
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return nil }
    defer { close(number) }
    return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
        var filled = 0
        while filled < buffer.count {
            let count = read(number, buffer.baseAddress! + filled, buffer.count - filled)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            filled += count
        }
        return String(decoding: buffer[..<filled], as: UTF8.self)
    }
}
