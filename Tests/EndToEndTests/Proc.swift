import CLinux
import Glibc

/// What the system says about processes.
enum Proc {
    struct Status {
        var pid: Int32
        var state: Character
        var parent: Int32
        var group: Int32
    }

    static func status(_ pid: Int32) -> Status? {
        // The name stands in parentheses and may hold anything.
        let text = Files.text("/proc/\(pid)/stat")
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 2, let state = fields[0].first, let parent = Int32(fields[1]),
            let group = Int32(fields[2])
        else { return nil }
        return Status(pid: pid, state: state, parent: parent, group: group)
    }

    static var all: [Status] {
        Files.names(in: "/proc").compactMap(Int32.init).compactMap(status)
    }

    static func isAlive(_ pid: Int32) -> Bool {
        guard let status = status(pid) else { return false }
        return status.state != "Z" && status.state != "X"
    }

    /// The living processes whose environment names a folder.
    static func using(_ folder: String) -> [Int32] {
        all.filter { $0.state != "Z" && $0.pid != getpid() }.map(\.pid).filter {
            Files.text("/proc/\($0)/environ").contains(folder)
        }
    }

    static func zombies(of parent: Int32) -> [Int32] {
        all.filter { $0.parent == parent && $0.state == "Z" }.map(\.pid)
    }

    /// What each open descriptor of a process is.
    static func descriptors(_ pid: Int32) -> [Int32: String] {
        var found: [Int32: String] = [:]
        for number in Files.names(in: "/proc/\(pid)/fd").compactMap(Int32.init) {
            var buffer = [CChar](repeating: 0, count: 512)
            let count = readlink("/proc/\(pid)/fd/\(number)", &buffer, buffer.count)
            guard count > 0 else { continue }
            found[number] = String(
                decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return found
    }

    /// Resident memory in KiB.
    static func resident(_ pid: Int32) -> Int {
        let line = Files.text("/proc/\(pid)/status").split(separator: "\n")
            .first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Milliseconds for which a process has run.
    static func runTime(_ pid: Int32) -> Double {
        let fields = Files.text("/proc/\(pid)/schedstat").split(separator: " ")
        return fields.first.flatMap { Double($0) }.map { $0 / 1e6 } ?? 0
    }

    /// How often a process has waited for something.
    static func voluntarySwitches(_ pid: Int32) -> Int {
        let line = Files.text("/proc/\(pid)/status").split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Waits until every process is gone.
    /// - Returns: those that are still there.
    static func survivors(
        of pids: [Int32], within seconds: Double = Wait.patience
    ) -> [Int32] {
        let deadline = Clock.now + seconds
        return pids.filter { pid in
            let handle = clx_pidfd_open(pid)
            guard handle >= 0 else { return false }
            defer { close(handle) }
            return !Wait.readable(handle, until: deadline) && isAlive(pid)
        }
    }
}
