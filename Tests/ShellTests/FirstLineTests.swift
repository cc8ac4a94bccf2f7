import CLinux
import Glibc
import Testing

@testable import Shell

/// What `up --detach` reads of the kernel that it has started.
@Suite struct FirstLineTests {
    static let deadlines: [(line: String, seconds: Int?)] = [
        ("starting deadline=11", 11), ("starting deadline=0", 0), ("starting deadline=-3", 0),
        ("starting deadline=999999999", 100_000), ("starting deadline=", nil),
        ("starting deadline=1.5", nil), ("starting deadline=99999999999999999999", nil),
        ("ready pid=1 socket=/s", nil), ("", nil), (" starting deadline=1", nil),
    ]

    @Test(arguments: 0..<deadlines.count)
    func `the kernel's own deadline is known by its word`(_ index: Int) {
        let (line, seconds) = Self.deadlines[index]
        #expect(FirstLine.deadline(line) == seconds)
    }

    static let texts: [(pieces: [String], line: String)] = [
        (["ready pid=1 socket=/s\n"], "ready pid=1 socket=/s"),
        (["starting deadline=3\nready pid=1\n"], "ready pid=1"),
        (["starting dead", "line=3\n", "re", "ady pid=1\nmore"], "ready pid=1"),
        (["starting deadline=3\n", "no luck"], "no luck"), (["starting deadline=3\n"], ""),
        ([], ""), ([String(repeating: "x", count: 9_000)], String(repeating: "x", count: 4_096)),
    ]

    @Test(arguments: 0..<texts.count)
    func `the first line for people is found, whole or not`(_ index: Int) {
        let (pieces, line) = Self.texts[index]
        var ends: [Int32] = [0, 0]
        #expect(clx_pipe(&ends, 0) == 0)
        for piece in pieces {
            _ = piece.withCString { write(ends[1], $0, strlen($0)) }
        }
        close(ends[1])
        var first = FirstLine(of: 1, pipe: ends[0])
        let found = first.wait()
        close(ends[0])
        #expect(found == line)
    }

    @Test func `a kernel that says nothing more is waited for until its deadline`() {
        var ends: [Int32] = [0, 0]
        #expect(clx_pipe(&ends, 0) == 0)
        _ = "starting deadline=0\n".withCString { write(ends[1], $0, strlen($0)) }
        var first = FirstLine(of: 1, pipe: ends[0])
        #expect(first.wait() == nil)
        for end in ends { close(end) }
    }
}
