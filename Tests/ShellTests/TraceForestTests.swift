import DeviceKit
import Testing

@testable import Shell

/// Entries of a trace as a kernel tells them.
enum Told {
    static func flow(
        _ flow: Int, _ symbol: String, begin: Int64 = 0, for duration: Int64 = 1_000,
        verb: String = "ok", parent: Int? = nil, under: Int64 = 0, root: Int = 1,
        more: [String: Value] = [:]
    ) -> Value {
        var map: [String: Value] = [
            "kind": "flow", "origin": parent == nil ? "call" : "operation",
            "parent": parent.map { .text("9-\($0)") } ?? .null, "under": .int(under),
        ]
        if parent == nil { map["client"] = "test" }
        return entry(map.merging(more) { $1 }, flow, symbol, begin, duration, verb, 0, root)
    }

    static func visit(
        _ flow: Int, _ symbol: String, _ device: String, begin: Int64 = 0,
        for duration: Int64 = 1_000, verb: String = "next", step: Int64 = 0,
        incarnation: Int64 = 1, attempt: Int64 = 1, root: Int = 1, more: [String: Value] = [:]
    ) -> Value {
        let map: [String: Value] = [
            "kind": "visit", "device": .text(device), "incarnation": .int(incarnation),
            "attempt": .int(attempt), "cell": false,
        ]
        return entry(map.merging(more) { $1 }, flow, symbol, begin, duration, verb, step, root)
    }

    private static func entry(
        _ map: [String: Value], _ flow: Int, _ symbol: String, _ begin: Int64, _ duration: Int64,
        _ verb: String, _ step: Int64, _ root: Int
    ) -> Value {
        .map(
            map.merging([
                "flow": .text("9-\(flow)"), "root": .text("9-\(root)"), "symbol": .text(symbol),
                "begin": .int(begin), "duration": .int(duration), "at": .date(begin / 1_000),
                "verb": .text(verb), "step": .int(step),
            ]) { $1 })
    }
}

/// Trees of flows as people read them.
@Suite struct TraceForestTests {
    /// The lines without the time at their beginning.
    private func lines(_ entries: [Value], rest: Bool = false) -> [String] {
        var forest = TraceForest()
        var lines = entries.compactMap(TraceEntry.init).flatMap { forest.add($0) }
        if rest { lines += forest.rest() }
        return lines.map { String($0.dropFirst(15)) }
    }

    @Test func `a call of one stage is one line`() {
        let entries = [
            Told.visit(1, "A.b", "a", begin: 1_500_000, for: 12_345),
            Told.flow(1, "A.b", begin: 1_500_000, for: 12_345),
        ]
        var forest = TraceForest()
        let printed = entries.compactMap(TraceEntry.init).flatMap { forest.add($0) }
        #expect(printed == ["00:00:01.500Z  A.b  a#1  ok  12.3 ms  #1 called by test"])
        #expect(forest.rest() == [])
    }

    @Test func `what a visit asked stands below it, and an attempt is a line`() {
        let entries = [
            Told.visit(2, "Store.get", "store", begin: 10, for: 90, verb: "fail"),
            Told.flow(
                2, "Store.get", begin: 10, for: 90, verb: "fail", parent: 1, under: 0,
                more: ["code": "notFound"]),
            Told.visit(1, "A.pipe#0", "a", begin: 5, for: 100),
            Told.visit(1, "B.work", "b", begin: 110, for: 50, verb: "lost", step: 1),
            Told.visit(
                1, "B.work", "b", begin: 200, for: 50, step: 1, incarnation: 2, attempt: 2),
            Told.visit(3, "C.x", "c", begin: 260, for: 5, more: ["cell": true]),
            Told.flow(
                3, "A.pipe", begin: 255, for: 20, parent: 1, under: 2,
                more: ["origin": "branch", "branch": 0]),
            Told.visit(
                1, "A.pipe#3", "a", begin: 280, for: 5, verb: "divert", step: 3,
                more: ["target": "A.other"]),
            Told.flow(1, "A.pipe", for: 2_500_000),
        ]
        #expect(
            lines(entries) == [
                "A.pipe  ok  2.5 s  #1 called by test",
                "  A.pipe#0  a#1  next  100 µs",
                "    Store.get  store#1  fail notFound  90 µs  #2",
                "  B.work  b#1  lost  50 µs",
                "  B.work  b#2  attempt 2  next  50 µs",
                "  A.pipe  ok  20 µs  #3 branch 0",
                "    C.x  c#1  in a cell  next  5 µs",
                "  A.pipe#3  a#1  divert A.other  5 µs",
            ])
    }

    @Test func `a tree is printed when its root has ended, and the rest at the end`() {
        let entries = [
            Told.visit(2, "A.b", "a", begin: 5, root: 2), Told.visit(1, "A.b", "a"),
            Told.flow(1, "A.b"),
        ]
        #expect(lines(entries) == ["A.b  a#1  ok  1.0 ms  #1 called by test"])
        let running =
            entries + [
                Told.flow(2, "A.b", begin: 5, verb: "running", root: 2)
            ]
        #expect(lines(running, rest: true).last == "A.b  a#1  running  1.0 ms  9-2 called by test")
        #expect(lines([entries[0]], rest: true) == ["A.b  a#1  next  1.0 ms"])
    }

    @Test func `roots whose end was missed are not kept for ever`() {
        var forest = TraceForest()
        var printed = 0
        for number in 0..<(TraceForest.mostWaiting + 10) {
            let told = Told.visit(number, "A.b", "a", root: number)
            printed += TraceEntry(told).map { forest.add($0).count } ?? 0
        }
        #expect(printed == 10)
    }

    @Test func `no name steers the terminal, and what is no entry is passed over`() {
        let evil = Told.visit(1, "A\u{1B}[2J", "a\u{7}", more: ["payload": "\u{9B}x"])
        let text = lines([evil], rest: true).joined()
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x9B })
        for value: Value in [.null, .map([:]), .map(["flow": "1-1"]), .array([])] {
            #expect(TraceEntry(value) == nil)
        }
    }
}
