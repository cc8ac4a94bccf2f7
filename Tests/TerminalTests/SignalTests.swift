import Glibc
import Presentation
import Testing

@testable import Terminal

/// Enters the screen of the terminal at a path, in a process that is about to end.
private func enterScreen(at path: String) throws -> TerminalIO {
    // The threads of a test block signals; the client has one thread, which blocks none.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_UNBLOCK, &all, nil)
    let descriptor = open(path, O_RDWR | O_NOCTTY)
    let terminal = try TerminalIO(input: descriptor, output: descriptor)
    try terminal.enter()
    var frame = Frame(size: Size(columns: 40, rows: 6))
    frame.put("on screen", row: 0, column: 0)
    terminal.present(frame)
    return terminal
}

@Suite(.serialized) struct SignalTests {
    private func expectRestored(_ pair: PseudoTerminal) {
        let shown = pair.shown()
        #expect(shown.hasPrefix(String(describing: TerminalSession.enter)))
        #expect(shown.contains("on screen"))
        #expect(shown.hasSuffix(String(describing: TerminalSession.leave)))
        #expect(pair.isCooked)
    }

    @Test(arguments: [
        SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
    ])
    func `the terminal is restored when a signal ends the process`(signal: Int32) async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .signal(signal)) {
            [path = path as String, signal = signal as Int32] in
            let terminal = try enterScreen(at: path)
            raise(signal)
            terminal.close()
        }
        expectRestored(pair)
    }

    @Test func `the terminal is restored when the program traps`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .failure) { [path = path as String] in
            let terminal = try enterScreen(at: path)
            let none: [Int] = []
            print(none[terminal.size.rows])
        }
        expectRestored(pair)
    }

    @Test func `the terminal is restored when the stack overflows`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .signal(SIGSEGV)) { [path = path as String] in
            let terminal = try enterScreen(at: path)
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit)
            print(deep(terminal.size.columns))
        }
        expectRestored(pair)
    }

    @Test func `the terminal is restored when the program exits in the middle`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            let terminal = try enterScreen(at: path)
            exit(terminal.size.rows == 6 ? 7 : 8)
        }
        expectRestored(pair)
    }

    @Test func `a halted terminal does not keep the process from ending`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
            let terminal = try enterScreen(at: path)
            var frame = Frame(size: Size(columns: 900, rows: 300))
            for row in 0..<300 {
                frame.put(String(repeating: "x", count: 900), row: row, column: 0)
            }
            #expect(terminal.present(frame) == .blocked)
            raise(SIGTERM)
        }
        _ = pair.shown()
        #expect(pair.isCooked)
    }

    @Test func `an ignored signal stays ignored`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
            signal(SIGHUP, SIG_IGN)
            let terminal = try enterScreen(at: path)
            raise(SIGHUP)
            #expect(terminal.read() == .nothing)
            exit(3)
        }
        expectRestored(pair)
    }

    @Test func `a stop and a continue are told to the loop`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
            let terminal = try enterScreen(at: path)
            raise(SIGTSTP)
            raise(SIGCONT)
            raise(SIGWINCH)
            let signals = terminal.takeSignals()
            exit(signals == [.suspend, .continued, .resized] ? 0 : 1)
        }
        expectRestored(pair)
    }

    @Test func `suspending leaves the screen, stops the job and enters again`() async throws {
        let pair = try PseudoTerminal()
        let path = pair.path
        await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
            setpgid(0, 0)
            let terminal = try enterScreen(at: path)
            let own = getpid()
            let child = try continuer(of: own)
            try terminal.suspend()
            var status: Int32 = 0
            waitpid(child, &status, 0)
            exit(terminal.takeSignals() == [.continued] && terminal.flush() == .done ? 0 : 1)
        }
        let shown = pair.shown()
        let (enter, leave) = (
            String(describing: TerminalSession.enter), String(describing: TerminalSession.leave)
        )
        #expect(shown.split(separator: enter, omittingEmptySubsequences: false).count == 3)
        #expect(shown.split(separator: leave, omittingEmptySubsequences: false).count == 3)
        #expect(shown.split(separator: "on screen", omittingEmptySubsequences: false).count == 3)
        #expect(pair.isCooked)
    }
}

/// Never ends; the additions after the call keep it from becoming a loop.
@inline(never) private func deep(_ depth: Int) -> Int {
    depth == Int.min ? 0 : deep(depth + 1) &+ deep(depth + 2) &+ 1
}

/// Starts a process outside of the job that continues it as soon as it has stopped.
private func continuer(of process: Int32) throws -> pid_t {
    let script =
        "until grep -q 'State:.T' /proc/\(process)/status; do sleep 0.01; done; "
        + "kill -CONT \(process)"
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var child: pid_t = 0
    let words = ["/bin/sh", "-c", script]
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    guard posix_spawn(&child, "/bin/sh", nil, &attributes, arguments, nil) == 0 else {
        throw PseudoTerminal.Failure()
    }
    return child
}
