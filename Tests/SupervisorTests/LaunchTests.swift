import Glibc
import Supervisor
import Testing
import UnixSocket

@Suite struct LaunchTests {
    init() { EventLoop.startOnThread() }

    @Test @LoopActor func `a device inherits six descriptors and nothing else`() async throws {
        let world = ProcessWorld("exec sleep 1000")
        // A descriptor of the kernel that is not close-on-exec.
        let leak = dup(1)
        defer { close(leak) }
        world.supervisor.boot()
        let pid = world.pid
        try await world.until("sleep runs") {
            contents("/proc/\(pid)/cmdline")?.hasPrefix("sleep") == true
        }
        #expect(names(in: "/proc/\(pid)/fd") == ["0", "1", "2", "3", "4", "5"])
        try await world.close()
    }

    @Test @LoopActor func `a device leads a group of its own and has default signals`() async throws
    {
        signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, SIG_DFL) }
        let world = ProcessWorld("exec cat /proc/self/status")
        world.supervisor.boot()
        let pid = world.pid
        #expect(getpgid(pid) == pid)
        try await world.until("its own status") {
            world.lines.contains { $0.line.hasPrefix("SigCgt") }
        }
        let status = world.lines.map(\.line)
        #expect(status.contains("SigBlk:\t0000000000000000"))
        #expect(status.contains("SigIgn:\t0000000000000000"))
        #expect(status.contains("NoNewPrivs:\t1"))
        try await world.close()
    }

    @Test @LoopActor func `a device has its own environment, folder and limits`() async throws {
        let folder = try makeFolder()
        var spec = ProcessWorld.shell(
            "pwd; ulimit -n; ulimit -Hn; ulimit -t; ulimit -c; env; exec sleep 1000",
            limits: DeviceSpec.Limits(nofile: 77, cpu: 5, core: 0))
        spec.directory = folder
        spec.environment = ["ONLY=this", "PATH=/usr/bin:/bin"]
        let world = ProcessWorld([spec])
        setenv("CONCENTRIC_SECRET", "1", 1)
        world.supervisor.boot()
        try await world.until("what it prints") {
            world.lines.contains { $0.line == "ONLY=this" }
        }
        let lines = world.lines.map(\.line)
        #expect(Array(lines.prefix(5)) == [folder, "77", "77", "5", "0"])
        #expect(!lines.contains { $0.hasPrefix("CONCENTRIC_SECRET") })
        try await world.close()
    }

    struct Unstartable: Sendable, CustomTestStringConvertible {
        var what: String
        var file: String?
        var mode: mode_t
        var expected: String
        var testDescription: String { what }
    }

    static let unstartable = [
        Unstartable(what: "missing", file: nil, mode: 0, expected: "No such file"),
        Unstartable(
            what: "not executable", file: "#!/bin/sh\n", mode: 0o644, expected: "its mode is 0644"),
        Unstartable(
            what: "not a program", file: "\u{7f}ELF nonsense", mode: 0o755,
            expected: "no program of this machine"),
        Unstartable(
            what: "without its interpreter", file: "#!/nowhere/sh\n", mode: 0o755,
            expected: "its interpreter /nowhere/sh is missing"),
    ]

    @Test(arguments: unstartable) @LoopActor
    func `what cannot be executed is said at once`(_ row: Unstartable) async throws {
        let path = try makeFolder() + "/program"
        if let text = row.file {
            let file = try #require(fopen(path, "we"))
            fputs(text, file)
            fclose(file)
            chmod(path, row.mode)
        }
        let world = ProcessWorld([DeviceSpec(name: "device", executable: path)])
        world.supervisor.boot()
        let status = world.supervisor.statuses[0]
        #expect(status.state == .waiting)
        #expect(status.reason.contains(path))
        #expect(status.reason.contains(row.expected))
        #expect(status.pid == 0)
        #expect(world.launches.isEmpty)
        try await world.close()
    }

    @Test @LoopActor func `a folder that is not there is named`() async throws {
        var spec = ProcessWorld.shell("exec sleep 1000")
        spec.directory = "/nowhere/at/all"
        let world = ProcessWorld([spec])
        world.supervisor.boot()
        #expect(
            world.supervisor.statuses[0].reason
                == "cannot start in /nowhere/at/all: No such file or directory")
        try await world.close()
    }

    @Test @LoopActor func `a device that says nothing is killed at its start deadline`()
        async throws
    {
        let world = ProcessWorld([ProcessWorld.shell("exec sleep 1000", startLimit: 0.2)])
        world.mute = ["device"]
        world.supervisor.boot()
        try await world.until("its end") { world.burials.count == 1 }
        #expect(world.supervisor.statuses[0].lastExit == "start (signal KILL)")
        try await world.close()
    }

    @Test @LoopActor func `a cpu limit is not taken for a kill from outside`() async throws {
        let world = ProcessWorld([
            ProcessWorld.shell("while :; do :; done", limits: DeviceSpec.Limits(cpu: 1))
        ])
        world.supervisor.boot()
        try await world.until("its end") { world.burials.count == 1 }
        #expect(world.burials[0].exit == ExitReason(signal: "XCPU", processorTime: true))
        #expect(world.supervisor.statuses[0].lastExit == "processor time (signal XCPU)")
        try await world.close()
    }
}
