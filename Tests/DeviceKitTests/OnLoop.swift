import Testing
import UnixSocket

/// Starts the loop, on which everything of a device's process runs, before a test needs it. Tests
/// are isolated to `LoopActor` one by one: through their suite, the search for tests would wait for
/// the loop.
struct OnLoop: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        EventLoop.startOnThread()
        try await function()
    }
}

extension Trait where Self == OnLoop {
    static var onLoop: OnLoop { OnLoop() }
}
