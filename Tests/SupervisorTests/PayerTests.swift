import Testing

/// Who pays for a death, and when the next start is.
@Suite struct PayerTests {
    static let up: String = "boot, ready, clear"

    /// Eleven deaths of its own, 20 s apart and more, each followed by its wait.
    static let slowly = [0, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30]
        .map { ", page, wait 20, die 1, wait \($0), ready" }.joined()

    static let outside: [Scenario] = [
        Scenario(
            "a kill from outside", "\(up), die KILL", done: "spawn 2",
            shown: "starting: signal KILL"),
        Scenario(
            "each of the signals from outside",
            "\(up), die TERM, ready, die INT, ready, die HUP, ready, die QUIT",
            done: "spawn 2, spawn 3, spawn 4, spawn 5", shown: "starting: signal QUIT"),
        Scenario(
            "a kill from outside before ready", "boot, clear, die KILL", done: "spawn 2",
            shown: "starting: signal KILL"),
        Scenario(
            "a hundred kills from outside, one a second, count for nothing",
            "\(up)\(String(repeating: ", pass 1, die KILL, ready", count: 100)), clear, die KILL",
            done: "spawn 102", shown: "starting: signal KILL"),
        Scenario(
            "twenty kills in a second are answered at once",
            "\(up)\(String(repeating: ", die KILL, ready", count: 19)), clear, die KILL",
            done: "spawn 21", shown: "starting: signal KILL"),
        Scenario(
            "the twenty-first kill in a second costs a pause",
            "\(up)\(String(repeating: ", die KILL, ready", count: 20)), clear, die KILL, tick 0.9",
            done: "", shown: "waiting: signal KILL"),
        Scenario(
            "after the pause it starts",
            "\(up)\(String(repeating: ", die KILL, ready", count: 20)), clear, die KILL, tick 1",
            done: "spawn 22", shown: "starting"),
        Scenario(
            "a kill from outside replays what was held",
            "\(up), visit A#1, visit B#2, die KILL", done: "replay 1, replay 2, spawn 2",
            shown: "starting: signal KILL"),
        Scenario(
            "a kill from outside loses what had begun and may not be sent again",
            "\(up), page begun=1, visit A#1 once, visit B#2 once, die KILL",
            done: "lost 1, replay 2, spawn 2", shown: "starting: signal KILL"),
        Scenario(
            "without a page all that was delivered counts as begun",
            "\(up), visit A#1 once, die KILL", done: "lost 1, spawn 2",
            shown: "starting: signal KILL"),
        Scenario(
            "a kill by the memory killer is the device's own",
            "\(up), die KILL memory, ready, die KILL memory, tick 1", done: "spawn 2, spawn 3",
            shown: "starting"),
    ]

    @Test(arguments: outside) func `deaths from outside`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    static let budget: [Scenario] = [
        Scenario(
            "an exit of a permanent device waits by the backoff",
            "\(up), die 0, ready, die 0, wait 1, ready, clear, die 0, wait 1", done: "",
            shown: "waiting: exit 0"),
        Scenario(
            "five deaths in a minute end in failed",
            "\(up), die 1, ready, die 1, wait 1, ready, die 1, wait 2, ready, die 1, "
                + "wait 4, ready, "
                + "clear, die SEGV, wait 60",
            done: "refuse failed", shown: "failed: signal SEGV"),
        Scenario(
            "five starts in a row that fail end in failed however slowly",
            "boot, wait 9, die 1, wait 9, die 1, wait 9, die 1, wait 9, die 1, wait 9, "
                + "clear, die 1",
            done: "refuse failed", shown: "failed: exit 1"),
        Scenario(
            "twelve deaths in ten minutes end in failed",
            "\(up)\(slowly), page, wait 20, clear, die 1",
            done: "refuse failed", shown: "failed: exit 1"),
        Scenario(
            "a minute of health takes back a step",
            "\(up), die 1, ready, page, wait 61, clear, die 1", done: "spawn 3",
            shown: "starting: exit 1"
        ),
        Scenario(
            "a missing file waits a second at least",
            "boot, clear, unspawned ENOENT, tick 0.9, tick 0.1",
            done: "spawn 1", shown: "starting"),
        Scenario(
            "a start without a process takes no number",
            "\(up), clear, die KILL, unspawned EMFILE, wait 1, unspawned EMFILE, wait 1, ready",
            done: "spawn 2, spawn 2, spawn 2", shown: "ready"),
        Scenario(
            "a missing file is given up",
            "boot, unspawned ENOENT, wait 1, unspawned ENOENT, wait 1, unspawned ENOENT, wait 2, "
                + "unspawned ENOENT, wait 4, clear, unspawned ENOENT",
            done: "refuse failed", shown: "failed: ENOENT"),
        Scenario(
            "want of means is never given up",
            "boot\(String(repeating: ", unspawned EMFILE, wait 1", count: 30)), clear, "
                + "unspawned EAGAIN",
            done: "", shown: "waiting: EAGAIN"),
        Scenario(
            "the start deadline kills", "boot, clear, wait 9, wait 1, die KILL",
            done: "kill 1, spawn 2",
            shown: "starting: start (signal KILL)"),
        Scenario(
            "a transient device that exits with 0 is done", "\(up), die 0", done: "refuse done",
            shown: "done: exit 0", transient: true),
        Scenario(
            "a transient device that exits with 0 and a visit begun is not done",
            "\(up), visit A#1, die 0", done: "apart 1, spawn 2", shown: "starting: exit 0",
            transient: true),
        Scenario(
            "a transient device that fails starts again", "\(up), die 1", done: "spawn 2",
            shown: "starting: exit 1", transient: true),
        Scenario(
            "an exit with 0 before ready is not done", "boot, clear, die 0", done: "spawn 2",
            shown: "starting: exit 0", transient: true),
        Scenario(
            "an own death with nothing begun replays what waits",
            "\(up), page begun=0, visit A#1, die SEGV", done: "replay 1, spawn 2",
            shown: "starting: signal SEGV"),
        Scenario(
            "a closed cable gives a second, then kills", "\(up), eof, tick 0.9, tick 0.1, die KILL",
            done: "kill 1, spawn 2", shown: "starting: cable (signal KILL)"),
        Scenario(
            "a process that dies of its closed cable is not killed",
            "\(up), eof, die KILL", done: "spawn 2", shown: "starting: signal KILL"),
    ]

