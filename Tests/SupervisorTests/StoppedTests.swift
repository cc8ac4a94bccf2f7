import Glibc
import Supervisor
import Testing
import UnixSocket

@Suite struct StoppedTests {
    init() { EventLoop.startOnThread() }

    @Test @LoopActor func `a stopped device is shown, and continues`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        let pid = world.pid
        world.supervisor.kill("device", signal: SIGSTOP)
        try await world.until("it is shown") { world.supervisor.statuses[0].state == .late }
        #expect(world.supervisor.statuses[0].reason == "stopped")
        world.supervisor.kill("device", signal: SIGCONT)
        try await world.until("it is ready") { world.supervisor.statuses[0].state == .ready }
        #expect(world.pid == pid)
        try await world.close()
    }

    @Test @LoopActor func `a stopped device that holds a visit is replaced`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        let now = ProcessSupervisor.now
        world.load["device"] = ProcessLoad(
            open: [OpenVisit(id: 1, symbol: "A", digest: 1, deliveredAt: now)], lastHeard: now,
            lastReply: now, highest: 1)
        Glibc.kill(world.pid, SIGSTOP)
        try await world.until("the second start") { world.launches.count == 2 }
        #expect(world.burials[0].verdicts == [1: .replay])
        #expect(world.changes.contains { $0.lastExit == "stopped (signal KILL)" })
        try await world.close()
    }

    @Test @LoopActor func `a silent device with a visit is pinged, then killed`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.supervisor.boot()
        let now = ProcessSupervisor.now
        world.load["device"] = ProcessLoad(
            open: [OpenVisit(id: 1, symbol: "A", digest: 1, limit: 1, deliveredAt: now)],
            lastHeard: now, lastReply: now, highest: 1)
        try await world.until("the second start") { world.launches.count == 2 }
        #expect(world.pings == [1])
        #expect(world.burials[0].verdicts == [1: .cell])
        #expect(world.supervisor.hasCharges("device"))
        #expect(world.supervisor.watchesReturns("device"))
        #expect(world.supervisor.verdict("device", VisitKey(symbol: "A", digest: 1)) == .cell)
        world.supervisor.returned("device", incarnation: 2, VisitKey(symbol: "A", digest: 1))
        #expect(world.supervisor.verdict("device", VisitKey(symbol: "A", digest: 1)) == .free)
        try await world.close()
    }

    @Test @LoopActor func `a word that changes no state is shown all the same`() async throws {
        let world = ProcessWorld([ProcessWorld.shell("exec sleep 1000", drain: 1_000)])
        world.supervisor.boot()
        for (say, word) in [
            (world.supervisor.stop, AskedWord.stop), (world.supervisor.start, .start),
            (world.supervisor.restart, .restart), (world.supervisor.stop, .stop),
        ] {
            say("device")
            #expect(world.changes.last?.asked == word)
            #expect(world.changes.last?.state == .draining)
        }
        world.supervisor.shutdown()
        #expect(world.changes.last?.asked == .down)
        try await world.close()
    }

    @Test @LoopActor func `a swap replaces the process without a gap`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        world.mute = ["device"]
        world.supervisor.boot()
        world.supervisor.ready("device", incarnation: 1)
        let old = world.pid
        #expect(world.supervisor.swap("device") == nil)
        #expect(world.supervisor.swap("device") == "a swap is under way")
        #expect(world.pid == old)
        #expect(world.launches.count == 2)
        world.supervisor.ready("device", incarnation: 2)
        #expect(world.pid == world.launches[1].pid)
        world.supervisor.drained("device", incarnation: 1)
        #expect(world.drains == [1])
        try await world.until("the end of the old") { world.burials.count == 1 }
        #expect(world.burials[0].incarnation == 1)
        #expect(world.supervisor.statuses[0].state == .ready)
        try await world.close()
    }
}
