// Entering the loop, and tasks on it.

internal import Glibc

extension EventLoop {
    /// Makes the calling thread, which is the main thread of a program, the loop's; runs `prepare`,
    /// then the loop until `stop`.
    package nonisolated static func runMain<Failure: Error>(
        _ prepare: @LoopActor () throws(Failure) -> Void
    ) throws(Failure) {
        LoopActor.executor.claimThread()
        FreeMemory.keepSome()
        let result = LoopActor.assumeIsolated { () -> Result<Void, Failure> in
            do throws(Failure) {
                try prepare()
            } catch {
                return .failure(error)
            }
            EventLoop.shared.run()
            return .success(())
        }
        try result.get()
    }

    /// Runs the loop for ever on a thread of its own; for test bundles, whose main thread is taken.
    package nonisolated static func startOnThread() { precondition(hasThread) }

    private nonisolated static let hasThread: Bool = {
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { _ in
                LoopActor.executor.claimThread()
                while true {
                    LoopActor.assumeIsolated { EventLoop.shared.run() }
                }
            }, nil)
        return error == 0
    }()

    /// Starts a root task that never leaves the loop's thread, nor do the tasks that it starts.
    @discardableResult
    package nonisolated func spawn(
        _ body: @escaping @LoopActor @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: LoopActor.executor, operation: body)
    }

    /// Suspends the task until `deadline`, nanoseconds of CLOCK_MONOTONIC.
    /// - Throws: `CancellationError`, at once, when the task is cancelled.
    package func sleep(until deadline: UInt64) async throws {
        try Task.checkCancellation()
        let sleeper = Sleeper()
        let wasCancelled = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                sleeper.begin(continuation, until: deadline)
            }
        } onCancel: {
            if LoopActor.executor.isOnLoop {
                LoopActor.assumeIsolated { sleeper.end(cancelled: true) }
            } else {
                EventLoop.spawn { sleeper.end(cancelled: true) }
            }
        }
        if wasCancelled { throw CancellationError() }
    }

    private nonisolated static func spawn(_ body: @escaping @LoopActor @Sendable () -> Void) {
        Task(executorPreference: LoopActor.executor) { @LoopActor in body() }
    }
}

/// A task that waits for a timer or for its cancellation, whichever comes first.
@LoopActor
private final class Sleeper {
    private enum State {
        case new  // → sleeping, ended
        case sleeping(UnsafeContinuation<Bool, Never>, Timer)  // → ended
        case ended
    }

    private var state = State.new

    nonisolated init() {}

    func begin(_ continuation: UnsafeContinuation<Bool, Never>, until deadline: UInt64) {
        guard case .new = state else {
            continuation.resume(returning: true)
            return
        }
        let timer = EventLoop.shared.schedule(at: deadline) { self.end(cancelled: false) }
        state = .sleeping(continuation, timer)
    }

    func end(cancelled: Bool) {
        let last = state
        state = .ended
        guard case .sleeping(let continuation, let timer) = last else { return }
        timer.cancel()
        continuation.resume(returning: cancelled)
    }
}
