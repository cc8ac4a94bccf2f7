import Glibc
import Presentation

/// Why there is no screen.
enum TerminalError: Error, Equatable, CustomStringConvertible {
    case notATerminal
    case system(call: String, code: Int32)

    var description: String {
        switch self {
        case .notATerminal:
            "standard input and output are no terminal; run this in one"
        case .system(let call, let code):
            "the terminal cannot be used: \(call): \(String(cString: strerror(code)))"
        }
    }
}

/// The terminal of the process: raw mode, keys, frames, size, and the signals that belong to it.
///
/// It opens the terminal a second time rather than use the inherited descriptors: non-blocking is a
/// property of an open file, and the shell shares the inherited one. It never blocks and has no
/// thread; the loop watches `descriptor` for reading, and for writing while `wantsToWrite`, and
/// `signals` for reading.
final class TerminalIO {
    /// What a signal asks for.
    enum Signal: Equatable {
        /// Ask for `size` again.
        case resized
        /// Call `suspend`.
        case suspend
        /// Call `resume`.
        case continued
    }

    enum Input: Equatable {
        case bytes([UInt8])
        case nothing
        /// The terminal is gone.
        case ended
    }

    /// The terminal, non-blocking, for reading and writing.
    let descriptor: Int32
    /// Readable when `takeSignals` has something.
    let signals: Int32
    private let wake: Int32
    private var output: FrameOutput
    private var isClosed = false

    private static let readSize = 4_096
    private static let mostBackgroundStops = 64
    /// Milliseconds after which a job that did not stop is one that cannot be stopped.
    private static let stopPatience: Int32 = 100
    private static let usualSize = Size(columns: 80, rows: 24)

    /// Takes the terminal that the descriptors belong to. The screen is not entered yet.
    init(
        input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, usesColor: Bool = true
    ) throws(TerminalError) {
        guard isatty(input) == 1, isatty(output) == 1 else { throw .notATerminal }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", code: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        do {
            descriptor = try Self.openAgain(output)
        } catch {
            for end in ends { Glibc.close(end) }
            throw error
        }
        signals = ends[0]
        wake = ends[1]
        self.output = FrameOutput(usesColor: usesColor)
        TerminalGuard.arm(terminal: descriptor, wake: wake)
    }

    private static func openAgain(_ output: Int32) throws(TerminalError) -> Int32 {
        var name = [CChar](repeating: 0, count: 256)
        var paths = ["/proc/self/fd/\(output)", "/dev/tty"]
        if ttyname_r(output, &name, name.count - 1) == 0 {
            let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            paths.insert(String(decoding: bytes, as: UTF8.self), at: 0)
        }
        for path in paths {
            let opened = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            if opened >= 0, isatty(opened) == 1 { return opened }
            if opened >= 0 { Glibc.close(opened) }
        }
        throw .system(call: "open", code: errno)
    }

    // MARK: - The screen

    /// Enters the screen: raw mode, then the enter string. Entering again repairs both. In the
    /// background it stops the job first, until the shell brings it to the front.
    func enter() throws(TerminalError) {
        guard let state = TerminalGuard.state else { return }
        try awaitForeground()
        let code = TerminalGuard.withSignalsBlocked { () -> Int32 in
            if state.pointee.isEntered == 0 {
                guard tcgetattr(descriptor, &state.pointee.original) == 0 else { return errno }
            }
            var raw = state.pointee.original
            cfmakeraw(&raw)
            state.pointee.isEntered = 1
            let enter = TerminalSession.enter
            guard tcsetattr(descriptor, TCSANOW, &raw) == 0,
                TerminalGuard.write(enter.utf8Start, enter.utf8CodeUnitCount, to: descriptor)
            else {
                let code = errno
                TerminalGuard.restore()
                return code == 0 ? EIO : code
            }
            return 0
        }
        if code != 0 { throw .system(call: "raw mode", code: code) }
        output.restart()
    }

    /// A job in the background may not touch the terminal. SIGTTOU stops it as if it had tried;
    /// where nobody could bring it back the signal does nothing and there is no screen.
    private func awaitForeground() throws(TerminalError) {
        for _ in 0..<Self.mostBackgroundStops {
            let front = tcgetpgrp(descriptor)
            if front < 0 || front == getpgrp() { return }
            kill(0, SIGTTOU)
        }
        throw .system(call: "raw mode", code: EIO)
    }

    /// Leaves the screen; the shell finds the terminal as it was.
    func leave() {
        TerminalGuard.withSignalsBlocked { TerminalGuard.restore() }
    }

    /// Leaves the screen and closes what was opened. The handlers stay and do nothing.
    func close() {
        if isClosed { return }
        isClosed = true
        leave()
        TerminalGuard.arm(terminal: -1, wake: -1)
        for number in [descriptor, signals, wake] { Glibc.close(number) }
    }

    deinit { close() }

    /// Leaves the screen, stops the whole job as Ctrl-Z does, and enters again when the shell has
    /// brought it back. In a job that nobody could bring back nothing stops.
    func suspend() throws(TerminalError) {
        leave()
        TerminalGuard.withPrevious(SIGTSTP) {
            kill(0, SIGTSTP)
            // Another thread may take the signal a little later; the continuation ends the wait.
            var continued = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
            _ = poll(&continued, 1, Self.stopPatience)
        }
        try enter()
    }

    /// The process was continued; whoever had the terminal meanwhile may have left anything.
    func resume() throws(TerminalError) { try enter() }

    /// The size that the terminal has now, or a usual one where it does not know.
    var size: Size {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0,
            window.ws_row > 0
        else { return Self.usualSize }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    // MARK: - In and out

    /// What was typed; call it when `descriptor` is readable.
    func read() -> Input {
        var bytes = [UInt8](repeating: 0, count: Self.readSize)
        while true {
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            if count > 0 { return .bytes(Array(bytes[..<count])) }
            if count == 0 { return .ended }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .nothing : .ended
        }
    }

    /// Shows a frame as soon as the terminal takes it; a later one may replace it before.
    @discardableResult
    func present(_ frame: Frame) -> FrameOutput.Progress {
        output.present(frame)
        return flush()
    }

    /// Paints the whole screen again.
    func redraw() {
        output.redraw()
        flush()
    }

    /// Whether something waits until `descriptor` is writable.
    var wantsToWrite: Bool { output.hasMore }

    /// Writes on; call it when `descriptor` is writable.
    @discardableResult
    func flush() -> FrameOutput.Progress {
        output.pump { bytes in
            while true {
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                if count >= 0 { return count == 0 ? .blocked : .bytes(count) }
                if errno == EINTR { continue }
                return errno == EAGAIN ? .blocked : .broken
            }
        }
    }

    /// The signals that came since the last call, each kind once; call it when `signals` is
    /// readable.
    func takeSignals() -> [Signal] {
        var found: [Signal] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            let count = Glibc.read(signals, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return found }
            for byte in bytes[..<count] {
                let signal: Signal? =
                    switch Int32(byte) {
                    case SIGWINCH: .resized
                    case SIGTSTP: .suspend
                    case SIGCONT: .continued
                    default: nil
                    }
                if let signal, !found.contains(signal) { found.append(signal) }
            }
        }
    }
}
