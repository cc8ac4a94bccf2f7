internal import Glibc

/// What /proc says of processes.
package enum ProcessTable {
    /// A process that was started as a device, or that descends from one and has kept its
    /// environment.
    package struct Process: Equatable, Sendable {
        package var pid: Int32
        package var device: String
    }

    /// What the environment of a process says of the device from which it comes.
    package struct Origin: Equatable, Sendable {
        package var device: String
        /// Nil for a process of a kernel that did not tell it.
        package var incarnation: Int?
        package var data: String?
    }

    /// The name under which a process of a device finds its incarnation.
    package static let incarnation = "CONCENTRIC_INCARNATION"

    /// Bytes of an environment that are read.
    private static let environmentBytes = 256 << 10

    /// Processes that were started as devices, or by one, with this folder of data; neither this
    /// process nor one from which it descends.
    package static func devices(data: String) -> [Process] {
        let own = ancestors(of: getpid())
        return FolderEntries.names(in: "/proc").compactMap(Int32.init).sorted().compactMap { pid in
            guard !own.contains(pid), state(of: pid) != "Z", let origin = origin(of: pid),
                origin.data == data
            else { return nil }
            return Process(pid: pid, device: origin.device)
        }
    }

    /// Nil if the process says nothing of a device, or may not be asked.
    package static func origin(of pid: Int32) -> Origin? {
        guard let text = SystemFile.text("/proc/\(pid)/environ", limit: environmentBytes) else {
            return nil
        }
        return origin(environment: text)
    }

    static func origin(environment text: String) -> Origin? {
        let entries = text.split(separator: "\0")
        func value(_ name: String) -> String? {
            entries.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        guard let device = value("CONCENTRIC_DEVICE") else { return nil }
        return Origin(
            device: device, incarnation: value(incarnation).flatMap { Int($0) },
            data: value("CONCENTRIC_DATA"))
    }

    /// The process, its parent, and so on.
    package static func ancestors(of pid: Int32) -> [Int32] {
        var chain: [Int32] = []
        var pid = pid
        while pid > 1, chain.count < 64, !chain.contains(pid) {
            chain.append(pid)
            pid = fields(of: pid).flatMap { $0.count > 1 ? Int32($0[1]) : nil } ?? 0
        }
        return chain
    }

    /// The state as the system abbreviates it; empty if there is no such process.
    package static func state(of pid: Int32) -> String {
        fields(of: pid)?.first.map(String.init) ?? ""
    }

    /// The user as which a process runs.
    package static func user(of pid: Int32) -> UInt32? {
        var status = stat()
        return lstat("/proc/\(pid)", &status) == 0 ? status.st_uid : nil
    }

    /// Whether a process runs a program of this name; false if it may not be asked.
    package static func runs(_ program: String, _ pid: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(
                "/proc/\(pid)/exe", bytes.bindMemory(to: CChar.self).baseAddress!, bytes.count)
        }
        guard count > 0 else { return false }
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        // A build that was replaced meanwhile.
        let gone = " (deleted)"
        let name = path.split(separator: "/").last ?? ""
        return name == program || name == program + gone
    }

    /// The children of a process's first thread, which is also given the orphans; nil where the
    /// system does not list them.
    package static func children(of pid: Int32) -> [Int32]? {
        SystemFile.text("/proc/\(pid)/task/\(pid)/children", limit: childrenBytes).map(numbers)
    }

    /// Bytes of a list of children that are read; a longer one is read again when the first of them
    /// are gone.
    package static let childrenBytes = 1 << 20

    /// The whole numbers of a list of children: each is followed by a space, so what stands behind
    /// the last space was cut off, and is the number of a stranger.
    static func numbers(_ list: String) -> [Int32] {
        guard let end = list.lastIndex(of: " ") else { return [] }
        return list[..<end].split(separator: " ").compactMap { Int32($0) }
    }

    /// The fields after the name, which may hold anything: the state, the parent, …
    private static func fields(of pid: Int32) -> [Substring]? {
        guard let text = SystemFile.text("/proc/\(pid)/stat"),
            let end = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: end)...].split(separator: " ")
    }
}
