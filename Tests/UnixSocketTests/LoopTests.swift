import Glibc
import Synchronization
import Testing

@testable import UnixSocket

/// Counts what it is told about a descriptor.
@LoopActor
private final class Witness: Watcher {
    var events: [Interest] = []
    var onReady: (@LoopActor (Interest) -> Void)?

    func ready(_ events: Interest) {
        self.events.append(events)
        onReady?(events)
    }
}

@Suite(.onLoop)
struct LoopTests {
    @LoopActor private func poke(_ descriptor: Int32) {
        var byte: UInt8 = 1
        #expect(write(descriptor, &byte, 1) == 1)
    }

    @Test(arguments: [false, true])
    func `a loop whose descriptor somebody has closed ends its process`(isReused: Bool) async {
        await #expect(processExitsWith: .exitCode(70)) { [isReused = isReused as Bool] in
            EventLoop.runMain {
                EventLoop.shared.refresh()
                // A program that closes numbers which are not its own, and opens others there.
                for number: Int32 in 3..<64 { close(number) }
                if isReused { for _ in 0..<64 { _ = open("/dev/null", O_RDONLY) } }
            }
        }
    }

    @Test @LoopActor
    func `a descriptor closed and opened again in a turn leaves its event to nobody`()
        async throws
    {
        let gate = Gate()
        var old: [(Int32, Int32)] = []
        for _ in 0..<2 {
            var pair = try pipePair()
            old.append((pair.takeFirst().take(), pair.takeSecond().take()))
        }
        let witnesses = [Witness(), Witness()]
        let newcomer = Witness()
        var reused: Int32 = -1
        var fresh: (Int32, Int32) = (-1, -1)
        for (index, witness) in witnesses.enumerated() {
            witness.onReady = { _ in
                // The first of the two to hear closes both and opens the other's number anew.
                for pair in old { loop().unwatch(pair.0) }
                let other = old[1 - index].0
                var ends: [Int32] = [-1, -1]
                pipe(&ends)
                // Closes the old pipe and gives its number to the new one.
                #expect(dup2(ends[0], other) == other)
                close(ends[0])
                reused = other
                fresh = (other, ends[1])
                loop().watch(other, .read, newcomer)
                close(old[index].0)
                old = []
                gate.changed()
            }
        }
        let writers = old.map(\.1)
        for (index, pair) in old.enumerated() { loop().watch(pair.0, .read, witnesses[index]) }
        for writer in writers { poke(writer) }
        try await gate.until { reused >= 0 }
        #expect(witnesses.map(\.events.count).reduce(0, +) == 1)
        #expect(newcomer.events.isEmpty)
        newcomer.onReady = { _ in
            loop().unwatch(fresh.0)
            gate.changed()
        }
        poke(fresh.1)
        try await gate.until { newcomer.events.count == 1 }
        for number in writers + [fresh.0, fresh.1] { close(number) }
    }

    @Test @LoopActor func `a watcher may forget itself and be changed inside its callback`()
        async throws
    {
        var pair = try socketPair()
        let near = pair.takeFirst()
        let far = pair.takeSecond()
        let gate = Gate()
        let witness = Witness()
        witness.onReady = { _ in
            if witness.events.count == 1 {
                loop().change(near.number, .write)
            } else {
                loop().unwatch(near.number)
                loop().unwatch(near.number)
            }
            gate.changed()
        }
        #expect(loop().watch(near.number, .read, witness))
        poke(far.number)
        try await gate.until { witness.events.count == 2 }
        try await loop().nextTurn()
        #expect(witness.events == [.read, .write])
    }

    @Test @LoopActor func `a plain file cannot be watched and the caller is told`() {
        let number = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        #expect(!loop().watch(number, .read, Witness()))
        close(number)
    }

    @Test @LoopActor func `a task that is started with spawn never leaves the loop's thread`()
        async throws
    {
        let own = UInt(pthread_self())
        let gate = Gate()
        var threads: Set<UInt> = []
        var isDone = false
        func note() { threads.insert(UInt(pthread_self())) }
        loop().spawn {
            note()
            await Task.yield()
            note()
            let values = await withTaskGroup(of: (Int, UInt).self) { group in
                for number in 0..<20 {
                    group.addTask {
                        await Task.yield()
                        return (number, await currentThread())
                    }
                }
                var values: [(Int, UInt)] = []
                for await value in group { values.append(value) }
                return values
            }
            #expect(values.map(\.0).reduce(0, +) == 190)
            threads.formUnion(values.map(\.1))
            note()
            threads.insert(await Task { @LoopActor in UInt(pthread_self()) }.value)
            note()
            try? await loop().sleep(until: Clock.monotonic + 1_000_000)
            note()
            isDone = true
            gate.changed()
        }
        try await gate.until { isDone }
        #expect(threads == [own])
    }

    @Test @LoopActor
    func `callbacks of the loop pass the checks of isolation and other threads do not`()
        async throws
    {
        let gate = Gate()
        var isIsolated = false
        loop().schedule(at: 0) {
            LoopActor.shared.preconditionIsolated()
            isIsolated = LoopActor.assumeIsolated { true }
            gate.changed()
        }
        try await gate.until { isIsolated }
        let elsewhere = await Task.detached { LoopActor.executor.isOnLoop }.value
        #expect(!elsewhere)
        #expect(LoopActor.executor.isIsolatingCurrentContext() == true)
    }

    /// One at a time, for the loop has one `idle`.
    @Suite(.serialized) struct Idle {
        @Test @LoopActor
        func `idle is asked when no task is left and again as long as it makes work`()
            async throws
        {
            let gate = Gate()
            var steps: [String] = []
            var left = 2
            loop().idle = {
                guard left > 0 else { return false }
                left -= 1
                steps.append("idle")
                loop().spawn {
                    steps.append("task")
                    if left == 0 { gate.changed() }
                }
                return true
            }
            defer { loop().idle = nil }
            try await gate.until { steps.count == 4 }
            #expect(steps == ["idle", "task", "idle", "task"])
        }

        @Test @LoopActor func `a turn that ends with work left is followed by the next at once`()
            async throws
        {
            defer { loop().idle = nil }
            let gate = Gate()
            let pieces = 4 * SocketLimits.jobRounds
            var done = 0
            let first = loop().turns
            loop().idle = {
                guard done < pieces else { return false }
                done += 1
                if done == pieces { gate.changed() }
                return true
            }
            try await gate.until { done == pieces }
            #expect(loop().turns - first >= 3, "descriptors have had their turns meanwhile")
        }
    }

    @Test @LoopActor func `the loop says when it waits and when it wakes`() async throws {
        var isAsleep = false
        var waits = 0
        loop().beforeWait = {
            #expect(!isAsleep)
            isAsleep = true
        }
        loop().afterWait = {
            #expect(isAsleep)
            isAsleep = false
            waits += 1
        }
        defer {
            loop().beforeWait = nil
            loop().afterWait = nil
        }
        try await loop().nextTurn()
        try await loop().nextTurn()
        #expect(waits >= 2)
        #expect(!isAsleep)
    }

    @Test @LoopActor func `tasks that only yield to each other leave the loop its turns`()
        async throws
    {
        let gate = Gate()
        var turns: Set<UInt64> = []
        loop().spawn {
            while turns.count < 3 {
                turns.insert(loop().turns)
                await Task.yield()
            }
            gate.changed()
        }
        try await gate.until { turns.count == 3 }
    }

    @Test @LoopActor func `a signal becomes an event with its sender`() async throws {
        let gate = Gate()
        var events: [SignalEvent] = []
        let watcher = try SignalWatcher([SIGUSR1, SIGUSR2]) {
            events.append($0)
            gate.changed()
        }
        // To this thread and no other, for only this one has the signals blocked.
        pthread_kill(pthread_self(), SIGUSR1)
        pthread_kill(pthread_self(), SIGUSR2)
        try await gate.until { events.count == 2 }
        #expect(events.map(\.signal) == [SIGUSR1, SIGUSR2])
        #expect(events.allSatisfy { $0.sender == getpid() })
        watcher.close()
        watcher.close()
    }
}

private func currentThread() async -> UInt { UInt(pthread_self()) }
