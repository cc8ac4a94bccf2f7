import CLinux
import Glibc

/// What a finished command has said.
struct Outcome {
    /// The exit code; nil when a signal ended it.
    var status: Int32?
    var signal: Int32?
    var out: String
    var err: String

    var succeeded: Bool { status == 0 }
}

/// A program that was started and is watched through its handle.
///
/// Its output goes into files, so that nothing that it leaves behind can hold a pipe of this
/// process open.
final class Command {
    let pid: Int32
    private let handle: Int32
    private let outFile: String
    private let errFile: String
    private var outcome: Outcome?

    /// - Parameters:
    ///   - output: a descriptor for standard output; nil: a file that `finish` reads.
    init(
        _ path: String, _ words: [String], environment: [String: String], folder: String,
        output: Int32? = nil
    ) throws {
        Self.started += 1
        outFile = "\(folder)/out-\(Self.started)"
        errFile = "\(folder)/err-\(Self.started)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, outFile, flags, 0o600)
        }
        posix_spawn_file_actions_addopen(&actions, 2, errFile, flags, 0o600)
        // The threads of tests block signals, and a program would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments: [UnsafeMutablePointer<CChar>?] = ([path] + words).map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, path, &actions, &attributes, arguments, variables)
        guard error == 0 else { throw Failure("\(path): \(String(cString: strerror(error)))") }
        pid = child
        handle = clx_pidfd_open(child)
    }

    deinit {
        if outcome == nil {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        close(handle)
    }

    // Tests of this suite run one after the other; it only counts files.
    nonisolated(unsafe) private static var started = 0

    /// What it has printed so far.
    var printed: String { Files.text(outFile) }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// Waits for the end of the program.
    /// - Throws: `Failure` when it does not end in time; then it is killed.
    func finish(within seconds: Double = Wait.patience) throws -> Outcome {
        if let outcome { return outcome }
        let inTime = Wait.readable(handle, until: Clock.now + seconds)
        if !inTime { kill(pid, SIGKILL) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        let result = Outcome(
            status: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal,
            out: Files.text(outFile), err: Files.text(errFile))
        outcome = result
        guard inTime else { throw Failure("did not end in \(seconds) s; it said \(result)") }
        return result
    }
}

/// Why a test cannot go on.
struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Monotonic seconds.
enum Clock {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Waiting, always with an end.
enum Wait {
    /// Seconds after which what has not come will not come. They end a test that hangs and measure
    /// nothing: a machine that is slow, or busy with others, takes many times as long for anything.
    static let patience = 240.0

    /// Whether a descriptor became readable, or its other end went away, before a moment.
    static func readable(_ descriptor: Int32, until deadline: Double) -> Bool {
        while true {
            let left = max(0, deadline - Clock.now)
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = Glibc.poll(&poll, 1, Int32((left * 1_000).rounded(.up)))
            if count > 0 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }

    /// Looks again every 10 ms; for what tells nobody that it has happened.
    static func until(
        _ what: String, _ condition: () throws -> Bool
    ) throws {
        let deadline = Clock.now + patience
        while true {
            if try condition() { return }
            guard Clock.now < deadline else { throw Failure("\(what): not within \(patience) s") }
            usleep(10_000)
        }
    }
}

/// Small files and folders.
enum Files {
    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &block, block.count)
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        guard text.withCString({ Glibc.write(file, $0, strlen($0)) }) == text.utf8.count else {
            throw Failure("\(path) was not written")
        }
    }

    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in names(in: path) { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            unlink(path)
        }
    }
}
