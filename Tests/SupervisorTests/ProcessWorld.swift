import Glibc
import Supervisor
import Testing
import UnixSocket

/// Seconds after which something that is waited for counts as hung. No test claims that anything is
/// fast: a machine that is busy with other tests is not.
let patience = 120.0

/// Waits for what nobody announces, and leaves the loop to others meanwhile.
@LoopActor
func eventually(_ what: String, _ condition: () -> Bool) async throws {
    let deadline = Clock.monotonic + UInt64(patience * 1e9)
    while !condition() {
        guard Clock.monotonic < deadline else {
            throw ProcessWorld.TimedOut(description: "\(what): not within \(patience) s")
        }
        try await EventLoop.shared.sleep(until: Clock.monotonic + 5_000_000)
    }
}

/// A delegate for devices that speak no protocol: it declares them ready as soon as they run, and
/// remembers.
@LoopActor
final class ProcessWorld: SupervisorDelegate {
    struct Launch {
        var device: String
        var incarnation: Int
        var pid: Int32
    }

    struct Burial {
        var device: String
        var incarnation: Int
        var exit: ExitReason
        var begun: UInt64
        var verdicts: [UInt64: VisitVerdict]
    }

    struct TimedOut: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var supervisor: ProcessSupervisor!
    /// Devices that never declare themselves ready.
    var mute: Set<String> = []
    var load: [String: ProcessLoad] = [:]
    var launches: [Launch] = []
    var burials: [Burial] = []
    var drains: [Int] = []
    var pings: [Int] = []
    var refused: [String: DeviceState] = [:]
    var changes: [DeviceStatus] = []
    var lines: [(stream: LogStream, line: String)] = []
    var hasExited = false
    var readsDry = 0
    private var cables: [Int32] = []
    private var waiters: [Int: @LoopActor (Bool) -> Bool] = [:]
    private var lastWaiter = 0

    init(_ specs: [DeviceSpec], logs: String? = nil) {
        supervisor = ProcessSupervisor(specs, delegate: self, logs: logs)
    }

    convenience init(_ script: String, name: String = "device", logs: String? = nil) {
        self.init([Self.shell(script, name: name)], logs: logs)
    }

    nonisolated static func shell(
        _ script: String, name: String = "device", drain: Double = 0.05, term: Double = 0.2,
        limits: DeviceSpec.Limits = DeviceSpec.Limits(), startLimit: Double = 10
    ) -> DeviceSpec {
        DeviceSpec(
            name: name, executable: "/bin/sh", arguments: ["-c", script],
            environment: ["PATH=/usr/bin:/bin"], startLimit: startLimit, drain: drain, term: term,
            limits: limits)
    }

    /// Waits until `condition` holds; it is asked after the calls of the supervisor, and now and
    /// then.
    func until(
        _ what: String, _ condition: @escaping @LoopActor () -> Bool
    ) async throws {
        if condition() { return }
        lastWaiter += 1
        let key = lastWaiter
        let holds: Bool = await withCheckedContinuation { continuation in
            waiters[key] = { isLate in
                guard isLate || condition() else { return false }
                continuation.resume(returning: condition())
                return true
            }
            poll(key, Clock.monotonic + UInt64(patience * 1e9))
        }
        if !holds { throw TimedOut(description: "\(what); \(supervisor.statuses)") }
    }

    /// For conditions of the system that nobody announces, such as the end of a helper.
    private func poll(_ key: Int, _ deadline: UInt64) {
        EventLoop.shared.schedule(at: Clock.monotonic + 5_000_000) { [self] in
            guard let waiter = waiters[key] else { return }
            if waiter(Clock.monotonic >= deadline) {
                waiters[key] = nil
            } else {
                poll(key, deadline)
            }
        }
    }

    private func happened() {
        for (key, waiter) in waiters where waiter(false) { waiters[key] = nil }
    }

    /// Ends everything, so that no test leaves a process.
    func close() async throws {
        supervisor.shutdown()
        supervisor.shutdown()
        try await until("everything is down") { self.hasExited }
        for cable in cables { Glibc.close(cable) }
        cables = []
    }

    var pid: Int32 { supervisor.statuses[0].pid }

    /// Closes the kernel's ends of all cables.
    func cutCables() {
        for cable in cables { Glibc.close(cable) }
        cables = []
    }

    // MARK: The delegate

    func cellLost(_ device: String, failed: Bool) {
        happened()
    }

    func launched(
        _ device: String, incarnation: Int, isCell: Bool, pid: Int32, program: UInt64,
        cable: consuming OwnedDescriptor
    ) {
        cables.append(cable.take())
        launches.append(Launch(device: device, incarnation: incarnation, pid: pid))
        if !mute.contains(device) { supervisor.ready(device, incarnation: incarnation) }
        happened()
    }

    func readDry(_ device: String, incarnation: Int) { readsDry += 1 }

    func open(_ device: String, incarnation: Int) -> ProcessLoad {
        load[device] ?? ProcessLoad(lastHeard: ProcessSupervisor.now)
    }

    func died(
        _ device: String, incarnation: Int, begun: UInt64, running: UInt64,
        verdicts: [(visit: UInt64, verdict: VisitVerdict)], death: Death
    ) {
        load[device] = nil
        burials.append(
            Burial(
                device: device, incarnation: incarnation, exit: death.exit, begun: begun,
                verdicts: Dictionary(uniqueKeysWithValues: verdicts.map { ($0.visit, $0.verdict) }))
        )
        happened()
    }

    func drain(_ device: String, incarnation: Int) { drains.append(incarnation) }
    func ping(_ device: String, incarnation: Int) { pings.append(incarnation) }
    func cancel(_ device: String, incarnation: Int, visit: UInt64) {}
    func refuse(_ device: String, _ state: DeviceState) { refused[device] = state }
    func swapFailed(_ device: String, reason: String, servesOn: Bool) {}

    func changed(_ status: DeviceStatus) {
        changes.append(status)
        happened()
    }

    func exited() {
        hasExited = true
        happened()
    }

    /// A flood must not ask every condition at every line: they are asked soon anyhow.
    func logFailed(_ device: String, _ reason: String) {}

    func log(_ device: String, _ stream: LogStream, _ line: String) {
        lines.append((stream, line))
    }
}

/// Whether a process is there and not a zombie.
func isRunning(_ pid: Int32) -> Bool {
    guard let status = contents("/proc/\(pid)/status") else { return false }
    return !status.contains("State:\tZ")
}

func contents(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var text: [UInt8] = []
    while true {
        let byte = fgetc(file)
        guard byte != EOF else { return String(decoding: text, as: UTF8.self) }
        text.append(UInt8(truncatingIfNeeded: byte))
    }
}

func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// The parent of all folders of this run; it goes with the process.
private let runFolder: String? = {
    let parent = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? "/tmp"
    guard let template = strdup("\(parent)/supervisorXXXXXX") else { return nil }
    defer { free(template) }
    guard mkdtemp(template) != nil else { return nil }
    atexit { if let runFolder { removeTree(runFolder) } }
    return String(cString: template)
}()

private func removeTree(_ path: String) {
    for name in names(in: path) {
        let inner = "\(path)/\(name)"
        if unlink(inner) != 0 { removeTree(inner) }
    }
    rmdir(path)
}

/// An empty folder of the test's own.
func makeFolder() throws -> String {
    let parent = try #require(runFolder)
    let template = try #require(strdup("\(parent)/XXXXXX"))
    defer { free(template) }
    return String(cString: try #require(mkdtemp(template)))
}
