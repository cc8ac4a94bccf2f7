import Testing

/// Whether a process is judged alive.
@Suite struct LivenessTests {
    static let up: String = "boot, ready, clear"
    static let paged: String = "boot, ready, page, wait 1, clear"

    static let pages: [Scenario] = [
        Scenario(
            "asleep is healthy for ever", "\(paged), page turning=0, wait 600", done: "",
            shown: "ready"),
        Scenario(
            "a loop that does not turn is shown late", "\(paged), page asleep=0 turning=0, wait 4",
            done: "", shown: "late: it does not turn"),
        Scenario(
            "and is ready again when it turns",
            "\(paged), page asleep=0 turning=0, wait 4, page turning=1, wait 1", done: "",
            shown: "ready"),
        Scenario(
            "a loop that does not turn for ten seconds outside a visit is killed",
            "\(paged), page asleep=0 turning=0, wait 9, wait 1, wait 1, die KILL",
            done: "kill 1, spawn 2",
            shown: "starting: hang (signal KILL)"),
        Scenario(
            "frames are no turns",
            "\(paged), page asleep=0 turning=0"
                + "\(String(repeating: ", heard, wait 1", count: 11)), die KILL",
            done: "kill 1, spawn 2", shown: "starting: hang (signal KILL)"),
        Scenario(
            "a turn may run visits for longer",
            "\(paged), page asleep=0 turning=0, wait 8, visit A#1, page begun=1, return 1, wait 8",
            done: "", shown: "late: it does not turn"),
        Scenario(
            "a visit that runs without a turn is killed at its limit",
            "\(paged), page asleep=0 turning=0 begun=1 running=1, visit A#1 limit=3, "
                + "wait 3, wait 1",
            done: "kill 1", shown: "late: it does not turn"),
        Scenario(
            "a longer limit is respected",
            "\(paged), page asleep=0 turning=0 begun=1 running=1, visit A#1 limit=30, wait 29",
            done: "",
            shown: "late: it does not turn"),
        Scenario(
            "an async visit past its limit is only cancelled, and once",
            "\(paged), page begun=1, visit A#1 limit=3, wait 9", done: "cancel 1", shown: "ready"),
        Scenario(
            "a visit that has not begun has no limit yet",
            "\(paged), visit A#1 limit=3, wait 9", done: "", shown: "ready"),
        Scenario(
            "a delivered visit that stays unread for ten seconds kills",
            "\(paged), page turning=0, pass 0.5, visit A#1 limit=3, wait 9, tick 1.5",
            done: "kill 1",
            shown: "ready"),
        Scenario(
            "a gap in which the kernel did not run judges nobody",
            "\(paged), page asleep=0 turning=0, wait 2, gap 500, wait 5", done: "",
            shown: "late: it does not turn"),
        Scenario(
            "of late ticks in a row the second counts a second",
            "\(paged), page asleep=0 turning=0, wait 4"
                + "\(String(repeating: ", gap 5", count: 7))", done: "kill 1",
            shown: "late: it does not turn"),
        Scenario(
            "a page that breaks is told and replaced by pings",
            "\(paged), page begun=9, wait 5, wait 1", done: "ping 1",
            shown: "ready: its status page is not usable"),
    ]

    @Test(arguments: pages) func `devices with a page`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    static let pings: [Scenario] = [
        Scenario(
            "a silent device is asked", "\(up), wait 4, wait 1", done: "ping 1", shown: "ready"),
        Scenario(
            "an answer is enough, and it is asked again later",
            "\(up), wait 5, heard, wait 5, wait 1", done: "ping 1, ping 1", shown: "ready"),
        Scenario(
            "no answer for ten seconds kills", "\(up), wait 5, wait 9, wait 1",
            done: "ping 1, kill 1",
            shown: "ready"),
        Scenario(
            "with a visit it is asked sooner, and held to the largest limit",
            "\(up), visit A#1 limit=3, visit B#2 limit=5, wait 1, wait 5",
            done: "ping 1, cancel 1, cancel 2, kill 1",
            shown: "ready"),
        Scenario(
            "a reply restarts the clock of the others",
            "\(up), visit A#1 limit=3, visit B#2 limit=3, wait 2, return 1, wait 2",
            done: "ping 1, ping 1",
            shown: "ready"),
    ]

    @Test(arguments: pings) func `devices without a page`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    static let held: [Scenario] = [
        Scenario(
            "a stopped device is only shown", "\(up), held stopped, wait 600", done: "",
            shown: "late: stopped"),
        Scenario(
            "a stopped device with a visit is killed after a second",
            "\(up), held stopped, visit A#1, wait 1, wait 1, die KILL",
            done: "kill 1, replay 1, spawn 2", shown: "starting: stopped (signal KILL)"),
        Scenario(
            "a visit that comes to a stopped device has its second",
            "\(up), held stopped, wait 5, visit A#1, tick 0.9", done: "", shown: "late: stopped"),
        Scenario(
            "after a continue every clock starts afresh",
            "\(paged), page asleep=0 turning=0, wait 4, held stopped, wait 5, held no, wait 9",
            done: "",
            shown: "late: it does not turn"),
        Scenario(
            "a traced device is never judged",
            "\(up), held traced, visit A#1 limit=3, wait 600", done: "", shown: "late: traced"),
        Scenario(
            "after a detach every clock starts afresh",
            "\(paged), held traced, page asleep=0 turning=0 begun=1 running=1, visit A#1, "
                + "wait 50, held no, "
                + "wait 3",
            done: "", shown: "ready"),
        Scenario(
            "a traced start has no deadline", "boot, clear, held traced, wait 600", done: "",
            shown: "starting"),
        Scenario(
            "a stopped start is nobody's fault",
            "boot, clear, held stopped, wait 10, die KILL", done: "kill 1, spawn 2",
            shown: "starting: stopped (signal KILL)"),
    ]

    @Test(arguments: held) func `stopped and traced devices`(_ scenario: Scenario) throws {
        try scenario.check()
    }
}
