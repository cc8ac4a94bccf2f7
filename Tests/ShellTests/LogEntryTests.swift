import DeviceKit
import Testing

@testable import Shell

/// Lines of logs: read, merged and shown.
@Suite struct LogEntryTests {
    private func entry(_ at: Int64, _ device: String, _ text: String) -> LogEntry {
        let line = "\(DateText.print(at) ?? "") #1 out \(text)"
        return LogEntry(line, device: device, before: 0)
    }

    static let lines: [(line: String, shown: String)] = [
        ("1970-01-01T00:00:01.000Z #3 err no luck", "1000 3 err no luck"),
        ("1970-01-01T00:00:01.000Z #3 out ", "1000 3 out "),
        ("1970-01-01T00:00:01.000Z #0 kernel ended: exit 3", "1000 0 kernel ended: exit 3"),
        ("1970-01-01T00:00:01.000Z #x out no", "7 0 err 1970-01-01T00:00:01.000Z #x out no"),
        ("1970-01-01T00:00:01.000Z #1 loud no", "7 0 err 1970-01-01T00:00:01.000Z #1 loud no"),
        ("Fatal error: a trap", "7 0 err Fatal error: a trap"), ("", "7 0 err "),
        ("yesterday #1 out no", "7 0 err yesterday #1 out no"),
    ]

    @Test(arguments: 0..<lines.count)
    func `a line is taken apart, and any other is kept whole`(_ index: Int) {
        let (line, shown) = Self.lines[index]
        let entry = LogEntry(line, device: "d", before: 7)
        #expect("\(entry.at) \(entry.incarnation) \(entry.stream) \(entry.text)" == shown)
    }

    @Test func `logs are merged by time, and each keeps its order`() {
        let first = [entry(10, "a", "1"), entry(30, "a", "2"), entry(20, "a", "3")]
        let second = [entry(15, "b", "4"), entry(30, "b", "5"), entry(40, "b", "6")]
        let texts = LogEntry.merged([first, second]).map(\.text)
        #expect(texts == ["1", "4", "2", "3", "5", "6"])
        #expect(LogEntry.merged([]) == [])
    }

    @Test func `what a device says cannot steer the terminal`() {
        let evil = "a\u{1B}[2Jb\u{9B}1mc\u{202E}d\u{7F}e\u{2028}f\u{07}g"
        let line = entry(1, "d", evil).line
        #expect(line.hasSuffix("a\u{FFFD}[2Jb\u{FFFD}1mc\u{FFFD}d\u{FFFD}e\u{FFFD}f\u{FFFD}g"))
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }
}
