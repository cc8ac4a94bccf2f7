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
            _ asked: String, _ state: String, _ reason: String = "", new isNew: Bool = false,
            _ says: String
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
        Line("stop", "draining", "stop", ".xxx"), Line("stop", "stopped", "stopped", "=xxx"),
        Line("stop", "unkillable", "incarnation 7", "xxxx"),
        Line("start", "starting", "x..."), Line("start", "ready", "x=.."),
        Line("start", "ready", new: true, "x==="), Line("start", "waiting", "exit 3", "x..."),
        Line("start", "draining", "stop", "x..."), Line("start", "failed", "exit 3", "xxxx"),
        Line("restart", "draining", "restart", "x..."),
        Line("restart", "starting", "restart (exit 0)", new: true, "x..."),
        Line("restart", "ready", new: true, "x==="), Line("restart", "waiting", "exit 3", "x..."),
        Line("restart", "failed", "exit 3", "xxxx"),
        Line("swap", "ready", "x=.."), Line("swap", "ready", new: true, "x==="),
        Line("swap", "starting", "signal KILL", new: true, "x..."),
        // It had been ready.
        Line("start", "late", "stopped", "x=.."),
        Line("restart", "late", "traced", new: true, "x==="),
        // It has ended by itself and is not started again.
        Line("start", "done", "exit 0", "x=xx"),
        Line("restart", "done", "exit 0", new: true, "x==="),
        // A swap has failed, with the old process or without it.
        Line("swap", "ready", "swap failed: exit 3", "x=.x"),
        Line("swap", "starting", "swap failed: exit 3", new: true, "x..x"),
        Line("swap", "failed", "swap failed: exit 3", new: true, "xxxx"),
        // Something else is asked meanwhile, whatever the state is yet.
        Line("stop", "ready", new: true, ".xxx"), Line("stop", "starting", new: true, ".xxx"),
        Line("stop", "waiting", "exit 3", ".xxx"), Line("stop", "failed", ".xxx"),
        Line("down", "ready", ".xxx"), Line("down", "starting", new: true, ".xxx"),
        Line("down", "draining", "stop", ".xxx"), Line("down", "stopped", "=xxx"),
        Line("down", "unkillable", "left behind", "xxxx"),
        Line("restart", "starting", "x..."), Line("restart", "draining", "stop", "x..."),
        // What no kernel says, or one of another build.
        Line("start", "unkillable", "xxxx"), Line("start", "stopped", "xxxx"),
        Line("start", "flying", "x..."), Line("hop", "ready", new: true, ".==="),
        Line("", "stopped", "=xxx"), Line("", "ready", new: true, ".==="),
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
            1, Line("stop", "draining", "stop", ""),
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
        (2, Line("restart", "failed", "exit 9", ""), ["d is failed (exit 9)", "concentric log d"]),
        (2, Line("restart", "failed", ""), ["d is failed (exit 3)"]),
        (0, Line("stop", "unkillable", "incarnation 7", ""), ["d is unkillable (incarnation 7)"]),
        (
            3, Line("swap", "ready", "swap failed: exit 3", ""),
            ["d: swap failed: exit 3; the process that served goes on"]
        ),
        (
            3, Line("swap", "waiting", "swap failed: exit 3", ""),
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
