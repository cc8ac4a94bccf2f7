import DeviceKit
import Glibc

extension EndToEnd.ZooTests {
    private static func act(
        _ name: String, _ text: String, _ exits: [String] = [""], log: [String] = [],
        errors: [String] = []
    ) -> Exhibit {
        Exhibit(
            name: name, steps: [.act(text)], exits: exits,
            restarts: exits == [""] ? 0...0 : 1...1, log: log, errors: errors)
    }

    /// Outside of any visit.
    static let misdeeds = [
        act("cutter", "close 3", ["cable (signal KILL)"]),
        act("lifeless", "close 4"),
        act("pageless", "close 5"),
        act("scribbler", "scribble"),
        act("babbler", "garbage", ["exit 0", "exit 78"], errors: ["1195725856 bytes"]),
        act("giant", "huge", ["exit 0", "exit 78"], errors: ["4294967295 bytes"]),
        // Whichever comes first: too much that it has not read, or its time without a turn.
        act("flooder", "flood", ["exit 0", "cable (signal KILL)", "hang (signal KILL)"]),
        act("spinner", "spin", ["hang (signal KILL)"]),
        act("blocked", "block", ["hang (signal KILL)"]),
        act("trapper", "trap", ["signal ILL", "signal TRAP"]),
        act("shouter", "print 3000000", log: ["#1 out zzzz", "[continues]"]),
        act("spammer", "spam 100000", log: ["out line 0 of the spam", "[suppressed "]),
        Exhibit(name: "sleeper", steps: [.act("stop")], state: "late"),
        Exhibit(name: "waker", steps: [.act("stop"), .until("late"), .signal(SIGCONT)]),
    ]

    /// Each way to end.
    static let signals: [Exhibit] =
        [0, 1, 3, 64, 70, 78, 126, 127, 128, 137, 255].map {
            act("exit-\($0)", "exit \($0)", ["exit \($0)"], log: ["#1 kernel ended: exit \($0)"])
        }
        + [
            Exhibit(
                name: "done", more: ["restart": "transient"], steps: [.act("exit 0")],
                state: "done", exits: ["exit 0"]),
            Exhibit(
                name: "transient", more: ["restart": "transient"], steps: [.act("exit 3")],
                exits: ["exit 3"], restarts: 1...1),
        ]
        + [
            (SIGHUP, "HUP"), (SIGINT, "INT"), (SIGQUIT, "QUIT"), (SIGILL, "ILL"),
            (SIGTRAP, "TRAP"), (SIGABRT, "ABRT"), (SIGBUS, "BUS"), (SIGFPE, "FPE"),
            (SIGKILL, "KILL"), (SIGUSR1, "USR1"), (SIGSEGV, "SEGV"), (SIGUSR2, "USR2"),
            (SIGPIPE, "PIPE"), (SIGALRM, "ALRM"), (SIGTERM, "TERM"), (SIGXCPU, "XCPU"),
            (SIGXFSZ, "XFSZ"), (SIGVTALRM, "VTALRM"), (SIGPROF, "PROF"), (SIGIO, "IO"),
            (SIGSYS, "SYS"), (34, "34"),
        ].map { (number: Int32, signal: String) in
            Exhibit(
                name: "signal-\(signal)", more: ["limits": ["core": 0]],
                steps: [.act("raise \(number)")], exits: ["signal \(signal)"], restarts: 1...1,
                log: ["#1 kernel ended: signal \(signal)"])
        }

    private static func dare(_ name: String, _ text: String, _ exits: [String] = [""]) -> Exhibit {
        Exhibit(
            name: name, steps: [.dare(text)], exits: exits,
            restarts: exits == [""] ? 0...0 : 1...1)
    }

    /// While a visit runs.
    static let visits = [
        dare("quitter", "exit 3", ["exit 3"]),
        dare("leaver", "exit 0", ["exit 0"]),
        dare("trapper", "trap", ["signal ILL", "signal TRAP"]),
        dare("victim", "raise 9", ["signal KILL"]),
        dare("wild-pointer", "raise 11", ["signal SEGV"]),
        dare("spinner", "spin", ["hang (signal KILL)"]),
        dare("blocked", "block", ["hang (signal KILL)"]),
        dare("sleeper", "stop", ["stopped (signal KILL)"]),
        dare("cutter", "close 3", ["exit 0", "cable (signal KILL)"]),
        dare("babbler", "garbage", ["exit 0", "exit 78"]),
        dare("giant", "huge", ["exit 0", "exit 78"]),
        // Whichever comes first: too much that it has not read, or the end of its attempt.
        dare("flooder", "flood", ["exit 0", "cable (signal KILL)", "hang (signal KILL)"]),
        dare("lifeless", "close 4"),
        dare("pageless", "close 5"),
        dare("scribbler", "scribble"),
        dare("busy", "busy 700"),
        dare("patient", "linger 700"),
        dare("shouter", "print 3000000"),
        Exhibit(
            name: "poison", steps: [.obey("exit 7", fails: "poisoned")], exits: ["exit 7"],
            restarts: 1...3),
        Exhibit(
            name: "tar", steps: [.obey("spin", fails: "poisoned")],
            exits: ["hang (signal KILL)"], restarts: 1...2),
        // Its answer vanishes in the other half of the frame.
        Exhibit(
            name: "halfway", steps: [.obey("half", fails: "attempt")],
            exits: ["exit 78"], restarts: 1...1, log: ["a frame was not whole"]),
        Exhibit(
            name: "overdue", steps: [.obey("linger 600000", fails: "attempt")]),
        Exhibit(
            name: "stubborn", behaviour: ["stubborn"],
            more: ["drainSeconds": 0.2, "termSeconds": 0.2],
            steps: [.leave("block"), .operate("stop")], state: "stopped",
            exits: ["stop (signal KILL)"]),
    ]

    private static func family(_ name: String, _ text: String, _ count: Int) -> Exhibit {
        Exhibit(
            name: name, steps: [.act(text), .processes(count), .signal(SIGKILL)],
            exits: ["signal KILL"], restarts: 1...1)
    }

    /// With processes of their own.
    static let families = [
        family("parent", "helper", 2),
        family("escaper", "escape", 2),
        // The shell, its sleeper in the background and the one in front.
        family("ghost", "daemon", 4),
        family("holder", "hold", 2),
        // The job that sleeps stays as long as the device, and the other one leaves no zombie.
        family("employer", "jobs", 2),
        Exhibit(name: "boss", steps: [.act("jobs"), .processes(2)], company: 1),
        Exhibit(
            name: "stopped-parent", steps: [.act("escape"), .processes(2), .operate("stop")],
            state: "stopped", exits: ["stop (exit 0)"]),
        Exhibit(
            name: "deserter", steps: [.act("desert"), .deserted, .operate("kill")],
            exits: ["kill (signal KILL)"], restarts: 1...1),
        Exhibit(
            name: "loner", steps: [.act("session")], log: ["session: Operation not permitted"]),
        // These are there at the end of the house, and must end with it.
        Exhibit(name: "mother", steps: [.act("helper"), .processes(2)], company: 1),
        Exhibit(name: "far-mother", steps: [.act("escape"), .processes(2)], company: 1),
        // Nobody knows whose it is, so it lives as long as the kernel.
        Exhibit(name: "nobody", steps: [.act("bare")]),
        Exhibit(name: "witch", steps: [.act("daemon"), .processes(4)], company: 3),
    ]
}
