internal import CLinux
internal import Glibc

/// What the running system offers to the supervision and to the walls of devices.
package enum MachineOffers {
    /// The system's name and version: `Linux 6.1.0`.
    package static var system: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        return "\(text(&name.sysname)) \(text(&name.release))"
    }

    private static func text<T>(_ field: inout T) -> String {
        withUnsafeBytes(of: &field) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Handles of processes, by which deaths are seen.
    package static var hasProcessHandles: Bool { opens(clx_pidfd_open(getpid())) }
    /// Memory files, in which status pages are.
    package static var hasMemoryFiles: Bool { opens(clx_memfd_create("concentric-probe")) }
    /// Watching files, by which logs are followed.
    package static var hasFileWatches: Bool { opens(inotify_init1(Int32(IN_CLOEXEC))) }
    package static var hasSystemCallFilters: Bool { clx_has_seccomp() == 1 }
    /// Of Landlock; nil where there is none.
    package static var landlockVersion: Int? {
        let version = clx_landlock_abi()
        return version > 0 ? Int(version) : nil
    }
    package static var socketPathBytes: Int { Int(clx_socket_path_room()) }

    private static func opens(_ descriptor: Int32) -> Bool {
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
