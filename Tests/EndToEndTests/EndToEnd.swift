import Glibc
import Testing

/// The product as its users see it: real processes, real sockets, real kills.
///
/// One test runs at a time, because each of them starts a whole kernel and measures what it does.
@Suite(.serialized, .timeLimit(.minutes(20)), OwnThread())
enum EndToEnd {}

/// Lets a test block: it runs on a thread of its own, so that the few threads that all tests share
/// stay free for the others.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor.shared) { try await body() }
    }
}

/// Runs each job on a new thread.
private final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let work = Unmanaged.passRetained(Work(UnownedJob(job), self))
        var thread = pthread_t()
        let error = pthread_create(&thread, nil, Self.main, work.toOpaque())
        precondition(error == 0, "no thread: \(String(cString: strerror(error)))")
        pthread_detach(thread)
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
        {
            guard let pointer = $0 else { return nil }
            let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
            work.job.runSynchronously(on: work.executor.asUnownedTaskExecutor())
            return nil
        }

    private final class Work {
        let job: UnownedJob
        let executor: ThreadExecutor

        init(_ job: UnownedJob, _ executor: ThreadExecutor) {
            self.job = job
            self.executor = executor
        }
    }
}
