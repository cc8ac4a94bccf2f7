import DeviceKit
import Testing

@testable import Shell

/// What `start`, `stop` and `restart` wait for: each verb against each row.
@Suite struct AwaitedTests {
    /// What may be said of a row by each verb: `=` it is so, `.` not yet, `x` never.
    struct Line: Sendable {
        let asked: String
        let state: String
        let reason: String
        let isNew: Bool
        /// In the order of `verbs`.
        let says: String

        init(
            _ asked: String, _ state: String, _ says: String, because reason: String = "",
            new isNew: Bool = false
        ) {
            (self.asked, self.state, self.reason) = (asked, state, reason)
            (self.isNew, self.says) = (isNew, says)
        }

        var row: Value {
            .map([
                "name": "d", "asked": .text(asked), "state": .text(state), "reason": .text(reason),
                "incarnation": .int(isNew ? 8 : 7), "lastExit": "exit 3",
            ])
        }
    }

    static let verbs: [(verb: String, swaps: Bool)] = [
        ("stop", false), ("start", false), ("restart", false), ("restart", true),
    ]

    static let lines: [Line] = [
        // As it is on the way.
        Line("stop", "draining", ".xxx", because: "stop"),
        Line("stop", "stopped", "=xxx", because: "stopped"),
        Line("stop", "unkillable", "xxxx", because: "incarnation 7"),
        Line("start", "starting", "x..."), Line("start", "ready", "x=.."),
        Line("start", "ready", "x===", new: true),
        Line("start", "waiting", "x...", because: "exit 3"),
        Line("start", "draining", "x...", because: "stop"),
        Line("start", "failed", "xxxx", because: "exit 3"),
        Line("restart", "draining", "x...", because: "restart"),
        Line("restart", "starting", "x...", because: "restart (exit 0)", new: true),
        Line("restart", "ready", "x===", new: true),
        Line("restart", "waiting", "x...", because: "exit 3"),
        Line("restart", "failed", "xxxx", because: "exit 3"),
        Line("swap", "ready", "x=.."), Line("swap", "ready", "x===", new: true),
        Line("swap", "starting", "x...", because: "signal KILL", new: true),
        // It had been ready.
        Line("start", "late", "x=..", because: "stopped"),
        Line("restart", "late", "x===", because: "traced", new: true),
        // It has ended by itself and is not started again.
        Line("start", "done", "x=xx", because: "exit 0"),
        Line("restart", "done", "x===", because: "exit 0", new: true),
        // A swap has failed, with the old process or without it.
        Line("swap", "ready", "x=.x", because: "swap failed: exit 3"),
        Line("swap", "starting", "x..x", because: "swap failed: exit 3", new: true),
        Line("swap", "failed", "xxxx", because: "swap failed: exit 3", new: true),
        // Something else is asked meanwhile, whatever the state is yet.
        Line("stop", "ready", ".xxx", new: true), Line("stop", "starting", ".xxx", new: true),
        Line("stop", "waiting", ".xxx", because: "exit 3"), Line("stop", "failed", ".xxx"),
        Line("down", "ready", ".xxx"), Line("down", "starting", ".xxx", new: true),
        Line("down", "draining", ".xxx", because: "stop"), Line("down", "stopped", "=xxx"),
        Line("down", "unkillable", "xxxx", because: "left behind"),
        Line("restart", "starting", "x..."), Line("restart", "draining", "x...", because: "stop"),
        // What no kernel says, or one of another build.
        Line("start", "unkillable", "xxxx"), Line("start", "stopped", "xxxx"),
        Line("start", "flying", "x..."), Line("hop", "ready", ".===", new: true),
        Line("", "stopped", "=xxx"), Line("", "ready", ".===", new: true),
    ]

    private func judge(_ verb: Int, _ row: Value) -> Awaited.Judgement {
        let (verb, swaps) = Self.verbs[verb]
        return Awaited(verb: verb, swaps: swaps, before: ["d": 7]).judge(row)
    }

    @Test(arguments: 0..<lines.count)
    func `each verb knows whether a row is wanted, may become so, or never will`(index: Int) {
        let line = Self.lines[index]
        let says = Self.verbs.indices.map { verb in
            switch judge(verb, line.row) {
            case .wanted: "="
            case .pending: "."
            case .failed: "x"
            }
        }.joined()
        #expect(says == line.says, "\(line)")
    }

    static let words: [(verb: Int, line: Line, says: [String])] = [
        (
            1, Line("stop", "draining", "", because: "stop"),
            ["d: `start` will not be done", "`stop` was asked for", "concentric ps"]
        ),
        (
            3, Line("down", "ready", ""),
            ["`restart --swap` will not be", "the kernel was told to end"]
        ),
        (
            0, Line("swap", "ready", ""),
            ["`stop` will not be done", "`restart --swap` was asked for"]
        ),
        (
            2, Line("restart", "failed", "", because: "exit 9"),
            ["d is failed (exit 9)", "concentric log d"]
        ),
        (2, Line("restart", "failed", ""), ["d is failed (exit 3)"]),
        (
            0, Line("stop", "unkillable", "", because: "incarnation 7"),
            ["d is unkillable (incarnation 7)"]
        ),
        (
            3, Line("swap", "ready", "", because: "swap failed: exit 3"),
            ["d: swap failed: exit 3; the process that served goes on"]
        ),
        (
            3, Line("swap", "waiting", "", because: "swap failed: exit 3"),
            ["d: swap failed: exit 3; the process that served is gone, too"]
        ),
    ]

    @Test(arguments: 0..<words.count)
    func `who waits in vain is told what came instead`(index: Int) {
        let (verb, line, says) = Self.words[index]
        guard case .failed(let message) = judge(verb, line.row) else {
            Issue.record("\(line) is not told")
            return
        }
        for part in says { #expect(message.contains(part)) }
        #expect(!message.contains("\n"))
    }

    @Test func `the tables have every word and every state`() {
        let states = [
            "starting", "ready", "late", "draining", "waiting", "failed", "stopped", "done",
            "unkillable",
        ]
        #expect(Set(states).isSubset(of: Set(Self.lines.map(\.state))))
        #expect(
            Set(["start", "restart", "swap", "stop", "down"]).isSubset(
                of: Set(Self.lines.map(\.asked))))
        #expect(Self.lines.allSatisfy { $0.says.count == Self.verbs.count })
    }
}
