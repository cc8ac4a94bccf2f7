import CLinux
import Glibc
import Testing
import UnixSocket

@testable import Supervisor

/// The launch function itself, and what passes between the kernel and a process without a word.
@Suite struct InheritanceTests {
    init() { EventLoop.startOnThread() }

    /// Starts a shell that lives as long as the calling thread, which is the loop's.
    @LoopActor
    private func launch(_ script: String, _ change: (inout clx_launch) -> Void) -> pid_t {
        let arguments = ["/bin/sh", "-c", script].map { (text: String) in strdup(text) }
        defer { for argument in arguments { free(argument) } }
        let vector: [UnsafeMutablePointer<CChar>?] = arguments + [nil]
        let none: [UnsafeMutablePointer<CChar>?] = [nil]
        return vector.withUnsafeBufferPointer { vector in
            none.withUnsafeBufferPointer { none in
                var launch = clx_launch()
                launch.path = UnsafePointer(arguments[0])
                launch.argv = vector.baseAddress
                launch.envp = none.baseAddress
                (launch.out, launch.err) = (1, 2)
                (launch.cable, launch.lifeline, launch.page) = (-1, -1, -1)
                change(&launch)
                return clx_launch(&launch)
            }
        }
    }

    /// Whether a process is dead, by its handle.
    private static func hasEnded(_ handle: Int32) -> Bool {
        var end = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        return poll(&end, 1, 0) == 1
    }

    @LoopActor
    private func reap(_ pid: pid_t) async throws -> clx_exit {
        let handle = OwnedDescriptor(owning: clx_pidfd_open(pid))
        try await eventually("the end of \(pid)") { Self.hasEnded(handle.number) }
        var result = clx_exit()
        #expect(clx_reap(handle.number, &result) == 1)
        // The second one finds nobody.
        var nothing = clx_exit()
        #expect(clx_reap(handle.number, &nothing) == -ECHILD)
        return result
    }

    private func inode(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    @Test @LoopActor func `descriptors that overlap their targets arrive at the right number`()
        async throws
    {
        // Each source is the target of another.
        let script = "for n in 1 2 3 4 5; do stat -Lc %i /proc/self/fd/$n; done > result; true"
        let folder = try makeFolder()
        let path = strdup(folder)
        defer { free(path) }
        let sources: [Int32] = [2, 1, 0, 2, 1]
        let expected = sources.map { inode("/proc/self/fd/\($0)") }
        let pid = launch(script) { launch in
            launch.directory = UnsafePointer(path)
            (launch.out, launch.err, launch.cable) = (sources[0], sources[1], sources[2])
            (launch.lifeline, launch.page) = (-1, sources[4])
        }
        try #require(pid > 0)
        #expect(try await reap(pid).code == 0)
        let lines = try #require(contents("\(folder)/result")).split(separator: "\n").map {
            UInt64($0)
        }
        // Number 1 is the result file while `stat` runs; 4 is closed, so that `stat` says nothing
        // about it.
        #expect(Array(lines.dropFirst()) == [expected[1], expected[2], expected[4]])
    }

    @Test @LoopActor func `the end of the life line ends a busy group`() async throws {
        var life = try pipePair()
        let folder = try makeFolder()
        let path = strdup(folder)
        defer { free(path) }
        let reader = life.takeFirst()
        let pid = launch("sleep 1000 & echo $! > helper; while :; do :; done") {
            $0.directory = UnsafePointer(path)
            $0.lifeline = reader.number
        }
        try #require(pid > 0)
        var helper: Int32?
        try await eventually("the helper's number") {
            helper = contents("\(folder)/helper").flatMap {
                Int32($0.split(separator: "\n").first ?? "")
            }
            return helper != nil
        }
        let handle = OwnedDescriptor(owning: clx_pidfd_open(try #require(helper)))
        #expect(!Self.hasEnded(handle.number))
        life.second = nil
        let end = try await reap(pid)
        #expect(end.signal == SIGIO, "\(end)")
        try await eventually("the helper's end") { Self.hasEnded(handle.number) }
    }

    @Test @LoopActor func `a life line that is cut already starts nobody`() async throws {
        var life = try pipePair()
        life.second = nil
        let reader = life.takeFirst()
        #expect(launch("exit 0") { $0.lifeline = reader.number } == -ESRCH)
    }

    @Test @LoopActor func `the kernel reads what the device writes on its page`() async throws {
        let file = try StatusPage.makeFile()
        let page = try StatusPage(file)
        #expect(page.read() == nil)
        let size = Int(clx_page_size)
        let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        let theirs = try #require(address).assumingMemoryBound(to: clx_page.self)
        defer { munmap(address, size) }
        clx_page_turn(theirs, 1)
        #expect(page.read() == PageReading(turns: 1, asleep: false))
        clx_page_begin(theirs, 7)
        clx_page_run(theirs, 5)
        #expect(page.read() == PageReading(turns: 1, asleep: false, begun: 7, running: 5))
        clx_page_run(theirs, 0)
        clx_page_sleep(theirs)
        #expect(page.read() == PageReading(turns: 1, asleep: true, begun: 7, running: 0))
        // A device can neither cut the page short nor fill the machine's memory with it.
        #expect(ftruncate(file.number, 0) == -1)
        #expect(ftruncate(file.number, 1 << 30) == -1)
    }

    static let statuses: [(String, Bool, Bool)] = [
        ("State:\tS (sleeping)\nTracerPid:\t0\n", false, false),
        ("State:\tT (stopped)\nTracerPid:\t0\n", true, false),
        ("State:\tt (tracing stop)\nTracerPid:\t12\n", false, true),
        ("State:\tR (running)\nTracerPid:\t12\n", false, true),
        ("Name:\tState:\tT\nState:\tS (sleeping)\nTracerPid:\t0\n", false, false),
        ("", false, false),
    ]

    @Test(arguments: statuses)
    func `stopped and traced are read from the status`(
        _ text: String, _ stopped: Bool, _ traced: Bool
    ) {
        let held = ChildProcess.held(text)
        #expect(held.stopped == stopped)
        #expect(held.traced == traced)
    }

    static let usages: [(Double, UInt64, Bool)] = [
        (0.1, 1, false), (0.9, 1, true), (1, 1, true), (50, 100, false), (99, 100, true),
        (0, 60, false),
    ]

    @Test(arguments: usages) @LoopActor
    func `the time used tells a limit from a kill`(
        _ seconds: Double, _ limit: UInt64, _ isUsedUp: Bool
    ) {
        #expect(ProcessSupervisor.isUsedUp(seconds, of: limit) == isUsedUp)
    }

    static let signals: [(String, Int32?)] = [
        ("KILL", 9), ("SIGKILL", 9), ("kill", 9), ("9", 9), ("TERM", 15), ("NOPE", nil), ("0", nil),
        ("65", nil), ("-9", nil), ("", nil),
    ]

    @Test(arguments: signals) func `signals have names`(_ text: String, _ number: Int32?) {
        #expect(SignalName.number(text) == number)
        if let number { #expect(SignalName.number(SignalName.of(number)) == number) }
    }
}
