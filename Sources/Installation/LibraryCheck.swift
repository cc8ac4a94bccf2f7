internal import CLinux
internal import Glibc

/// Asks a program's loader which of its libraries it does not find; the program itself does not
/// run.
///
/// `--list` is known to the loaders of glibc and of musl; one that does not know it takes it for
/// the name of a program. The variable of ldd(1) is no way to ask a stranger: musl's loader does
/// not know it and would start the device.
package enum LibraryCheck {
    /// Nanoseconds for everything.
    package static let patience: UInt64 = 2_000_000_000
    private static let mostBytes = 256 << 10

    /// The libraries that are missing; nil if the loader cannot be asked.
    /// - Parameter patience: nanoseconds that all of it may take.
    package static func missing(
        of program: ProgramFile, patience: UInt64 = Self.patience
    ) -> [String]? {
        guard case .program(_, let loader?) = program.kind else { return [] }
        let deadline = now &+ patience
        guard let answer = ask(loader, ["--list", program.path], [], deadline) else { return nil }
        let names = missing(in: answer.text)
        if answer.text.contains(glibcMark),
            let all = ask(loader, [program.path], ["LD_TRACE_LOADED_OBJECTS=1"], deadline)
        {
            // With `--list` glibc ends at the first that is missing.
            let others = missing(in: all.text)
            return others.isEmpty ? names : others
        }
        return names.isEmpty && !answer.isWell ? nil : names
    }

    private static let glibcMark = "error while loading shared libraries: "
    private static let muslMark = "Error loading shared library "

    /// The names in what a loader says: `libq.so => not found`,
    /// `p: error while loading shared libraries: libq.so: …`,
    /// `Error loading shared library libq.so: … (needed by p)`.
    static func missing(in text: String) -> [String] {
        var names: [String] = []
        for line in text.split(separator: "\n") {
            var name: Substring?
            if line.hasSuffix("=> not found") {
                name = line.split { $0 == " " || $0 == "\t" }.first
            } else {
                for mark in [glibcMark, muslMark] {
                    guard let found = line.firstRange(of: mark) else { continue }
                    name = line[found.upperBound...].prefix { $0 != ":" }
                }
            }
            if let name, !names.contains(String(name)) { names.append(String(name)) }
        }
        return names
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// What a loader said, and whether it ended with 0. It has no path of libraries, for a device
    /// has none either.
    private static func ask(
        _ loader: String, _ words: [String], _ variables: [String], _ deadline: UInt64
    ) -> (text: String, isWell: Bool)? {
        var ends: [Int32] = [0, 0]
        guard clx_pipe(&ends, 0) == 0 else { return nil }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for stream: Int32 in [1, 2] {
            posix_spawn_file_actions_adddup2(&actions, ends[1], stream)
        }
        let arguments = ([loader] + words).map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { for word in arguments + environment { free(word) } }
        var pid: pid_t = 0
        let error = posix_spawn(&pid, loader, &actions, nil, arguments, environment)
        close(ends[1])
        guard error == 0 else { return nil }
        let text = read(ends[0], deadline)
        let isWell = end(pid, deadline)
        return text.map { ($0, isWell) }
    }

    /// Waits until the process has ended, and ends it when it is too late.
    /// - Returns: whether it ended by itself, with 0.
    private static func end(_ pid: pid_t, _ deadline: UInt64) -> Bool {
        var status: Int32 = -1
        let handle = clx_pidfd_open(pid)
        if handle >= 0 { _ = isReadable(handle, by: deadline) }
        kill(pid, SIGKILL)
        // One that SIGKILL does not end, for it waits for a disk that is gone, is left behind.
        if handle >= 0 { _ = isReadable(handle, by: max(deadline, now &+ 100_000_000)) }
        while waitpid(pid, &status, WNOHANG) < 0, errno == EINTR {}
        if handle >= 0 { close(handle) }
        return status == 0
    }

    private static func isReadable(_ descriptor: Int32, by deadline: UInt64) -> Bool {
        while true {
            let time = now
            let left = deadline > time ? (deadline - time + 999_999) / 1_000_000 : 0
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&wait, 1, Int32(clamping: left))
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }

    /// Everything up to the end; nil if it does not come in time.
    private static func read(_ pipe: Int32, _ deadline: UInt64) -> String? {
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while text.count < mostBytes, now < deadline, isReadable(pipe, by: deadline) {
            let got = Glibc.read(pipe, &block, block.count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return got == 0 ? String(decoding: text, as: UTF8.self) : nil }
            text += block[..<got]
        }
        return nil
    }
}
