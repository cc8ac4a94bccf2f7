import Glibc
import Testing

@testable import Shell

/// A log file as it grows, is put aside, is cut and is removed.
@Suite final class LogTailTests {
    private let folder: String

    init() throws {
        let template = try #require(strdup("/tmp/shelltailXXXXXX"))
        defer { free(template) }
        folder = String(cString: try #require(mkdtemp(template)))
    }

    deinit {
        for name in ["d.log", "d.log.1"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private var path: String { "\(folder)/d.log" }

    private func append(_ lines: String..., to path: String? = nil) {
        let file = open(path ?? self.path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
        defer { close(file) }
        for line in lines { _ = "\(line)\n".withCString { write(file, $0, strlen($0)) } }
    }

    private func putAside() { rename(path, path + ".1") }

    @Test func `the file that was put aside comes first`() {
        append("1", "2")
        putAside()
        append("3")
        let tail = LogTail(device: "d", folder: folder)
        #expect(tail.readAll().map(\.text) == ["1", "2", "3"])
        #expect(tail.readOn() == [])
    }

    @Test func `what comes is read once, also when the file is put aside meanwhile`() {
        append("1")
        let tail = LogTail(device: "d", folder: folder)
        #expect(tail.readAll().map(\.text) == ["1"])
        append("2")
        #expect(tail.readOn().map(\.text) == ["2"])
        append("3")
        putAside()
        append("4")
        #expect(tail.readOn().map(\.text) == ["3", "4"])
        append("5")
        putAside()
        append("6")
        putAside()
        append("7")
        #expect(tail.readOn().map(\.text) == ["5", "6", "7"])
        #expect(tail.readOn() == [])
    }

    @Test func `a file that is removed and made again is read from its beginning`() {
        append("0")
        putAside()
        append("1")
        let tail = LogTail(device: "d", folder: folder)
        #expect(tail.readAll().map(\.text) == ["0", "1"])
        unlink(path)
        #expect(tail.readOn() == [])
        append("2")
        #expect(tail.readOn().map(\.text) == ["2"])
    }

    @Test func `a file that comes later, and one that is cut, are read`() {
        let tail = LogTail(device: "d", folder: folder)
        #expect(tail.readAll() == [])
        append("1", "2")
        #expect(tail.readOn().map(\.text) == ["1", "2"])
        truncate(path, 0)
        append("3")
        #expect(tail.readOn().map(\.text) == ["3"])
    }

    @Test func `of a file that is too large the whole lines at its end are read`() {
        append(String(repeating: "a", count: LogTail.mostBytes), "cut")
        append(String(repeating: "b", count: LogTail.mostBytes - 1_000))
        for number in 1...3 { append("\(number)") }
        #expect(
            LogTail(device: "d", folder: folder).readAll().suffix(3).map(\.text) == ["1", "2", "3"])
        unlink(path)
        append(String(repeating: "a", count: LogTail.mostBytes))
        for _ in 0..<LogTail.mostBytes / 1_000 { append(String(repeating: "b", count: 999)) }
        let lines = LogTail(device: "d", folder: folder).readAll()
        #expect(lines.allSatisfy { $0.text.count == 999 })
        #expect(lines.count == LogTail.mostBytes / 1_000)
    }

    @Test func `an unfinished line waits for its end`() {
        let tail = LogTail(device: "d", folder: folder)
        _ = tail.readAll()
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
        defer { close(file) }
        write(file, "ab", 2)
        #expect(tail.readOn() == [])
        write(file, "c\nd", 3)
        #expect(tail.readOn().map(\.text) == ["abc"])
        #expect(tail.finish().map(\.text) == ["d"])
    }
}
