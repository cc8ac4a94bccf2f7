import CLinux
import DeviceKit
import Glibc

/// Starts other programs.
enum Spawn {
    /// POSIX_SPAWN_SETSID, which hides behind _GNU_SOURCE.
    private static let setsidFlag: Int16 = 0x80

    /// - Parameter keeping: descriptors that the program inherits whatever they are marked as.
    static func start(
        _ words: [String], ownSession: Bool = false, keeping: [Int32] = []
    ) -> (pid: Int32, error: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in keeping {
            posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if ownSession { posix_spawnattr_setflags(&attributes, setsidFlag) }
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = Environment.all.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let error = posix_spawnp(&pid, words[0], &actions, &attributes, arguments, variables)
        return (pid, error)
    }
}
