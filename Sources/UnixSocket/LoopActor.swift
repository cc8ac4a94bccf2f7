// One process, one thread, one loop.
//
// Everything that a process of this house does on its descriptors is isolated to `LoopActor`, whose
// serial executor is the epoll loop. The compiler checks the isolation; at run time it costs
// nothing, for `EventLoop.run()` is itself isolated and calls its watchers as plain functions.
//
// The executor is a `TaskExecutor` as well. Continuations, `Task.value` and task groups resume
// through the task's executor and not the actor's, and without this preference each would go over a
// thread of the concurrency pool and back. Start root tasks with `EventLoop.spawn`; child tasks
// inherit it.

internal import CLinux
internal import Glibc
internal import Synchronization

/// The actor that owns a process's descriptors; its executor is the process's event loop.
@globalActor
public actor LoopActor {
    /// The only instance.
    public static let shared = LoopActor()
    /// The executor of the actor, and the preference of every root task.
    public static let executor = LoopExecutor()

    /// The loop, as the concurrency runtime names it.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.executor.asUnownedSerialExecutor()
    }

    /// Runs `operation` as code of the actor; the caller must already be on the loop's thread, else
    /// the process traps.
    public static func assumeIsolated<T>(_ operation: @LoopActor () throws -> T) rethrows -> T {
        precondition(executor.isOnLoop, "this code runs on the event loop's thread only")
        // The precondition guards the cast: the closure type loses its isolation and nothing else.
        return try withoutActuallyEscaping(operation) { escaping in
            try unsafeBitCast(escaping, to: (() throws -> T).self)()
        }
    }
}

/// The event loop as the concurrency runtime sees it: a queue of jobs. Thread safe.
public final class LoopExecutor: SerialExecutor, TaskExecutor {
    /// An eventfd that becomes readable when another thread has left jobs.
    let wakeUp: Int32
    // A mutex of the C library and not of Synchronization, whose locking the thread sanitizer
    // cannot see.
    nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(
        capacity: 1)
    // Guard: `mutex`.
    nonisolated(unsafe) private var inbox: [UnownedJob] = []
    // Guard: `mutex`, too.
    nonisolated(unsafe) private var isSignalled = false
    private let owner = Atomic<UInt>(0)
    // Guard: touched only where `isOnLoop` holds.
    @exclusivity(unchecked) nonisolated(unsafe) private var local: [UnownedJob] = []
    @exclusivity(unchecked) nonisolated(unsafe) private var running: [UnownedJob] = []

    init() {
        wakeUp = clx_eventfd()
        EventLoop.require(wakeUp)
        pthread_mutex_init(mutex, nil)
    }

    /// Whether the caller is on the loop's thread.
    public var isOnLoop: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Makes the calling thread the loop's, once and for ever; traps when another one is.
    package func claimThread() {
        let own = UInt(pthread_self())
        let (_, previous) = owner.compareExchange(
            expected: 0, desired: own, ordering: .sequentiallyConsistent)
        precondition(previous == 0 || previous == own, "the event loop has another thread")
    }

    /// Takes a job from any thread; in a build for one thread, from that one.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        if isOnLoop {
            local.append(unowned)
            return
        }
        #if ONE_THREAD
            precondition(
                owner.load(ordering: .relaxed) == 0,
                "this build has one thread, and a task of the loop was given to it by another")
        #endif
        pthread_mutex_lock(mutex)
        inbox.append(unowned)
        let mustWake = !isSignalled
        isSignalled = true
        pthread_mutex_unlock(mutex)
        if mustWake {
            var one: UInt64 = 1
            _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)
        }
    }

    /// The executor of the actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Lets synchronous callbacks of the loop, which run outside of any task, pass isolation
    /// checks.
    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    /// Traps off the loop.
    public func checkIsolated() {
        precondition(isOnLoop, "this code runs on the event loop's thread only")
    }

    @LoopActor var hasJobs: Bool { !local.isEmpty }

    /// Moves what other threads left to the loop's own queue.
    @LoopActor func collectInbox() {
        var count: UInt64 = 0
        _ = read(wakeUp, &count, MemoryLayout<UInt64>.size)
        pthread_mutex_lock(mutex)
        isSignalled = false
        local.append(contentsOf: inbox)
        inbox.removeAll(keepingCapacity: true)
        pthread_mutex_unlock(mutex)
    }

    /// Runs what is queued, and what that queues, in rounds; at most `rounds`, so that tasks which
    /// only yield to each other do not keep the loop from its descriptors.
    @LoopActor func runJobs(rounds: Int) {
        let serial = asUnownedSerialExecutor()
        let task = asUnownedTaskExecutor()
        var left = rounds
        while left > 0, !local.isEmpty {
            left -= 1
            swap(&local, &running)
            for job in running {
                job.runSynchronously(isolatedTo: serial, taskExecutor: task)
            }
            running.removeAll(keepingCapacity: true)
        }
    }
}
