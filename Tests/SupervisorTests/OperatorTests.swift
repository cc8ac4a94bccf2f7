import Supervisor
import Testing

/// The operator's words, swaps, and the end of the house.
@Suite struct OperatorTests {
    static let up: String = "boot, ready, clear"

    static let words: [Scenario] = [
        Scenario(
            "stop: drain, SIGTERM, SIGKILL", "\(up), stop, wait 2, wait 1, die KILL",
            done: "drain 1, term 1, kill 1, refuse stopped", shown: "stopped: stopped"),
        Scenario(
            "a device that goes by itself is not signalled", "\(up), stop, die 0",
            done: "drain 1, refuse stopped", shown: "stopped: stopped"),
        Scenario(
            "before ready stop kills at once", "boot, clear, stop, die KILL",
            done: "kill 1, refuse stopped",
            shown: "stopped: stopped"),
        Scenario(
            "stop twice is stop once", "\(up), stop, stop, die 0, stop",
            done: "drain 1, refuse stopped",
            shown: "stopped: stopped"),
        Scenario(
            "stop of a waiting device takes its start back",
            "\(up), die 1, ready, die 1, clear, stop, wait 60", done: "refuse stopped",
            shown: "stopped: stopped"),
        Scenario(
            "stop of a waiting device beside a cell takes its start back, too",
            "\(up), die 1, ready, cell, ready, die@2 1, clear, stop, wait 2, wait 1, die@3 KILL",
            done: "drain 3, term 3, kill 3, refuse stopped", shown: "stopped: stopped"),
        Scenario(
            "stop of a waiting device beside its old build takes its start back, too",
            "\(up), swap, ready, die@2 1, ready, die@3 1, clear, stop, wait 2, die@1 0",
            done: "drain 1, term 1, refuse stopped", shown: "stopped: stopped"),
        Scenario(
            "start during a stop starts after the reap", "\(up), stop, start, die 0",
            done: "drain 1, spawn 2",
            shown: "starting: stop (exit 0)"),
        Scenario(
            "start of what runs changes nothing", "\(up), start", done: "", shown: "ready"),
        Scenario(
            "start of a failed device works and resets",
            "boot\(String(repeating: ", die 1, wait 9", count: 4)), die 1, clear, start, die 1",
            done: "spawn 6, spawn 7", shown: "starting: exit 1"),
        Scenario(
            "start of a waiting device does not wait", "\(up), die 1, ready, die 1, clear, start",
            done: "spawn 3", shown: "starting"),
        Scenario(
            "start of what is done starts again", "\(up), die 0, clear, start", done: "spawn 2",
            shown: "starting", transient: true),
        Scenario(
            "restart drains, then starts", "\(up), restart, die 0, ready", done: "drain 1, spawn 2",
            shown: "ready"),
        Scenario(
            "restart of what is stopped starts it", "\(up), stop, die 0, clear, restart",
            done: "spawn 2",
            shown: "starting"),
        Scenario(
            "kill is a wish: nobody pays",
            "\(up)\(String(repeating: ", kill, die KILL, ready", count: 30)), clear, kill, "
                + "die KILL",
            done: "kill 31, spawn 32", shown: "starting: kill (signal KILL)"),
        Scenario("kill twice is kill once", "\(up), kill, kill", done: "kill 1", shown: "ready"),
        Scenario(
            "what SIGKILL does not end is shown and gets no successor",
            "\(up), kill, wait 1, wait 100", done: "kill 1", shown: "unkillable: incarnation 1"),
        Scenario(
            "and starts again when it is dead after all",
            "\(up), kill, wait 50, die KILL", done: "kill 1, spawn 2",
            shown: "starting: kill (signal KILL)"),
        Scenario(
            "what an old process says changes nothing",
            "\(up), die KILL, ready@1, eof@1, drained@1", done: "spawn 2",
            shown: "starting: signal KILL"),
    ]

