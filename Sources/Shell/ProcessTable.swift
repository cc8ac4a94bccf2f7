import DeviceKit
import Glibc
import Installation

extension ProcessTable {
    /// ` (stopped)` for a process that is.
    static func held(_ pid: Int32) -> String {
        switch state(of: pid) {
        case "T": " (it is stopped)"
        case "t": " (a debugger holds it)"
        case "D": " (it waits for the disk)"
        default: ""
        }
    }

    /// ` (its name)`, or nothing where it is not known.
    static func named(_ pid: Int32) -> String {
        guard let name = SystemFile.text("/proc/\(pid)/comm") else { return "" }
        return " (\(name.filter { !$0.isNewline }))"
    }

    /// The folder of data that a kernel was told on its command line, for one that does not answer.
    static func data(of kernel: Int32) -> String? {
        guard let text = SystemFile.text("/proc/\(kernel)/cmdline") else { return nil }
        let words = text.split(separator: "\0")
        guard let option = words.lastIndex(of: "--data"), words.indices.contains(option + 1) else {
            return nil
        }
        let path = String(words[option + 1])
        guard !path.hasPrefix("/") else { return path }
        let resolved = realpath("/proc/\(kernel)/cwd/\(path)", nil)
        defer { free(resolved) }
        return resolved.map { String(cString: $0) }
    }
}

/// Who holds a lock; asking changes nothing.
enum FileLocks {
    /// The process that holds the lock of a file; 0 if it is not known, nil if nobody does.
    static func holder(of path: String) -> Int32? {
        var status = stat()
        guard stat(path, &status) == 0, let table = SystemFile.text("/proc/locks", limit: 4 << 20)
        else { return nil }
        return holder(inode: UInt64(status.st_ino), device: UInt64(status.st_dev), in: table)
    }

    /// A line: `1: FLOCK  ADVISORY  WRITE 4711 fe:01:131084 0 EOF`; `->` marks one that waits.
    /// - Parameter device: as stat(2) tells it; inodes of two file systems may be the same.
    static func holder(inode: UInt64, device: UInt64, in table: String) -> Int32? {
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK" else { continue }
            let place = fields[5].split(separator: ":")
            guard place.count == 3, UInt64(place[0], radix: 16) == major,
                UInt64(place[1], radix: 16) == minor, UInt64(place[2]) == inode
            else { continue }
            return max(0, Int32(fields[4]) ?? 0)
        }
        return nil
    }
}
