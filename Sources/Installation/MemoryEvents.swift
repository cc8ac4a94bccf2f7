internal import Glibc

/// The counter of the system's memory killer: that of this process's own cgroup or, without one,
/// that of the machine.
package struct MemoryEvents: Sendable {
    package let path: String
    /// Whether it counts the own cgroup alone.
    package let isOwn: Bool

    /// The counter in a given file.
    package init(path: String) {
        self.path = path
        isOwn = true
    }

    package init() {
        if let own = SystemFile.text("/proc/self/cgroup"),
            let line = own.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        {
            let path = "/sys/fs/cgroup\(line.dropFirst(3))/memory.events"
            if access(path, R_OK) == 0 {
                self.path = path
                isOwn = true
                return
            }
        }
        path = "/proc/vmstat"
        isOwn = false
    }

    /// How often it has struck; nil if the system does not say.
    package var count: UInt64? {
        guard let text = SystemFile.text(path) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("oom_kill ") {
            return UInt64(line.dropFirst("oom_kill ".count))
        }
        return nil
    }
}
