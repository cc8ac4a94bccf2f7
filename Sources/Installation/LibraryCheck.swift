internal import Glibc

/// Asks a program's loader which of its libraries it does not find; the program itself does not
/// run.
package enum LibraryCheck {
    /// Milliseconds for the answer.
    private static let patience: Int32 = 2_000
    private static let mostBytes = 256 << 10

    /// The libraries that are missing; nil if the loader cannot be asked.
    package static func missing(of program: ProgramFile) -> [String]? {
        guard case .program(_, let loader?) = program.kind else { return [] }
        guard let text = answer(loader, [program.path]) else { return nil }
        return text.split(separator: "\n").compactMap { line in
            guard line.hasSuffix("=> not found") else { return nil }
            return line.split { $0 == " " || $0 == "\t" }.first.map(String.init)
        }
    }

    private static func answer(_ path: String, _ words: [String]) -> String? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
        let arguments: [UnsafeMutablePointer<CChar>?] = ([path] + words).map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        // As ldd(1) does it; and with no other path of libraries, for a device has none either.
        let environment: [UnsafeMutablePointer<CChar>?] = [
            strdup("LD_TRACE_LOADED_OBJECTS=1"), nil,
        ]
        defer { free(environment[0]) }
        var pid: pid_t = 0
        let error = posix_spawn(&pid, path, &actions, nil, arguments, environment)
        close(ends[1])
        guard error == 0 else { return nil }
        let text = read(ends[0])
        if text == nil { kill(pid, SIGKILL) }
        while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        return text
    }

    /// Everything up to the end; nil if it does not come in time.
    private static func read(_ pipe: Int32) -> String? {
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while text.count < mostBytes {
            var wait = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let count = poll(&wait, 1, patience)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            let got = Glibc.read(pipe, &block, block.count)
            guard got > 0 else { return got == 0 ? String(decoding: text, as: UTF8.self) : nil }
            text += block[..<got]
        }
        return nil
    }
}
