import Glibc
import Presentation
import Testing

@testable import Terminal

/// One after the other: the signal handlers belong to the process.
@Suite(.serialized) struct TerminalIOTests {
    private let enter = String(describing: TerminalSession.enter)
    private let leave = String(describing: TerminalSession.leave)

    private func frame(_ text: String, columns: Int = 40, rows: Int = 6) -> Frame {
        var frame = Frame(size: Size(columns: columns, rows: rows))
        for row in 0..<rows { frame.put(text, row: row, column: 0) }
        return frame
    }

    @Test func `the screen is entered and left`() throws {
        let pair = try PseudoTerminal()
        let terminal = try TerminalIO(input: pair.terminal, output: pair.terminal)
        #expect(pair.isCooked)
        try terminal.enter()
        #expect(!pair.isCooked)
        #expect(pair.shown() == enter)
        terminal.leave()
        #expect(pair.isCooked)
        #expect(pair.shown() == leave)
        terminal.leave()
        #expect(pair.shown() == "")
        try terminal.enter()
        terminal.close()
        terminal.close()
        #expect(pair.isCooked)
        #expect(pair.shown() == enter + leave)
    }

    @Test func `the shell's descriptors stay blocking`() throws {
        let pair = try PseudoTerminal()
        let terminal = try TerminalIO(input: pair.terminal, output: pair.terminal)
        try terminal.enter()
        #expect(fcntl(pair.terminal, F_GETFL) & O_NONBLOCK == 0)
        #expect(fcntl(terminal.descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(terminal.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `what is no terminal is refused`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(throws: TerminalError.notATerminal) {
            _ = try TerminalIO(input: ends[0], output: ends[1])
        }
    }

    @Test func `keys arrive as they are typed`() throws {
        let pair = try PseudoTerminal()
        let terminal = try TerminalIO(input: pair.terminal, output: pair.terminal)
        try terminal.enter()
        #expect(terminal.read() == .nothing)
        pair.type("q\u{3}\u{1B}[A")
        awaitReadable(terminal.descriptor)
        #expect(terminal.read() == .bytes(Array("q\u{3}\u{1B}[A".utf8)))
        #expect(terminal.read() == .nothing)
    }

    @Test func `the size is asked of the terminal and its change is told`() throws {
        let pair = try PseudoTerminal(columns: 100, rows: 30)
        let terminal = try TerminalIO(input: pair.terminal, output: pair.terminal)
        #expect(terminal.size == Size(columns: 100, rows: 30))
        #expect(terminal.takeSignals() == [])
        pair.resize(columns: 50, rows: 20)
        kill(getpid(), SIGWINCH)
        kill(getpid(), SIGWINCH)
        awaitReadable(terminal.signals)
        #expect(terminal.takeSignals() == [.resized])
        #expect(terminal.size == Size(columns: 50, rows: 20))
        pair.resize(columns: 0, rows: 0)
        #expect(terminal.size == Size(columns: 80, rows: 24))
    }

    @Test func `a slow terminal is sent the latest frame and none between`() throws {
        let pair = try PseudoTerminal(columns: 400, rows: 100)
        let terminal = try TerminalIO(input: pair.terminal, output: pair.terminal)
        try terminal.enter()
        for number in 0..<200 {
            let text = String(repeating: "<\(number)>", count: 60)
            terminal.present(frame(text, columns: 400, rows: 100))
        }
        #expect(terminal.wantsToWrite)
        var shown = ""
        for _ in 0..<10_000 where terminal.wantsToWrite {
            shown += pair.shown()
            terminal.flush()
        }
        shown += pair.shown()
        #expect(!terminal.wantsToWrite)
        let seen = (0..<200).filter { shown.contains("<\($0)>") }
        #expect(seen.last == 199)
        #expect(seen.count < 20)
    }

    @Test func `a frame is shown once and again when asked`() throws {
        let pair = try PseudoTerminal()
        let terminal = try TerminalIO(input: pair.terminal, output: pair.terminal)
        try terminal.enter()
        #expect(terminal.present(frame("hello")) == .done)
        #expect(pair.shown().contains("hello"))
        #expect(terminal.present(frame("hello")) == .done)
        #expect(pair.shown() == "")
        terminal.redraw()
        #expect(pair.shown().contains("hello"))
        try terminal.resume()
        #expect(terminal.wantsToWrite)
        #expect(terminal.flush() == .done)
        let again = pair.shown()
        #expect(again.hasPrefix(enter) && again.contains("hello"))
    }

    @Test func `a terminal that is gone is told as ended`() throws {
        var pair: PseudoTerminal? = try PseudoTerminal()
        let given = try #require(pair)
        let terminal = try TerminalIO(input: given.terminal, output: given.terminal)
        try terminal.enter()
        // The other end is closed by number: the pair itself is still held here.
        close(given.user)
        #expect(terminal.read() == .ended)
        #expect(terminal.present(frame("hello")) == .broken)
        #expect(!terminal.wantsToWrite)
        terminal.close()
        pair = nil
    }
}