    @Test(arguments: budget) func `deaths on the budget`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    static let visits: [Scenario] = [
        Scenario(
            "the visit that ran is charged, others are replayed",
            "\(up), page begun=2 running=2, visit A#1, visit B#2, visit C#3, die SEGV",
            done: "replay 1, apart 2, replay 3, spawn 2", shown: "starting: signal SEGV"),
        Scenario(
            "if none ran, all begun are suspects",
            "\(up), page begun=2, visit A#1, visit B#2, visit C#3, die SEGV",
            done: "apart 1, apart 2, replay 3, spawn 2", shown: "starting: signal SEGV"),
        Scenario(
            "suspects are never poisoned",
            "\(up)\(String(repeating: ", visit A#1, visit B#2, die 1, ready", count: 5)), clear, "
                + "visit A#1, visit B#2, die 1",
            done: "apart 1, apart 2, spawn 7", shown: "starting: exit 1"),
        Scenario(
            "the third death of a visit poisons it",
            "\(up), visit A#1, die ILL, ready, visit A#1, die ILL, ready, clear, visit A#1, "
                + "die ILL",
            done: "poisoned 1, spawn 4", shown: "starting: signal ILL"),
        Scenario(
            "a visit that returns is forgiven",
            "\(up), visit A#1, die 1, ready, visit A#1, die 1, ready, visit A#1, return 1, "
                + "visit A#1, "
                + "clear, die 1",
            done: "apart 2, spawn 4", shown: "starting: exit 1"),
        Scenario(
            "another payload has a count of its own",
            "\(up), visit A#1, die 1, ready, visit A#1, die 1, ready, clear, visit A#2, die 1",
            done: "apart 1, spawn 4", shown: "starting: exit 1"),
        Scenario(
            "a begun visit that may not be sent again is lost",
            "\(up), visit A#1 once, die 1", done: "lost 1, spawn 2", shown: "starting: exit 1"),
        Scenario(
            "two hangs poison",
            "\(up), page asleep=0 begun=1 running=1 turning=0, visit A#1, wait 4, die KILL, ready, "
                + "page asleep=0 begun=1 running=1 turning=0, visit A#1, wait 4, clear, die KILL",
            done: "poisoned 1, spawn 3", shown: "starting: hang (signal KILL)"),
        Scenario(
            "a charge is forgotten after ten minutes",
            "\(up), visit A#1, die 1, ready, visit A#1, die 1, ready, page, wait 601, clear, "
                + "visit A#1, page begun=1, die 1",
            done: "apart 1, spawn 4", shown: "starting: exit 1"),
        Scenario(
            "restart forgives",
            "\(up), visit A#1, die 1, ready, visit A#1, die 1, ready, restart, die 0, "
                + "ready, clear, "
                + "visit A#1, die 1",
            done: "apart 1, spawn 5", shown: "starting: exit 1"),
        Scenario(
            "the fifth distinct visit is on the device's budget too",
            "\(up), visit A#1, die 1, ready, visit A#2, die 1, ready, visit A#3, die 1, ready, "
                + "visit A#4, die 1, ready, visit A#5, die 1, ready, clear, visit A#6, die 1",
            done: "apart 1", shown: "waiting: exit 1"),
        Scenario(
            "more than twenty deaths in visits in a minute pause",
            "\(up)\(String(repeating: ", visit A#1, visit B#2, die 1, ready", count: 20)), clear, "
                + "visit A#1, visit B#2, die 1, tick 1",
            done: "apart 1, apart 2, spawn 22", shown: "starting"),
        Scenario(
            "a page that contradicts the table counts as none",
            "\(up), page begun=9 running=9, visit A#1 once, die KILL", done: "lost 1, spawn 2",
            shown: "starting: signal KILL"),
        Scenario(
            "memory in a visit is charged to it",
            "\(up), visit A#1, die KILL memory", done: "apart 1, spawn 2",
            shown: "starting: memory (signal KILL)"),
    ]

    @Test(arguments: visits) func `deaths in visits`(_ scenario: Scenario) throws {
        try scenario.check()
    }
}
