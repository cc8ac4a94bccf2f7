import Glibc
import Supervisor
import Testing
import UnixSocket

/// What may befall the file of a log.
@Suite struct LogFileTests {
    init() { EventLoop.startOnThread() }

    private func lines(_ path: String) -> [String] {
        (contents(path) ?? "").split(separator: "\n").map { line in
            line.split(separator: " ", maxSplits: 3).dropFirst().joined(separator: " ")
        }
    }

    @LoopActor private func say(_ line: String, in log: LogFile) {
        log.add(1, .out, line)
        log.flush()
    }

    @Test @LoopActor func `a file that is removed is made again`() async throws {
        let folder = try makeFolder()
        let log = LogFile(folder: folder, name: "a", tell: { _ in })
        say("one", in: log)
        unlink(log.path)
        say("two", in: log)
        #expect(lines(log.path) == ["#1 out two"])
        // One that was moved away is not written any more.
        rename(log.path, log.path + ".old")
        say("three", in: log)
        #expect(lines(log.path) == ["#1 out three"])
        #expect(lines(log.path + ".old") == ["#1 out two"])
    }

    @Test @LoopActor func `a folder that is removed is made again`() async throws {
        let folder = try makeFolder() + "/logs"
        let log = LogFile(folder: folder, name: "a", tell: { _ in })
        unlink(log.path)
        #expect(rmdir(folder) == 0)
        say("again", in: log)
        #expect(lines(log.path) == ["#1 out again"])
    }

    @Test @LoopActor func `while nothing can be written lines are counted, and told later`()
        async throws
    {
        let parent = try makeFolder() + "/gone"
        var told: [String] = []
        let log = LogFile(folder: "\(parent)/logs", name: "a", tell: { told.append($0) })
        for index in 0..<5 { say("\(index)", in: log) }
        #expect(told.count == 1)
        #expect(told.first?.contains("no log file \(log.path): No such file") == true)
        mkdir(parent, 0o700)
        say("back", in: log)
        #expect(
            lines(log.path) == [
                "#0 kernel [5 lines are missing: the log could not be written]", "#1 out back",
            ])
        #expect(told.count == 1)
    }

    @Test @LoopActor func `what is no plain file is not written and does not block`() async throws {
        let folder = try makeFolder()
        for (name, make) in [
            ("pipe", { (path: String) in _ = mkfifo(path, 0o600) }),
            ("link", { (path: String) in _ = symlink("/dev/null", path) }),
            ("folder", { (path: String) in _ = mkdir(path, 0o700) }),
        ] {
            make("\(folder)/\(name).log")
            var told: [String] = []
            let log = LogFile(folder: folder, name: name, tell: { told.append($0) })
            say("x", in: log)
            #expect(told.count == 1, "\(name): \(told)")
        }
    }

    @Test @LoopActor func `a full file that cannot be put aside is emptied, and that is told`()
        async throws
    {
        let folder = try makeFolder()
        mkdir("\(folder)/a.log.1", 0o700)
        var told: [String] = []
        let log = LogFile(folder: folder, name: "a", tell: { told.append($0) })
        let line = String(repeating: "z", count: 8_000)
        func fill() {
            for _ in 0..<600 { say(line, in: log) }
            var status = stat()
            #expect(stat(log.path, &status) == 0)
            #expect(status.st_size <= LogLimits.fileBytes)
        }
        fill()
        let why = "\(log.path).1 cannot be made: Is a directory"
        #expect(told == ["a full log file is emptied: \(why)"])
        #expect(lines(log.path).first == "#0 kernel [the lines before are gone: \(why)]")
        #expect(lines(log.path).last == "#1 out \(line)")
        // The second time is told in the file alone.
        fill()
        #expect(told.count == 1)
        // Nothing stands in the way any more.
        rmdir("\(folder)/a.log.1")
        fill()
        #expect(names(in: folder) == ["a.log", "a.log.1"])
        #expect(lines(log.path).first == "#1 out \(line)")
    }

    @Test @LoopActor func `each opening of the file is told`() async throws {
        let folder = try makeFolder()
        var opened = 0
        let log = LogFile(folder: folder, name: "a", tell: { _ in }, opened: { _ in opened += 1 })
        say("one", in: log)
        #expect(opened == 1)
        unlink(log.path)
        say("two", in: log)
        #expect(opened == 2)
        log.reopen()
        #expect(opened == 3)
    }

    @Test @LoopActor func `a device that crashes again and again logs no more than its rate`()
        async throws
    {
        // Each process ends by a signal from outside, so the next one starts at once.
        let world = ProcessWorld("seq 1 2000; kill -KILL $$")
        world.supervisor.boot()
        let start = Clock.monotonic
        try await world.until("twelve ends") { world.burials.count >= 12 }
        let seconds = Int((Clock.monotonic - start) / 1_000_000_000) + 2
        let logged = world.lines.count { $0.stream == .out }
        #expect(logged <= seconds * (LogLimits.linesPerSecond + 40), "\(logged) in \(seconds) s")
        #expect(world.lines.contains { $0.line.hasPrefix("[suppressed ") })
        try await world.close()
    }
}
