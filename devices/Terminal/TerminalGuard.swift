import Glibc
import Presentation

/// Gives the terminal back on every way out of the process.
///
/// While the screen is entered, a signal that ends the process first writes the leave string and
/// restores the line discipline, then acts as it did before: the process still dies by it, and what
/// else wants to see the signal (a backtrace) still does. `exit` is covered by `atexit`. Signals
/// that only change something (size, stop, continue) become a byte of a pipe that the loop reads.
///
/// Everything that a handler touches lies in memory that is allocated once and never moves. The
/// handlers call nothing but functions that POSIX lists as safe in a handler.
enum TerminalGuard {
    struct State {
        var terminal: Int32
        /// The line discipline that the terminal had before the screen was entered.
        var original: termios
        /// Set from before the enter string is written until after the leave string was.
        var isEntered: Int32
        /// The end of the pipe that the handlers write.
        var wake: Int32
        let leave: UnsafePointer<UInt8>
        let leaveCount: Int
        /// What each signal did before, by its number.
        let previous: UnsafeMutablePointer<sigaction>
    }

    /// Signals that end the process. A trap of Swift is SIGILL or SIGTRAP.
    static let fatal = [
        SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE,
    ]
    /// Signals that the loop is told of.
    static let told = [SIGWINCH, SIGTSTP, SIGCONT]

    /// Milliseconds that a handler waits for a terminal that takes no bytes.
    static var patience: Int32 { 200 }

    private static let signalNumbers = 65
    private static let alternateStack = 64 * 1_024

    /// Guarded by being set once in `arm`, before the handlers are installed, and never changed or
    /// freed. What it points to changes only while all signals are blocked.
    nonisolated(unsafe) private(set) static var state: UnsafeMutablePointer<State>?

    /// Installs the handlers; once in a process, later calls only change the terminal.
    static func arm(terminal: Int32, wake: Int32) {
        if let state {
            withSignalsBlocked {
                state.pointee.terminal = terminal
                state.pointee.wake = wake
            }
            return
        }
        let made = UnsafeMutablePointer<State>.allocate(capacity: 1)
        let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: signalNumbers)
        previous.initialize(repeating: sigaction(), count: signalNumbers)
        made.initialize(
            to: State(
                terminal: terminal, original: termios(), isEntered: 0, wake: wake,
                leave: TerminalSession.leave.utf8Start,
                leaveCount: TerminalSession.leave.utf8CodeUnitCount, previous: previous))
        state = made
        useAlternateStack()
        for signal in fatal { install(signal, ends, keepsIgnored: true) }
        for signal in told { install(signal, tells, keepsIgnored: signal == SIGTSTP) }
        atexit { TerminalGuard.restore() }
    }

    /// A signal that was ignored stays ignored (`nohup`).
    private static func install(
        _ signal: Int32, _ handler: @escaping @convention(c) (Int32) -> Void, keepsIgnored: Bool
    ) {
        guard let state else { return }
        let previous = state.pointee.previous + Int(signal)
        sigaction(signal, nil, previous)
        if keepsIgnored, isIgnored(previous.pointee) { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = Int32(SA_RESTART) | Int32(SA_ONSTACK)
        sigfillset(&action.sa_mask)
        sigaction(signal, &action, nil)
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        guard action.sa_flags & Int32(SA_SIGINFO) == 0 else { return false }
        let handler = action.__sigaction_handler.sa_handler
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// A stack that has overflowed cannot carry its own handler.
    private static func useAlternateStack() {
        var old = stack_t()
        sigaltstack(nil, &old)
        guard old.ss_sp == nil else { return }
        var stack = stack_t()
        stack.ss_sp = UnsafeMutableRawPointer.allocate(
            byteCount: alternateStack, alignment: 16)
        stack.ss_size = alternateStack
        sigaltstack(&stack, nil)
    }

    /// Lets a signal do what it did before `arm`, while `body` runs.
    static func withPrevious(_ signal: Int32, _ body: () -> Void) {
        guard let state else { return body() }
        var installed = sigaction()
        sigaction(signal, state.pointee.previous + Int(signal), &installed)
        body()
        sigaction(signal, &installed, nil)
    }

    static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }

    // MARK: - In handlers

    private static let ends: @convention(c) (Int32) -> Void = { signal in
        guard let state = TerminalGuard.state else { return }
        TerminalGuard.restore()
        sigaction(signal, state.pointee.previous + Int(signal), nil)
        // It is blocked here and comes when this handler returns.
        raise(signal)
    }

    private static let tells: @convention(c) (Int32) -> Void = { signal in
        guard let state = TerminalGuard.state else { return }
        let before = errno
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = Glibc.write(state.pointee.wake, &byte, 1)
        errno = before
    }

    /// Leaves the screen if it is entered. Safe in a handler; never waits longer than twice
    /// `patience`.
    static func restore() {
        guard let state, state.pointee.isEntered != 0 else { return }
        let terminal = state.pointee.terminal
        if !write(state.pointee.leave, state.pointee.leaveCount, to: terminal) {
            // A terminal that was halted keeps what it holds; the leave string matters more.
            tcflush(terminal, TCOFLUSH)
            _ = write(state.pointee.leave, state.pointee.leaveCount, to: terminal)
        }
        // Keys that were typed for the screen are not the shell's.
        tcflush(terminal, TCIFLUSH)
        tcsetattr(terminal, TCSANOW, &state.pointee.original)
        state.pointee.isEntered = 0
    }

    /// Writes all bytes; false when the terminal took no more for `patience`, or is gone.
    static func write(_ bytes: UnsafePointer<UInt8>, _ count: Int, to terminal: Int32) -> Bool {
        var done = 0
        while done < count {
            let written = Glibc.write(terminal, bytes + done, count - done)
            if written > 0 {
                done += written
                continue
            }
            if written < 0, errno == EINTR { continue }
            guard written == 0 || errno == EAGAIN else { return false }
            var waited = pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0)
            if poll(&waited, 1, patience) == 0 { return false }
        }
        return true
    }
}