    @Test(arguments: words) func `words about one device`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    static let swaps: [Scenario] = [
        Scenario(
            "the old ends when no flow is inside", "\(up), swap, ready@2, drained@1, die@1 0",
            done: "spawn 2, drain 1", shown: "ready"),
        Scenario(
            "the old ends at the longest deadline at the latest",
            "\(up), swap, ready@2, wait 10, wait 2, wait 1",
            done: "spawn 2, ping 1, ping 2, drain 1, term 1, kill 1", shown: "ready"),
        Scenario(
            "the new dies first: the old serves on", "\(up), swap, die@2 1",
            done: "spawn 2, swap failed: exit 1",
            shown: "ready"),
        Scenario(
            "a failed swap is not counted",
            "\(up)\(String(repeating: ", swap, die SEGV", count: 10)), clear, die@1 KILL",
            done: "spawn 12",
            shown: "starting: signal KILL"),
        Scenario(
            "the new cannot start: the old serves on", "\(up), swap, unspawned@2 ENOENT",
            done: "spawn 2, swap failed: ENOENT", shown: "ready"),
        Scenario(
            "the old dies first: the new is its restart",
            "\(up), visit A#1, swap, die@1 SEGV, ready@2",
            done: "spawn 2, apart 1", shown: "ready"),
        Scenario(
            "the old dies first and then the new: the swap has failed, and it starts again",
            "\(up), swap, die@1 KILL, die@2 1",
            done: "spawn 2, swap failed, nobody serves: exit 1, spawn 3",
            shown: "starting: swap failed: exit 1"),
        Scenario(
            "the old dies first and the new does not start in time: it has failed, too",
            "\(up), swap, die@1 KILL, wait 10, die@2 KILL, ready",
            done: "spawn 2, kill 2, swap failed, nobody serves: start (signal KILL), spawn 3",
            shown: "ready"),
        Scenario(
            "a swap whose processes are both killed from outside only takes longer",
            "\(up), swap, die@1 KILL, die@2 KILL, ready", done: "spawn 2, spawn 3",
            shown: "ready"),
        Scenario(
            "the old dies while the new does: the swap has failed",
            "\(up), swap, eof@2, die@1 KILL, die@2 1",
            done: "spawn 2, spawn 3, swap failed, nobody serves: exit 1",
            shown: "starting: signal KILL"),
        Scenario(
            "a restart during a swap ends both, and nothing has failed",
            "\(up), swap, restart, die@2 KILL, die@1 0", done: "spawn 2, drain 1, kill 2, spawn 3",
            shown: "starting: restart (exit 0)"),
        Scenario(
            "a second swap is refused", "\(up), swap, swap, ready@2, swap",
            done: "spawn 2, refused: a swap is under way, refused: a swap is under way",
            shown: "ready"),
        Scenario(
            "a swap of what is not ready is a restart", "boot, clear, swap, die KILL",
            done: "kill 1, spawn 2",
            shown: "starting: restart (signal KILL)"),
        Scenario(
            "stop during a swap ends both", "\(up), swap, stop, die@2 KILL, die@1 0",
            done: "spawn 2, drain 1, kill 2, refuse stopped", shown: "stopped: stopped"),
        Scenario(
            "the old of a swap that crashes is not missed", "\(up), swap, ready@2, die@1 SEGV",
            done: "spawn 2", shown: "ready"),
    ]

    @Test(arguments: swaps) func `swaps of one device`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    static let asked: [(script: String, word: AskedWord)] = [
        ("boot", .start), (up, .start), ("\(up), kill", .start), ("\(up), die 1", .start),
        ("\(up), stop", .stop), ("\(up), stop, die 0", .stop), ("\(up), stop, start", .start),
        ("\(up), restart", .restart), ("\(up), restart, stop", .stop), ("\(up), swap", .swap),
        ("\(up), swap, swap", .swap), ("\(up), swap, ready", .swap), ("boot, swap", .restart),
        ("\(up), swap, stop", .stop), ("\(up), stop, shutdown", .down),
        ("\(up), shutdown, start", .down), ("\(up), shutdown, die 0, restart", .down),
    ]

    @Test(arguments: 0..<asked.count)
    func `the last word about a device is known`(_ index: Int) throws {
        let (script, word) = Self.asked[index]
        let world = try PolicyWorld.run(script)
        #expect(world.policy.asked(of: PolicyWorld.name) == word, "\(script)")
        #expect(world.policy.asked(of: "stranger") == nil)
    }

    static let ends: [Scenario] = [
        Scenario(
            "shutdown ends in exit", "\(up), shutdown, die 0",
            done: "drain 1, refuse stopped, exit",
            shown: "stopped: stopped"),
        Scenario(
            "a second shutdown kills", "\(up), shutdown, shutdown, die KILL",
            done: "drain 1, kill 1, refuse stopped, exit", shown: "stopped: stopped"),
        Scenario(
            "what cannot be killed is left behind", "\(up), shutdown, shutdown, wait 1",
            done: "drain 1, kill 1, refuse unkillable, exit", shown: "unkillable: left behind"),
        Scenario(
            "a death during shutdown starts nothing", "\(up), shutdown, die SEGV",
            done: "drain 1, refuse stopped, exit", shown: "stopped: stopped"),
        Scenario(
            "nothing is started after shutdown", "\(up), shutdown, start, restart, swap",
            done: "drain 1",
            shown: "draining: stop"),
        Scenario(
            "shutdown of a waiting device exits at once",
            "\(up), die 1, ready, die 1, clear, shutdown",
            done: "refuse stopped, exit", shown: "stopped: stopped"),
    ]

    @Test(arguments: ends) func `the end of the house`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    @Test func `every table has rows`() {
        let counts = [
            PayerTests.outside, PayerTests.budget, PayerTests.visits, LivenessTests.pages,
            LivenessTests.pings, LivenessTests.held, Self.words, Self.swaps, Self.ends,
        ].map(\.count)
        #expect(counts.allSatisfy { $0 > 4 })
        #expect(counts.reduce(0, +) >= 90)
    }
}
