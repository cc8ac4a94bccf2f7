import DeviceKit
import Glibc

/// Commands from several clients against a real kernel, while its devices are killed, stopped and
/// swapped at random moments; then buffer, SQLite and model must agree. `Scripts/chaos` says how
/// it is called.
@main
enum Entry {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "device" { Post.serve() }
        let options: Options
        do {
            options = try Options(words)
        } catch {
            complain("\(error)")
            exit(64)
        }
        Program.run { await run(options) }
    }

    @LoopActor
    private static func run(_ options: Options) async -> Int32 {
        let ledger = Ledger(options)
        do {
            let instance = try Instance()
            defer { instance.remove() }
            Program.spawn { await limit(options, ledger, instance) }
            try await act(options, ledger, instance)
        } catch {
            ledger.note(.lost, "the run ended early: \(error)")
        }
        return ledger.conclude()
    }

    @LoopActor
    private static func act(
        _ options: Options, _ ledger: Ledger, _ instance: Instance
    ) async throws {
        var random = Random(seed: options.seed)
        let control = try await instance.start()
        let file = LibraryFile("\(instance.data)/library.db")
        try file.audit()
        var workers: [Worker] = []
        for number in 0..<options.clients {
            let client = try await instance.connect("client-\(number)")
            for depth in 0..<Options.depth {
                workers.append(
                    Worker(
                        number * Options.depth + depth, client, instance, ledger,
                        Random(seed: random.next())))
            }
        }
        let storm = Storm(control, ledger, Random(seed: random.next()))
        let weather = start { await storm.run() }
        let running = workers.map { worker in
            start { await worker.run() }
        }
        for task in running { try await task.value }
        try await weather.value
        let judge = Judge(instance, ledger, file, workers)
        try await storm.calm()
        try await judge.compareRunning(control)
        await instance.stop()
        try judge.compareStored()
        let second = try await instance.start()
        try await judge.compareFresh(second)
        await instance.stop()
        judge.lookForLeftovers()
    }

    /// A run ends, whatever happens.
    @LoopActor
    private static func limit(
        _ options: Options, _ ledger: Ledger, _ instance: Instance
    ) async {
        try? await Program.pause(milliseconds: UInt64(options.limit * 1_000))
        ledger.note(.lost, "the run was not over after \(Int(options.limit)) s")
        instance.abandon()
        exit(ledger.conclude())
    }

    static func complain(_ line: String) {
        let text = "chaos: \(line)\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
    }

    /// Monotonic seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Begins a task on the loop.
@LoopActor
func start<T: Sendable>(
    _ body: @escaping @LoopActor @Sendable () async throws -> T
) -> Task<T, any Error> {
    Task(executorPreference: LoopActor.executor, operation: body)
}

/// Why a run cannot go on.
struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
