import DeviceKit
import Glibc

/// `trace`: what the kernel has kept of the flows that ran, or with --follow those that run.
@LoopActor
final class TraceVerb {
    /// Milliseconds between two looks at the trace.
    private static let pause: UInt64 = 200
    /// Seconds for which a look keeps the trace on: a follower's, and that of one who comes again.
    private static let followed: Int64 = 10
    private static let looked: Int64 = 600

    private let kernel: Kernel
    private let asJSON: Bool
    private let payloads: Bool
    private let chrome: ChromeFile?
    private var forest = TraceForest()
    /// The number of the last entry that was read.
    private var last: Int64?
    private var isStopped = false

    static func run(_ arguments: Arguments) async throws {
        let verb = TraceVerb(
            kernel: try await Verbs.connect(arguments), arguments: arguments,
            chrome: try arguments.option("--chrome").map { try ChromeFile($0) })
        if arguments.has("--follow") || arguments.has("-f") {
            try await verb.follow()
        } else {
            try await verb.look()
        }
    }

    private init(kernel: Kernel, arguments: Arguments, chrome: ChromeFile?) {
        self.kernel = kernel
        self.chrome = chrome
        asJSON = arguments.isJSON
        payloads = arguments.has("--payloads")
    }

    /// What is kept, and what runs.
    private func look() async throws {
        last = 0
        var page = try await read(hold: Self.looked)
        let wasOn = page["on"]?.bool == true
        while try take(page) { page = try await read(hold: Self.looked) }
        try show(running: try await read(hold: Self.looked, running: true))
        guard !wasOn else { return }
        Output.complain(
            "trace: it was off, and is on now for \(Self.looked / 60) minutes: look again after "
                + "the work, or say --follow")
    }

    /// Until somebody stops it.
    private func follow() async throws {
        let changes = Changes()
        var lost: KernelError?
        kernel.onEnd = { error in
            lost = error
            changes.tell()
        }
        let watcher = try SignalWatcher([SIGINT, SIGTERM].filter { !SignalWatcher.isIgnored($0) }) {
            [unowned self] _ in
            isStopped = true
            changes.tell()
        }
        defer { watcher.close() }
        do {
            _ = try take(try await read(hold: Self.followed))
            if !asJSON && isatty(2) == 1 { Output.complain("trace: following, until Ctrl-C") }
            while !isStopped {
                if let lost { throw lost }
                let until = EventLoop.shared.now + Self.pause * 1_000_000
                _ = await changes.first(by: until) { isStopped || lost != nil ? true : nil }
                while try take(try await read(hold: Self.followed)), !isStopped {}
            }
            try show(running: try await read(hold: Self.followed, running: true))
        } catch {
            for line in forest.rest() { Output.line(line) }
            throw error
        }
    }

    private func read(hold: Int64, running: Bool = false) async throws -> Value {
        var payload: [String: Value] = [
            "hold": .int(hold), "payloads": .bool(payloads), "running": .bool(running),
        ]
        if let last { payload["after"] = .int(last) }
        return try await kernel.call("Kernel.Trace.read", .map(payload))
    }

    /// Prints a page.
    /// - Returns: whether more is there already.
    private func take(_ page: Value) throws -> Bool {
        if let lost = page["lost"]?.int, lost > 0 { gap(lost) }
        try show((page["entries"]?.array ?? []).compactMap(TraceEntry.init))
        last = page["next"]?.int ?? last
        return (last ?? 0) < (page["last"]?.int ?? 0)
    }

    private func gap(_ lost: Int64) {
        if asJSON { return Output.line(Value.map(["lost": .int(lost)]).json()) }
        Output.line("… \(lost) earlier entries are not kept any more")
    }

    /// The last page: what has ended meanwhile, and what runs.
    private func show(running page: Value) throws {
        _ = try take(page)
        try show((page["running"]?.array ?? []).compactMap(TraceEntry.init))
        for line in forest.rest() { Output.line(line) }
    }

    private func show(_ entries: [TraceEntry]) throws {
        try chrome?.add(entries)
        for entry in entries {
            if asJSON {
                Output.line(entry.value.json())
            } else {
                for line in forest.add(entry) { Output.line(line) }
            }
        }
    }
}
