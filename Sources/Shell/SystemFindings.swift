import DeviceKit
import Glibc
import Installation

/// The variables by which a user steers where things are.
enum EnvironmentFindings {
    static func all() -> [Finding] {
        [runtime, data] + own
    }

    private static func variable(_ name: String) -> String? {
        InstanceFolders.variable(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static var runtime: Finding {
        guard let path = variable("XDG_RUNTIME_DIR") else {
            return .ok(.environment, "XDG_RUNTIME_DIR is not set: sockets are in /tmp")
        }
        guard path.hasPrefix("/") else {
            return .warn(
                .environment, "XDG_RUNTIME_DIR=\(path) is no absolute path and counts for nothing",
                "set it to an absolute path")
        }
        return .check(
            ManifestSearch.isDirectory(path), ok: .ok(.environment, "XDG_RUNTIME_DIR=\(path)"),
            otherwise: .fail(
                .environment, "XDG_RUNTIME_DIR=\(path) is no folder",
                "make it, or set the variable to a folder of yours"))
    }

    private static var data: Finding {
        if let path = variable("XDG_DATA_HOME") {
            return .check(
                path.hasPrefix("/"), ok: .ok(.environment, "XDG_DATA_HOME=\(path)"),
                otherwise: .warn(
                    .environment,
                    "XDG_DATA_HOME=\(path) is no absolute path and counts for nothing",
                    "set it to an absolute path"))
        }
        guard let home = variable("HOME") else {
            return .warn(
                .environment, "neither XDG_DATA_HOME nor HOME is set: data is kept in /tmp",
                "set HOME, or say --data")
        }
        return .ok(.environment, "HOME=\(home)")
    }

    /// The variables of the house, and those that look like one.
    private static var own: [Finding] {
        let known: Set<String> = [
            "CONCENTRIC_NAME", "CONCENTRIC_DEVICES", "CONCENTRIC_DETACHED", "CONCENTRIC_DEVICE",
            "CONCENTRIC_DATA", "CONCENTRIC_BIN", "CONCENTRIC_PATIENCE", "CONCENTRIC_UNREAD",
            ProcessTable.incarnation,
        ]
        return Environment.all.filter { $0.hasPrefix("CONCENTRIC_") }.sorted().map { entry in
            let name = String(entry.prefix { $0 != "=" })
            let value = entry.dropFirst(name.count + 1)
            if name == "CONCENTRIC_DEVICES", !ManifestSearch.isDirectory(String(value)) {
                return .fail(
                    .environment, "\(entry) is no folder", "unset it, or name a folder of devices")
            }
            return .check(
                known.contains(name), ok: .ok(.environment, entry),
                otherwise: .warn(
                    .environment, "\(name) means nothing to this build", "unset it, or mend it"))
        }
    }
}

/// What the system offers, and how much of it.
enum SystemFindings {
    /// - Parameter devices: those that a kernel would start.
    static func all(name: String, devices: [Manifest]) -> [Finding] {
        system + [descriptors(devices), processes, core, socketBuffer, pathLength(name)]
    }

    private static var system: [Finding] {
        func need(_ there: Bool, _ what: String, _ why: String) -> Finding {
            .check(
                there, ok: .ok(.system, what),
                otherwise: .fail(
                    .system, "there is no \(what), \(why)", "use Linux 5.4 or newer, or allow it"))
        }
        let landlock: Finding =
            MachineOffers.landlockVersion.map { .ok(.system, "Landlock, version \($0)") }
            ?? .warn(
                .system, "there is no Landlock: files cannot be walled off from a device",
                "boot with lsm=landlock,…")
        let events = MemoryEvents()
        let memory: Finding =
            events.count == nil
            ? .warn(
                .system, "\(events.path) is not readable: the memory killer looks like a kill",
                "mount the cgroup, or /proc")
            : .ok(
                .system,
                "memory events: \(events.path)"
                    + (events.isOwn ? "" : " (of the machine: there is no cgroup of one's own)"))
        return [
            .ok(.system, MachineOffers.system),
            need(
                MachineOffers.hasProcessHandles, "handle of processes (pidfd)",
                "by which deaths are seen"),
            need(
                MachineOffers.hasMemoryFiles, "memory file (memfd)", "in which status pages are"),
            need(
                MachineOffers.hasFileWatches, "file watch (inotify)", "by which logs are followed"),
            .check(
                MachineOffers.hasSystemCallFilters, ok: .ok(.system, "filter of system calls"),
                otherwise: .warn(
                    .system, "there is no filter of system calls (seccomp)",
                    "use a system built with CONFIG_SECCOMP_FILTER")),
            landlock, memory,
        ]
    }

    // MARK: - Limits

    /// A kernel with a few devices and clients keeps well below it.
    private static let fewDescriptors: UInt64 = 1_024

    private static func limit(_ resource: __rlimit_resource) -> (soft: UInt64, hard: UInt64) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        return (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
    }

    private static func text(_ number: UInt64) -> String {
        number >= UInt64(Int64.max) ? "unlimited" : String(number)
    }

    private static func descriptors(_ devices: [Manifest]) -> Finding {
        let limit = limit(RLIMIT_NOFILE)
        let what = "open files: \(text(limit.soft)), at most \(text(limit.hard))"
        let seats = devices.reduce(0) { $0 + $1.instances }
        let need = UInt64(DescriptorLimits.need(devices: devices.count, seats: seats))
        guard limit.hard >= need else {
            return .fail(
                .limits,
                "\(what); a kernel with \(devices.count) devices and \(seats) "
                    + "processes of them needs \(need)",
                "raise it: `ulimit -Hn \(need)` or more")
        }
        return .check(
            limit.hard >= fewDescriptors, ok: .ok(.limits, what),
            otherwise: .warn(.limits, what, "raise it: ulimit -Hn \(fewDescriptors)"))
    }

    private static var processes: Finding {
        let limit = limit(__RLIMIT_NPROC)
        let what = "processes of this user: \(text(limit.soft))"
        return .check(
            limit.soft >= 64, ok: .ok(.limits, what),
            otherwise: .warn(.limits, what, "raise it: ulimit -u 1024"))
    }

    private static var core: Finding {
        let limit = limit(RLIMIT_CORE)
        return .ok(.limits, "core files: \(limit.soft == 0 ? "none" : text(limit.soft))")
    }

    private static var socketBuffer: Finding {
        let path = "/proc/sys/net/core/wmem_max"
        guard let text = SystemFile.text(path),
            let bytes = UInt64(text.filter { $0.isASCII && $0.isNumber })
        else { return .ok(.limits, "socket buffers: the system does not say") }
        return .check(
            bytes >= 128 << 10, ok: .ok(.limits, "socket buffers: up to \(bytes) bytes"),
            otherwise: .warn(
                .limits, "socket buffers: only \(bytes) bytes", "raise net.core.wmem_max"))
    }

    private static func pathLength(_ name: String) -> Finding {
        do throws(SocketError) {
            let path = try SocketPath(name: name)
            let left = MachineOffers.socketPathBytes - path.socket.utf8.count
            return .ok(.limits, "the socket's path leaves \(left) bytes of \(path.socket)")
        } catch {
            return .fail(.limits, error.message, error.advice ?? "choose another name")
        }
    }
}
