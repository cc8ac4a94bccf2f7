import Glibc
import Supervisor
import Testing
import UnixSocket

@Suite struct DeathTests {
    init() { EventLoop.startOnThread() }

    @Test @LoopActor func `a kill from outside is answered by a new incarnation at once`()
        async throws
    {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        let first = world.pid
        #expect(first > 0)
        #expect(world.supervisor.statuses[0].lastExit.isEmpty)
        Glibc.kill(first, SIGKILL)
        try await world.until("the second start") { world.launches.count == 2 }
        let status = world.supervisor.statuses[0]
        #expect(status.incarnation == 2)
        #expect(status.restarts == 1)
        #expect(status.lastExit == "signal KILL")
        #expect(status.pid != first)
        #expect(status.state == .ready)
        #expect(world.burials.map(\.incarnation) == [1])
        #expect(world.readsDry == 1)
        #expect(!isRunning(first))
        try await world.close()
    }

    @Test @LoopActor func `helpers die with their device`() async throws {
        let world = ProcessWorld("sleep 1000 & echo $!; exec sleep 1000")
        world.supervisor.boot()
        try await world.until("the helper's number") { !world.lines.isEmpty }
        let helper = try #require(Int32(world.lines[0].line))
        #expect(isRunning(helper))
        Glibc.kill(world.pid, SIGKILL)
        try await world.until("the second start") { world.launches.count == 2 }
        try await world.until("the helper's end") { !isRunning(helper) }
        try await world.close()
    }

    @Test @LoopActor func `a device that ignores SIGTERM is killed after its grace`() async throws {
        let world = ProcessWorld("trap '' TERM; echo set; while :; do sleep 1000; done")
        world.supervisor.boot()
        try await world.until("the trap") { !world.lines.isEmpty }
        let pid = world.pid
        world.supervisor.stop("device")
        #expect(world.supervisor.statuses[0].state == .draining)
        try await world.until("the stop") { world.supervisor.statuses[0].state == .stopped }
        #expect(world.drains == [1])
        #expect(world.burials.map(\.exit.signal) == ["KILL"])
        #expect(world.supervisor.statuses[0].lastExit == "stop (signal KILL)")
        #expect(world.refused == ["device": .stopped])
        #expect(!isRunning(pid))
        try await world.close()
    }

    @Test @LoopActor func `a stopped device starts again when told, with a fresh incarnation`()
        async throws
    {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        world.supervisor.stop("device")
        world.supervisor.stop("device")
        try await world.until("the stop") { world.supervisor.statuses[0].state == .stopped }
        world.supervisor.start("device")
        #expect(world.supervisor.statuses[0].incarnation == 2)
        #expect(world.supervisor.statuses[0].state == .ready)
        try await world.close()
    }

    static let kills = ["KILL", "TERM", "INT", "HUP", "QUIT"]

    @Test(arguments: kills) @LoopActor
    func `every signal of an operator restarts without a charge`(_ name: String) async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        // Before its exec the shell is another program, and on some systems it ignores some of
        // these.
        let pid = world.pid
        try await world.until("sleep runs") {
            contents("/proc/\(pid)/cmdline")?.hasPrefix("sleep") == true
        }
        let signal = try #require(SignalName.number(name))
        #expect(world.supervisor.kill("device", signal: signal))
        try await world.until("the second start") { world.launches.count == 2 }
        #expect(world.burials[0].exit.signal == name)
        #expect(world.supervisor.statuses[0].state == .ready)
        try await world.close()
    }

    @Test @LoopActor func `a crash loop is slowed down and given up`() async throws {
        let world = ProcessWorld("echo broken >&2; exit 3")
        world.mute = ["device"]
        world.supervisor.boot()
        try await world.until("the third start") { world.launches.count == 3 }
        let status = world.supervisor.statuses[0]
        #expect(status.lastExit == "exit 3")
        #expect(status.errorLines == ["broken"])
        let waited = world.changes.contains { $0.state == .waiting && $0.reason == "exit 3" }
        #expect(waited)
        try await world.close()
    }

    @Test @LoopActor func `a hundred kills leave no zombie and no descriptor`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        for round in 1...100 {
            if round == 20 {
                world.supervisor.restart("device")
                try await world.until("the restart") { world.launches.count == round + 1 }
                continue
            }
            Glibc.kill(world.pid, SIGKILL)
            try await world.until("start \(round)") {
                world.launches.count == round + 1
            }
            world.cutCables()
        }
        #expect(world.burials.count == 100)
        let zombies = world.launches.dropLast().filter {
            contents("/proc/\($0.pid)/status") != nil
        }
        #expect(zombies.isEmpty)
        try await world.close()
    }

    @Test @LoopActor func `what a dead process held is judged once`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        let now = ProcessSupervisor.now
        world.load["device"] = ProcessLoad(
            open: [
                OpenVisit(id: 7, symbol: "A", digest: 1, deliveredAt: now),
                OpenVisit(id: 8, symbol: "B", digest: 2, replayable: false, deliveredAt: now),
            ], lastHeard: now, lastReply: now, highest: 8)
        Glibc.kill(world.pid, SIGKILL)
        try await world.until("the second start") { world.launches.count == 2 }
        #expect(world.burials[0].verdicts == [7: .replay, 8: .lost])
        #expect(world.burials[0].begun == .max)
        #expect(!world.supervisor.hasCharges("device"))
        try await world.close()
    }

    @Test @LoopActor func `shutdown ends devices in reverse order`() async throws {
        let world = ProcessWorld([
            ProcessWorld.shell("exec sleep 1000", name: "first"),
            ProcessWorld.shell("exec sleep 1000", name: "second"),
            ProcessWorld.shell("exec sleep 1000", name: "third"),
        ])
        world.supervisor.boot()
        world.supervisor.shutdown()
        try await world.until("everything is down") { world.hasExited }
        #expect(world.burials.map(\.device) == ["third", "second", "first"])
        #expect(world.supervisor.statuses.map(\.state) == [.stopped, .stopped, .stopped])
    }

    @Test @LoopActor func `a closed cable gives a second to die`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        world.supervisor.cableClosed("device", incarnation: 1)
        try await world.until("the second start") { world.launches.count == 2 }
        #expect(world.changes.contains { $0.lastExit == "cable (signal KILL)" })
        try await world.close()
    }
}
