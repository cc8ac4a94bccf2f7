import Supervisor
import Testing

/// Cells: processes beside the one that serves, each for a visit that was in a death.
@Suite struct CellPolicyTests {
    /// Process 1 has died in visit A#1, and 2 serves.
    static let again = "boot, ready, visit A#1, die SEGV, clear"

    static let scenarios: [Scenario] = [
        Scenario(
            "a cell starts once the next process serves",
            "\(again), cell, wait 1, ready", done: "cell 3", shown: "ready"),
        Scenario(
            "beside one that serves it starts at once",
            "\(again), ready, clear, cell, cell", done: "cell 3, cell 4", shown: "ready"),
        Scenario(
            "it is ended once its visit has left it, by the steps of a stop",
            "\(again), ready, cell, ready, clear, emptied@3, wait 3",
            done: "drain 3, term 3, kill 3", shown: "ready"),
        Scenario(
            "one that is not needed any more is killed before it is ready",
            "\(again), ready, cell, clear, emptied@3", done: "kill 3", shown: "ready"),
        Scenario(
            "its end as asked is nobody's fault",
            "\(again), ready, cell, ready, emptied@3, clear, die@3 0, wait 2",
            done: "", shown: "ready"),
        Scenario(
            "what dies in cells again and again is poisoned, and the one that serves goes on",
            "\(again), ready, cell, ready, visit A#1, clear, die SEGV, cell, ready, visit A#1, "
                + "die SEGV", done: "apart 1, cell 4, poisoned 1", shown: "ready"),
        Scenario(
            "a hang in a cell weighs two",
            "\(again), ready, cell, ready, visit A#1 limit=3, "
                + "page begun=1 running=1 asleep=0 turning=0, wait 4, clear, die@3 KILL",
            done: "poisoned 1", shown: "ready"),
        Scenario(
            "a cell that is killed from outside is charged to nobody",
            "\(again), ready, cell, ready, visit A#1, clear, die@3 KILL, die@2 KILL",
            done: "replay 1, spawn 4", shown: "starting: signal KILL"),
        Scenario(
            "a device that cannot run twice has no cells",
            "\(again), ready, cell, clear, die@3 1, wait 2", done: "no cell", shown: "ready"),
        Scenario(
            "a cell that is killed from outside before it is ready may be asked for again",
            "\(again), ready, cell, clear, die@3 KILL", done: "cell lost", shown: "ready"),
        Scenario(
            "for want of means it is started later",
            "\(again), ready, cell, clear, unspawned@3 EMFILE, tick 0.5, tick 0.6",
            done: "cell 3", shown: "ready"),
        Scenario(
            "a missing file is no cell",
            "\(again), ready, cell, clear, unspawned@3 ENOENT, wait 3", done: "no cell",
            shown: "ready"),
        Scenario(
            "a stop ends cells, too, and starts none",
            "\(again), ready, cell, ready, cell, clear, stop, cell, die@4 KILL, wait 3",
            done: "drain 2, drain 3, kill 4, cell lost, term 2, term 3, kill 2, kill 3",
            shown: "draining: stop"),
        Scenario(
            "a shutdown ends cells, too",
            "\(again), ready, cell, ready, clear, shutdown, die@2 0, die@3 0",
            done: "drain 2, drain 3, refuse stopped, exit", shown: "stopped: stopped"),
        Scenario(
            "a kill by the operator leaves cells alone",
            "\(again), ready, cell, ready, clear, kill", done: "kill 2", shown: "ready"),
        Scenario(
            "a cell that is asked for while the device stops comes once it starts again",
            "\(again), ready, clear, stop, cell, start, die@2 0, ready",
            done: "drain 2, spawn 3, cell 4",
            shown: "ready"),
        Scenario(
            "a visit in three deaths from outside in a row is suspected, and charged nothing",
            "boot, ready, visit A#1, die KILL, ready, visit A#1, die KILL, ready, clear, "
                + "visit A#1, die KILL, ready, cell",
            done: "replay 1, spawn 4, cell 5", shown: "ready"),
        Scenario(
            "a visit whose process it stopped itself is suspected at once",
            "boot, page turning=0 asleep=0, ready, visit A#1, page begun=1 running=1, "
                + "held stopped, wait 2, clear, die KILL, ready, cell",
            done: "replay 1, spawn 2, cell 3", shown: "ready"),
        Scenario(
            "a restart of a device that was given up beside a cell works",
            "\(again), ready, cell, ready, visit A#1, clear, restart, die@2 0, die@3 0",
            done: "drain 2, drain 3, spawn 4, replay 1", shown: "starting: restart (exit 0)"),
    ]

    @Test(arguments: scenarios) func `cells of one device`(_ scenario: Scenario) throws {
        try scenario.check()
    }

    /// Whatever it is given ends it: after five different visits each death in a cell counts.
    @Test func `a device of which every visit ends its cell is given up`() throws {
        var script = "boot, ready"
        for visit in 1...5 { script += ", visit V#\(visit), die SEGV, ready" }
        script += ", clear"
        for visit in 1...8 { script += ", cell, wait 40, ready, visit W#\(visit), die SEGV" }
        let world = try PolicyWorld.run(script)
        #expect(world.done.contains("refuse failed"), "\(world.done)")
        #expect(world.shown.hasPrefix("failed"), "\(world.shown)")
    }

    /// A wish that cannot be met now must not keep the machine awake.
    @Test func `a due cell without a process that serves asks for no ticks`() throws {
        let script = "\(Self.again), ready, cell, unspawned@3 EMFILE, die@2 SEGV, wait 2"
        var world = try PolicyWorld.run(script)
        #expect(world.policy.dueIn ?? 1 > 0)
        try world.step(["shutdown"])
        #expect(world.policy.dueIn ?? 1 > 0)
    }

    /// How a visit would be delivered after deaths from outside in which it was begun.
    static let outside: [(script: String, verdict: DeliveryVerdict)] = [
        ("boot, ready, visit A#1, die KILL, ready, visit A#1, die KILL, ready", .free),
        (
            "boot, ready, visit A#1, die KILL, ready, visit A#1, die KILL, ready, visit A#1, "
                + "die TERM, ready", .cell
        ),
        (
            "boot, ready, visit A#1, die KILL, ready, visit A#1, die KILL, ready, visit A#1, "
                + "return 1, visit A#1, die KILL, ready", .free
        ),
        (
            "boot, ready, visit A#1, die KILL, ready, visit A#1, die KILL, ready, visit A#1, "
                + "die KILL, ready, visit A#1, return 1", .free
        ),
        (
            "boot, ready, visit A#1, die KILL, ready, visit A#1, die KILL, ready, visit A#1, "
                + "die KILL, restart, ready", .free
        ),
    ]

    @Test(arguments: 0..<outside.count)
    func `a visit that is always there when somebody kills is tried apart`(_ row: Int) throws {
        let (script, verdict) = Self.outside[row]
        let world = try PolicyWorld.run(script)
        #expect(world.policy.verdict("device", VisitKey(symbol: "A", digest: 1)) == verdict)
    }
}
