import DeviceKit
import Glibc
import Installation
import Testing

@testable import Shell

/// Chrome trace events.
@Suite struct ChromeTraceTests {
    private func events(_ told: [Value]) -> [Value] {
        var trace = ChromeTrace()
        return told.compactMap(TraceEntry.init).flatMap { trace.events(of: $0) }
    }

    @Test func `a visit is a complete event of its process, which is named once`() {
        let all = events([
            Told.visit(1, "A.b", "a", begin: 10, for: 5, incarnation: 3),
            Told.visit(2, "A.b", "a", begin: 20, for: 5, incarnation: 4),
            Told.visit(3, "B.c", "b", begin: 30, for: 5, more: ["code": "bad"]),
        ])
        let names = all.filter { $0["ph"] == "M" }.map {
            "\($0["name"]?.text ?? "") \($0["pid"]?.int ?? 0) \($0["tid"]?.int ?? 0) "
                + "\($0["args"]?["name"]?.text ?? "")"
        }
        #expect(
            names == [
                "process_name 1 0 a", "thread_name 1 3 a#3", "thread_name 1 4 a#4",
                "process_name 2 0 b", "thread_name 2 1 b#1",
            ])
        let complete = all.filter { $0["ph"] == "X" }
        #expect(complete.map { $0["pid"]?.int } == [1, 1, 2])
        #expect(complete.map { $0["tid"]?.int } == [3, 4, 1])
        #expect(complete.map { $0["ts"]?.int } == [10, 20, 30])
        #expect(complete.allSatisfy { $0["dur"]?.int == 5 })
        #expect(complete[2]["args"]?["code"] == "bad")
        #expect(complete[2]["args"]?["flow"]?.text == "9-3")
    }

    @Test func `visits of one process that overlap never stand in one row`() {
        let spans: [(begin: Int64, length: Int64)] = [(0, 100), (50, 60), (60, 60), (120, 10)]
        let all = events(
            spans.enumerated().map {
                Told.visit($0, "A.b", "a", begin: $1.begin, for: $1.length)
            })
        let tids = all.filter { $0["ph"] == "X" }.compactMap { $0["tid"]?.int }
        #expect(tids == [1, 1_000_001, 2_000_001, 1])
    }

    @Test func `a flow is a pair of asynchronous events`() {
        let pair = events([Told.flow(1, "A.b", begin: 10, for: 5)]).filter { $0["ph"] != "M" }
        #expect(pair.map { $0["ph"]?.text } == ["b", "e"])
        #expect(pair.map { $0["ts"]?.int } == [10, 15])
        #expect(pair.allSatisfy { $0["id"]?.text == "9-1" && $0["cat"] == "flow" })
    }

    @Test func `the file is whole JSON after each batch`() throws {
        let path = "/tmp/ce-chrome-\(getpid())"
        defer { unlink(path) }
        let file = try ChromeFile(path)
        func count() throws -> Int? {
            let value = try Value.parse(json: try #require(SystemFile.text(path)))
            return value["traceEvents"]?.array?.count
        }
        #expect(try count() == 0)
        for batch in 1...3 {
            let told = Told.visit(batch, "A \"b\"\n", "a", begin: Int64(batch) * 5_000)
            try file.add([try #require(TraceEntry(told))])
            #expect(try count() == 2 + batch)
            try file.add([])
            #expect(try count() == 2 + batch)
        }
        #expect(throws: OutputError.self) { _ = try ChromeFile("/no/such/folder/file") }
    }
}
