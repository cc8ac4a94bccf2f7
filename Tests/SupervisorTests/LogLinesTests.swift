import CLinux
import Glibc
import Testing
import UnixSocket

@testable import Supervisor

@Suite struct LogLinesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var pieces: [String]
        var lines: [String]
        var testDescription: String { name }
    }

    static let long = String(repeating: "x", count: LogLimits.lineBytes)

    static let rows: [Row] = [
        Row(name: "one line", pieces: ["a\n"], lines: ["a"]),
        Row(name: "two in one piece", pieces: ["a\nb\n"], lines: ["a", "b"]),
        Row(name: "one in pieces", pieces: ["a", "b", "c\n"], lines: ["abc"]),
        Row(name: "empty lines", pieces: ["\n\n"], lines: ["", ""]),
        Row(name: "without an end", pieces: ["a\nb"], lines: ["a", "b"]),
        Row(name: "nothing", pieces: [""], lines: []),
        Row(name: "of another system", pieces: ["a\r\n"], lines: ["a"]),
        Row(name: "escape codes", pieces: ["\u{1b}[31mred\u{07}\tx\n"], lines: ["?[31mred?\tx"]),
        Row(name: "more of them", pieces: ["\u{9b}31mé\u{7f}\n"], lines: ["??31mé?"]),
        Row(
            name: "just too long", pieces: [long + "\n"],
            lines: [long + LogLimits.splitMark, ""]),
        Row(
            name: "too long in pieces", pieces: [long, "rest\nnext\n"],
            lines: [long + LogLimits.splitMark, "rest", "next"]),
    ]

    @Test(arguments: rows) func `bytes become lines`(_ row: Row) {
        #expect(lines(of: row.pieces.map { Array($0.utf8) }) == row.lines)
    }

    @Test func `bytes that are no text are replaced`() {
        #expect(lines(of: [[0xff, 0x41, 10]]) == ["\u{fffd}A"])
    }

    private func lines(of pieces: [[UInt8]]) -> [String] {
        var machine = LogLines()
        var result: [String] = []
        for piece in pieces {
            piece.withUnsafeBytes { machine.feed($0, now: 5) { result.append($0) } }
        }
        machine.finish { result.append($0) }
        return result
    }

    @Test func `what is over the rate is counted and told in the next second`() {
        var machine = LogLines()
        var result: [String] = []
        let flood = Array(String(repeating: "x\n", count: LogLimits.linesPerSecond + 500).utf8)
        flood.withUnsafeBytes { machine.feed($0, now: 2_000_000_000) { result.append($0) } }
        #expect(result.count == LogLimits.linesPerSecond)
        machine.tick(now: 2_900_000_000) { result.append($0) }
        #expect(result.count == LogLimits.linesPerSecond)
        machine.tick(now: 3_000_000_000) { result.append($0) }
        #expect(result.last == "[suppressed 500 lines]")
        Array("y\n".utf8).withUnsafeBytes {
            machine.feed($0, now: 3_100_000_000) { result.append($0) }
        }
        #expect(result.last == "y")
    }

    @Test @LoopActor func `the processes of a device share one rate for each stream`() {
        let log = DeviceLog("a", folder: nil) { _, _ in }
        var machines = (0..<3).map { _ in LogLines(log.rate(of: .out)) }
        var other = LogLines(log.rate(of: .err))
        let flood = Array(String(repeating: "x\n", count: LogLimits.linesPerSecond).utf8)
        var count = 0
        for index in machines.indices {
            flood.withUnsafeBytes {
                machines[index].feed($0, now: 2_000_000_000) { _ in count += 1 }
            }
        }
        #expect(count == LogLimits.linesPerSecond)
        flood.withUnsafeBytes { other.feed($0, now: 2_000_000_000) { _ in count += 1 } }
        #expect(count == 2 * LogLimits.linesPerSecond)
        // One of them tells of all, once.
        var reports: [String] = []
        for index in machines.indices { machines[index].finish { reports.append($0) } }
        #expect(reports == ["[suppressed \(2 * LogLimits.linesPerSecond) lines]"])
    }

    @Test func `a line without an end costs no more than its rate`() {
        var machine = LogLines()
        var bytes = 0
        let piece = [UInt8](repeating: 120, count: 64 << 10)
        for _ in 0..<100 {
            piece.withUnsafeBytes { machine.feed($0, now: 1) { bytes += $0.utf8.count } }
        }
        #expect(bytes < LogLimits.bytesPerSecond * 11 / 10)
        var last = ""
        machine.finish { last = $0 }
        #expect(last == "[suppressed 1 lines]")
    }

    @Test @LoopActor func `a full log file is put aside and one is kept`() async throws {
        EventLoop.startOnThread()
        let folder = try makeFolder()
        let log = DeviceLog("a/b", folder: folder) { _, _ in }
        let line = String(repeating: "z", count: 8_000)
        for _ in 0..<1_500 {
            log.add(1, .out, line)
            log.flush()
        }
        #expect(names(in: folder) == ["a.b.log", "a.b.log.1"])
        for name in names(in: folder) {
            var status = stat()
            #expect(stat("\(folder)/\(name)", &status) == 0)
            #expect(status.st_size <= LogLimits.fileBytes)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test @LoopActor func `a folder that cannot be made costs the file only`() async {
        EventLoop.startOnThread()
        var told: [String] = []
        var failures: [String] = []
        let log = DeviceLog(
            "a", folder: "/proc/nowhere", tell: { told.append("\($0) \($1)") },
            failed: { failures.append($0) })
        log.add(1, .err, "still told")
        log.flush()
        #expect(failures.count == 1)
        #expect(failures.first?.contains("no log file /proc/nowhere/a.log") == true)
        #expect(told == ["err still told"])
    }
}
