// The event loop: one epoll, one timerfd, one thread.
//
// A turn goes: wait; tell the watchers of ready descriptors; run the timers that are due (after the
// watchers, so that whatever a descriptor had to say is heard before a deadline judges it); run the
// tasks; ask `idle` for more; write what the connections have gathered, one write each; wait again.
//
// A watcher is named in epoll's own data by its descriptor and a generation that counts the
// watchers the descriptor has had. A descriptor that is closed and opened again within a turn has
// another generation, so the event that epoll had already reported for the old one finds nobody.

internal import CLinux
internal import Glibc

/// The loop of the process. All of it belongs to `LoopActor`, which means to the loop's own thread.
@LoopActor
package final class EventLoop {
    /// The only instance.
    package static let shared = EventLoop()

    /// CLOCK_MONOTONIC in nanoseconds, read once a turn.
    @exclusivity(unchecked) package private(set) var now: UInt64
    /// The number of turns made.
    @exclusivity(unchecked) package private(set) var turns: UInt64 = 0
    /// Called when no task is left to run, before the loop waits; true if it made new work, which
    /// is done first.
    @exclusivity(unchecked) package var idle: (@LoopActor () -> Bool)?
    /// Called just before the loop waits.
    @exclusivity(unchecked) package var beforeWait: (@LoopActor () -> Void)?
    /// Called when a wait has ended, before anything else.
    @exclusivity(unchecked) package var afterWait: (@LoopActor () -> Void)?

    @exclusivity(unchecked) var timers = TimerHeap()
    /// What to do with a connection at the end of the turn, besides writing.
    @exclusivity(unchecked) private var attention: [Connection] = []
    @exclusivity(unchecked) private var dirty: [Connection] = []
    @exclusivity(unchecked) private var watched: [Watched] = []
    @exclusivity(unchecked) private var spare: [Connection] = []
    private let poll: Int32
    private let alarm: Int32
    @exclusivity(unchecked) private var alarmAt = UInt64.max
    @exclusivity(unchecked) private var alarmHasFired = false
    @exclusivity(unchecked) private var isStopping = false
    /// The last turn ended although `idle` had made new work.
    @exclusivity(unchecked) private var hasMore = false
    private let events: UnsafeMutableBufferPointer<clx_event>
    @exclusivity(unchecked) private var scratch: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var hasScratch = false

    private struct Watched {
        var watcher: (any Watcher)?
        var generation: UInt32 = 0
        var interest: Interest = []
    }

    private init() {
        now = Clock.monotonic
        poll = clx_epoll_create()
        alarm = clx_timerfd()
        Self.require(poll)
        Self.require(alarm)
        events = .allocate(capacity: SocketLimits.eventsPerTurn)
        for descriptor in [LoopActor.executor.wakeUp, alarm] {
            control(clx_epoll_add, descriptor, .read, 0)
        }
    }

    /// Ends a program that is not given what its loop needs. It has begun nothing yet, and nothing
    /// is wrong with it, so it says why and does not trap.
    nonisolated static func require(_ descriptor: Int32) {
        guard descriptor < 0 else { return }
        let why = String(cString: strerror(errno))
        let line = "cannot begin: no descriptor for the event loop: \(why); see `ulimit -n`\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
        exit(71)
    }

    /// Ends a program whose loop can hear nothing any more. It would turn without an end, and look
    /// alive to whoever watches over it.
    private func endDeaf(_ error: Int32) -> Never {
        let why = String(cString: strerror(error))
        let line =
            "the event loop has lost its descriptor: \(why); something in this process closes "
            + "descriptors that are not its own\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
        exit(70)
    }

    /// Reads the clock again, after work that took long.
    package func refresh() { now = Clock.monotonic }

    // MARK: Descriptors

    /// Tells `watcher` whenever `descriptor` is ready, until `unwatch`; a watcher that it had is
    /// replaced.
    /// - Returns: false, and nothing is watched, if the system refuses: `EPERM` for a plain file,
    ///   or no memory.
    @discardableResult
    package func watch(_ descriptor: Int32, _ interest: Interest, _ watcher: any Watcher) -> Bool {
        precondition(descriptor >= 0, "a descriptor that is not open cannot be watched")
        let index = Int(descriptor)
        while watched.count <= index { watched.append(Watched()) }
        let isNew = watched[index].watcher == nil
        watched[index].generation &+= 1
        let generation = watched[index].generation
        // A number whose last owner closed it without `unwatch` is gone from epoll, hence the
        // second try.
        let (first, second) =
            isNew ? (clx_epoll_add, clx_epoll_modify) : (clx_epoll_modify, clx_epoll_add)
        guard
            control(first, descriptor, interest, generation)
                || control(second, descriptor, interest, generation)
        else {
            watched[index].watcher = nil
            return false
        }
        watched[index].watcher = watcher
        watched[index].interest = interest
        return true
    }

    /// Changes what the watcher of `descriptor` waits for.
    package func change(_ descriptor: Int32, _ interest: Interest) {
        let index = Int(descriptor)
        guard watched.indices.contains(index), watched[index].watcher != nil,
            watched[index].interest != interest
        else { return }
        watched[index].interest = interest
        control(clx_epoll_modify, descriptor, interest, watched[index].generation)
    }

    /// Forgets the watcher of `descriptor`; call it before the descriptor is closed. It is told
    /// nothing more, not even what was ready in this turn.
    package func unwatch(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard watched.indices.contains(index), watched[index].watcher != nil else { return }
        watched[index].watcher = nil
        watched[index].generation &+= 1
        control(clx_epoll_delete, descriptor, [], 0)
    }

    @discardableResult
    private func control(
        _ operation: Int, _ descriptor: Int32, _ interest: Interest, _ generation: UInt32
    ) -> Bool {
        clx_epoll_control(
            poll, Int32(operation), descriptor, interest.rawValue, generation) == 0
    }

    // MARK: Turns

    /// Turns until `stop`. The calling thread must be the loop's: enter through `runMain` or
    /// `startOnThread`.
    package func run() {
        refresh()
        while true {
            finishTurn()
            if isStopping { break }
            beforeWait?()
            let mustHurry =
                hasMore || LoopActor.executor.hasJobs || !dirty.isEmpty || !attention.isEmpty
            armAlarm()
            let count = clx_epoll_wait(
                poll, events.baseAddress, Int32(SocketLimits.eventsPerTurn), mustHurry ? 0 : 1)
            if count < 0, errno != EINTR { endDeaf(errno) }
            afterWait?()
            turns &+= 1
            now = Clock.monotonic
            for index in 0..<max(0, Int(count)) {
                dispatch(events[index])
            }
            runTimers()
        }
        isStopping = false
    }

    /// Makes `run` return at the end of the turn.
    package func stop() { isStopping = true }

    private func dispatch(_ event: clx_event) {
        let descriptor = event.descriptor
        let index = Int(descriptor)
        if index < watched.count, watched[index].generation == event.generation,
            let watcher = watched[index].watcher
        {
            watcher.ready(Interest(rawValue: event.events))
        } else if descriptor == LoopActor.executor.wakeUp {
            LoopActor.executor.collectInbox()
        } else if descriptor == alarm {
            alarmHasFired = true
        }
    }

    /// Tasks, `idle` and writes, until nothing is left or the rounds are used up.
    private func finishTurn() {
        hasMore = false
        for _ in 0..<SocketLimits.jobRounds {
            LoopActor.executor.runJobs(rounds: SocketLimits.jobRounds)
            if LoopActor.executor.hasJobs { break }
            if !attention.isEmpty {
                attendAll()
                continue
            }
            if let idle, idle() {
                hasMore = true
                continue
            }
            hasMore = false
            if dirty.isEmpty { return }
            flushAll()
            if attention.isEmpty, !LoopActor.executor.hasJobs { return }
        }
        // Tasks that never rest do not hold back what is already said.
        flushAll()
    }

    private func flushAll() {
        swap(&dirty, &spare)
        for connection in spare { connection.flush() }
        spare.removeAll(keepingCapacity: true)
    }

    private func attendAll() {
        swap(&attention, &spare)
        for connection in spare { connection.attend() }
        spare.removeAll(keepingCapacity: true)
    }

    // MARK: Timers

    /// Runs `action` once at `deadline`, nanoseconds of CLOCK_MONOTONIC, or as soon after as the
    /// loop is free.
    @discardableResult
    package func schedule(
        at deadline: UInt64, _ action: @escaping @LoopActor () -> Void
    ) -> Timer {
        timers.insert(deadline, action)
    }

    /// The time so many milliseconds from now, for `schedule`; the last that there is where that is
    /// too far.
    package func time(in milliseconds: UInt64) -> UInt64 {
        let (span, isLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let (time, isLate) = now.addingReportingOverflow(span)
        return isLong || isLate ? .max : time
    }

    private func runTimers() {
        let mark = timers.nextSequence
        while let action = timers.takeDue(now, before: mark) { action() }
    }

    /// Arms the timerfd if a timer is due before it would fire. A cancelled timer leaves it armed:
    /// one idle turn at most is cheaper than a system call for each deadline that is met.
    private func armAlarm() {
        let earliest = timers.earliest ?? .max
        guard earliest < alarmAt || alarmHasFired else { return }
        // Setting it also ends the readiness of one that has fired; 0 disarms it.
        guard clx_timerfd_set(alarm, earliest == .max ? 0 : max(earliest, 1)) == 0 else {
            endDeaf(errno)
        }
        alarmAt = earliest
        alarmHasFired = false
    }

    // MARK: Connections

    /// Has the connection write what it holds at the end of the turn.
    package func flushLater(_ connection: Connection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirty.append(connection)
    }

    func attendLater(_ connection: Connection) {
        guard !connection.needsAttention else { return }
        connection.needsAttention = true
        attention.append(connection)
    }

    /// Lends the buffer into which connections read: room for a small rest, then for one read. Nil
    /// while it is lent, which is so when a callback reads another connection.
    func borrowScratch() -> UnsafeMutableRawPointer? {
        if let scratch {
            self.scratch = nil
            return scratch
        }
        guard !hasScratch else { return nil }
        hasScratch = true
        return .allocate(
            byteCount: SocketLimits.smallRest + SocketLimits.readBytes, alignment: 16)
    }

    func returnScratch(_ buffer: UnsafeMutableRawPointer) { scratch = buffer }
}
