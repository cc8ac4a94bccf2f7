import DeviceKit
import Glibc
import Installation

/// Starting other programs: the kernel, and the terminal client.
enum Launch {
    /// `up`: becomes the kernel, or with `--detach` starts it and waits until it is ready.
    static func up(_ arguments: Arguments) -> Never {
        guard arguments.has("--detach") || !arguments.isJSON else {
            Output.complain("up: --json goes with --detach: the kernel says its first line itself")
            exit(64)
        }
        var words = ["--name", arguments.name]
        if let devices = arguments.option("--devices") { words += ["--devices", devices] }
        if let data = arguments.option("--data") { words += ["--data", data] }
        let path = sibling("concentric-kernel")
        if !arguments.has("--detach") { become(path, words) }
        detach(path, words, asJSON: arguments.isJSON)
    }

    /// `attach`: becomes the terminal client.
    static func attach(_ arguments: Arguments) -> Never {
        setenv("CONCENTRIC_NAME", arguments.name, 1)
        become(sibling("terminal"), [])
    }

    /// A program that stands beside this one.
    private static func sibling(_ name: String) -> String {
        "\(ManifestSearch.parent(of: InstanceFolders.program))/\(name)"
    }

    private static func become(_ path: String, _ words: [String]) -> Never {
        var arguments: [UnsafeMutablePointer<CChar>?] = ([path] + words).map { strdup($0) }
        arguments.append(nil)
        execv(path, arguments)
        Output.complain("\(path) cannot be started: \(String(cString: strerror(errno)))")
        exit(69)
    }

    /// Starts the kernel in a session of its own, so that the end of this terminal does not end it,
    /// and passes on the first line that it says.
    private static func detach(
        _ path: String, _ words: [String], asJSON: Bool
    ) -> Never {
        var pipes: [Int32] = [0, 0]
        guard pipe(&pipes) == 0 else {
            Output.complain("no pipe: \(String(cString: strerror(errno)))")
            exit(71)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
        posix_spawn_file_actions_addclose(&actions, pipes[0])
        posix_spawn_file_actions_addclose(&actions, pipes[1])
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // POSIX_SPAWN_SETSID of glibc; it stands behind a macro that Swift does not see.
        posix_spawnattr_setflags(&attributes, 0x80)
        var arguments: [UnsafeMutablePointer<CChar>?] = ([path] + words).map { strdup($0) }
        arguments.append(nil)
        var pid: pid_t = 0
        setenv("CONCENTRIC_DETACHED", "1", 1)
        let error = posix_spawn(&pid, path, &actions, &attributes, arguments, environment())
        close(pipes[1])
        guard error == 0 else {
            Output.complain("\(path) cannot be started: \(String(cString: strerror(error)))")
            exit(69)
        }
        finish(FirstLine(of: pid, pipe: pipes[0]), asJSON: asJSON)
    }

    /// This process's environment, for a program that it starts.
    private static func environment() -> [UnsafeMutablePointer<CChar>?] {
        Environment.all.map { strdup($0) } + [nil]
    }

    /// Prints the kernel's first line; without one the kernel has ended, and has said why.
    private static func finish(_ waiting: consuming FirstLine, asJSON: Bool) -> Never {
        let kernel = waiting.kernel
        guard let line = waiting.wait() else {
            let held = ProcessTable.held(kernel)
            Output.complain(
                held.isEmpty
                    ? "the kernel \(kernel) is not ready in time and says nothing: see "
                        + "`concentric log kernel`, or kill -KILL \(kernel)"
                    : "the kernel \(kernel) does not answer\(held): kill -CONT \(kernel), or "
                        + "kill -KILL \(kernel) and `concentric up`")
            exit(75)
        }
        guard line.hasPrefix("ready ") else {
            if !line.isEmpty { Output.complain(line) }
            awaitEnd(of: kernel)
            exit(69)
        }
        Output.line(asJSON ? json(of: line) : line)
        exit(0)
    }

    /// What is asked next, of `ps` or `doctor`, is not to find a kernel that is about to go. It has
    /// devices to stop first, and may be stopped itself: it is not waited for without an end.
    private static func awaitEnd(of kernel: Int32) {
        for _ in 0..<endLooks {
            var status: Int32 = 0
            guard waitpid(kernel, &status, WNOHANG) == 0 else { return }
            poll(nil, 0, endPause)
        }
    }

    /// Looks for its end, and the milliseconds between two.
    private static let endLooks = 1_500
    private static let endPause: Int32 = 20

    /// `ready pid=… socket=…` as a JSON object.
    private static func json(of line: String) -> String {
        let words = line.split(separator: " ", maxSplits: 2).dropFirst()
        let values = words.map { $0.drop { $0 != "=" }.dropFirst() }
        guard values.count == 2, let pid = Int64(values[0]) else { return Value.text(line).json() }
        return Value.map(["pid": .int(pid), "socket": .text(String(values[1]))]).json()
    }
}
