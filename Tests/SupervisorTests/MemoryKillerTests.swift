import Glibc
import Installation
import Testing
import UnixSocket

@testable import Supervisor

/// Whether a SIGKILL came from the system's memory killer, by a counter that is a plain file here.
@Suite struct MemoryKillerTests {
    init() { EventLoop.startOnThread() }

    private func put(_ count: Int, in path: String) {
        let text = "low 0\nhigh 3\nmax 9\noom 4\noom_kill \(count)\noom_group_kill 0\n"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = text.withCString { write(file, $0, strlen($0)) }
        close(file)
    }

    @Test func `a rise counts once, and an old one not at all`() throws {
        let path = try makeFolder() + "/memory.events"
        put(5, in: path)
        var killer = MemoryKiller(MemoryEvents(path: path))
        let answer1 = killer.takeStroke()
        #expect(!answer1)
        put(6, in: path)
        let answer2 = killer.takeStroke()
        #expect(answer2)
        let answer3 = killer.takeStroke()
        #expect(!answer3)
        // Two readings later nobody can say what it struck.
        put(7, in: path)
        killer.tick(at: 100)
        killer.tick(at: 200)
        let answer4 = killer.takeStroke()
        #expect(!answer4)
        // After one reading it may have been this one.
        put(8, in: path)
        killer.tick(at: 300)
        let answer5 = killer.takeStroke()
        #expect(answer5)
    }

    @Test func `each stroke explains one death`() throws {
        let path = try makeFolder() + "/memory.events"
        put(0, in: path)
        var killer = MemoryKiller(MemoryEvents(path: path))
        put(3, in: path)
        var answers: [Bool] = []
        for time in [0.0, 100, 100, 100] {
            // A reading between two deaths forgets nothing, and brings nothing back.
            killer.tick(at: time)
            answers.append(killer.takeStroke())
        }
        #expect(answers == [true, true, true, false])
        killer.tick(at: 200)
        answers = [killer.takeStroke()]
        #expect(answers == [false])
    }

    @Test @LoopActor func `a kill of the kernel's own uses up no stroke`() async throws {
        let path = try makeFolder() + "/memory.events"
        put(0, in: path)
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.memoryKiller = MemoryKiller(MemoryEvents(path: path))
        world.supervisor.boot()
        put(1, in: path)
        world.supervisor.kill("device")
        try await world.until("its end") { world.burials.count == 1 }
        #expect(world.burials[0].exit == ExitReason(signal: "KILL"))
        try await world.until("the next") { world.launches.count == 2 }
        Glibc.kill(world.pid, SIGKILL)
        try await world.until("its end") { world.burials.count == 2 }
        #expect(world.burials[1].exit == ExitReason(signal: "KILL", memory: true))
        try await world.close()
    }

    @Test func `a counter that cannot be read accuses nobody`() throws {
        let path = try makeFolder() + "/memory.events"
        var killer = MemoryKiller(MemoryEvents(path: path))
        put(5, in: path)
        let answer6 = killer.takeStroke()
        #expect(!answer6)
        unlink(path)
        let answer7 = killer.takeStroke()
        #expect(!answer7)
        #expect(MemoryEvents(path: path).count == nil)
    }

    @Test @LoopActor func `a process that is killed counts as memory only with a rise`()
        async throws
    {
        let path = try makeFolder() + "/memory.events"
        put(0, in: path)
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.memoryKiller = MemoryKiller(MemoryEvents(path: path))
        world.supervisor.boot()
        Glibc.kill(world.pid, SIGKILL)
        try await world.until("its end") { world.burials.count == 1 }
        #expect(world.burials[0].exit == ExitReason(signal: "KILL"))
        #expect(world.supervisor.statuses[0].lastExit == "signal KILL")
        try await world.until("the next") { world.launches.count == 2 }
        put(1, in: path)
        Glibc.kill(world.pid, SIGKILL)
        try await world.until("its end") { world.burials.count == 2 }
        #expect(world.burials[1].exit == ExitReason(signal: "KILL", memory: true))
        #expect(world.supervisor.statuses[0].lastExit == "memory (signal KILL)")
        try await world.until("the third") { world.launches.count == 3 }
        // The same rise does not accuse the next one.
        Glibc.kill(world.pid, SIGKILL)
        try await world.until("its end") { world.burials.count == 3 }
        #expect(world.burials[2].exit == ExitReason(signal: "KILL"))
        try await world.close()
    }

    @Test @LoopActor func `who ignores the warning is killed, and it is not from outside`()
        async throws
    {
        let limits = DeviceSpec.Limits(cpu: 1)
        let world = ProcessWorld([
            ProcessWorld.shell("trap '' XCPU; while :; do :; done", limits: limits)
        ])
        world.supervisor.boot()
        try await world.until("its end") { !world.burials.isEmpty }
        #expect(world.burials[0].exit == ExitReason(signal: "KILL", processorTime: true))
        try await world.close()
    }
}

/// Who pays for a SIGKILL.
@Suite struct EarnedKillTests {
    static let rows: [(exit: ExitReason, payer: Payer, withVisit: Payer)] = [
        (ExitReason(signal: "KILL"), .outside, .outside),
        (ExitReason(signal: "KILL", memory: true), .own, .visit),
        (ExitReason(signal: "KILL", processorTime: true), .own, .visit),
        (ExitReason(signal: "XCPU", processorTime: true), .own, .visit),
        (ExitReason(signal: "TRAP", memory: true), .own, .visit),
    ]

    @Test(arguments: 0..<rows.count)
    func `a kill that a limit made is the device's own doing`(_ index: Int) {
        let row = Self.rows[index]
        var process = PolicyProcess(incarnation: 1, moved: 0)
        process.wasReady = true
        #expect(Payer(process, row.exit, hasSuspects: false) == row.payer)
        #expect(Payer(process, row.exit, hasSuspects: true) == row.withVisit)
    }
}
