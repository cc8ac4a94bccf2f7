import Glibc
import Supervisor
import Testing
import UnixSocket

@Suite struct LogTests {
    init() { EventLoop.startOnThread() }

    @Test @LoopActor func `lines are tagged with their stream`() async throws {
        let world = ProcessWorld("echo to out; echo to err >&2; exec sleep 1000")
        world.supervisor.boot()
        try await world.until("both lines") { world.lines.count == 2 }
        #expect(world.lines.contains { $0.stream == .out && $0.line == "to out" })
        #expect(world.lines.contains { $0.stream == .err && $0.line == "to err" })
        try await world.close()
    }

    @Test @LoopActor func `a line of three megabytes is split and nothing stops`() async throws {
        let world = ProcessWorld(
            "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after >&2; exec sleep 1000")
        world.supervisor.boot()
        try await world.until("the line after") { world.lines.contains { $0.line == "after" } }
        let longest = world.lines.map(\.line.utf8.count).max() ?? 0
        #expect(longest <= LogLimits.lineBytes + LogLimits.splitMark.utf8.count)
        #expect(world.lines.contains { $0.line.hasSuffix(LogLimits.splitMark) })
        try await world.close()
    }

    @Test @LoopActor func `a flood is drained, bounded and reported`() async throws {
        let world = ProcessWorld("seq 1 300000; echo end >&2; exec sleep 1000")
        let start = Clock.monotonic
        world.supervisor.boot()
        try await world.until("the end of the flood") {
            world.lines.contains { $0.line == "end" }
        }
        try await world.until("the report") {
            world.lines.contains { $0.line.hasPrefix("[suppressed ") }
        }
        let seconds = Int((Clock.monotonic - start) / 1_000_000_000) + 2
        #expect(world.lines.count <= seconds * (LogLimits.linesPerSecond + 40))
        try await world.close()
    }

    @Test @LoopActor func `the last words of a dying device are kept`() async throws {
        let world = ProcessWorld("seq 1 50 >&2; printf unfinished >&2; exit 127")
        world.mute = ["device"]
        world.supervisor.boot()
        try await world.until("its end") { world.burials.count == 1 }
        let kept = world.supervisor.statuses[0].errorLines
        #expect(kept.count == LogLimits.tailLines)
        #expect(kept.last == "unfinished")
        #expect(kept.first == "32")
        try await world.close()
    }

    @Test @LoopActor func `a helper that holds the pipes does not delay a death`() async throws {
        // The helper leaves the group, so the group's end spares it.
        let world = ProcessWorld("setsid sleep 1000 & echo $!; exec sleep 1000")
        world.supervisor.boot()
        try await world.until("the helper's number") { !world.lines.isEmpty }
        let helper = try #require(Int32(world.lines[0].line))
        try await world.until("it has left") { getsid(helper) == helper }
        let pid = world.pid
        try await world.until("sleep runs") {
            contents("/proc/\(pid)/cmdline")?.hasPrefix("sleep") == true
        }
        Glibc.kill(pid, SIGKILL)
        try await world.until("the second start") { world.launches.count == 2 }
        #expect(isRunning(helper), "who waits for the end of the pipes waits for it")
        func helpers() -> [Int32] {
            world.lines.filter { $0.stream == .out }.compactMap { Int32($0.line) }
        }
        try await world.until("the second helper's number") { helpers().count == 2 }
        for helper in helpers() { Glibc.kill(helper, SIGKILL) }
        try await world.close()
    }

    @Test @LoopActor func `the log file names time, incarnation and stream and is put aside`()
        async throws
    {
        let folder = try makeFolder() + "/logs"
        let world = ProcessWorld("echo hello; exec sleep 1000", name: "a", logs: folder)
        world.supervisor.boot()
        try await world.until("the line") { !world.lines.isEmpty }
        try await world.until("the file") { contents("\(folder)/a.log")?.contains("hello") == true }
        let line = try #require(contents("\(folder)/a.log")?.split(separator: "\n").first)
        #expect(line.hasSuffix("Z #1 out hello"))
        try await world.close()
    }
}
