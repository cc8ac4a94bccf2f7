import Control
import DeviceKit
import Glibc
import Synchronization

/// A client that observes one property: `observe cancel` until SIGTERM, `observe break` until it is
/// 101. It prints each value that it gets, then `dropped`, and stays connected until SIGTERM.
@LoopActor
enum Observer {
    nonisolated static func run(_ words: [String]) -> Never {
        signal(SIGTERM) { _ in Visitor.isToldToEnd.store(true, ordering: .relaxed) }
        let goal = words == ["observe", "break"] ? 101 : nil
        Program.run {
            do {
                let kernel = try await Kernel.connect(
                    instance: Program.instance, client: "observer")
                try await run(kernel, until: goal)
                return 0
            } catch {
                say("failed \(error)")
                return 70
            }
        }
    }

    private static func run(_ kernel: Kernel, until goal: Int?) async throws {
        let loop = start { try await observe(kernel, until: goal) }
        if goal == nil {
            await term()
            loop.cancel()
        }
        try await loop.value
        say("dropped")
        await term()
        // Still there: what has ended is the observation, not the connection.
        _ = try await kernel.call("Kernel.Trace.read", .map([:]))
    }

    private static func start(
        _ body: @escaping @LoopActor @Sendable () async throws -> Void
    ) -> Task<Void, any Error> {
        Task(executorPreference: LoopActor.executor, operation: body)
    }

    private static func observe(_ kernel: Kernel, until goal: Int?) async throws {
        for try await count in kernel.buffer.changes(of: ZooState.self, \.count) {
            say("count \(count)")
            if count == goal { break }
        }
    }

    private static func term() async {
        while !Visitor.isToldToEnd.exchange(false, ordering: .relaxed) {
            try? await Program.pause(milliseconds: 2)
        }
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
