import Testing

@testable import UnixSocket

@Suite(.onLoop)
struct TimerTests {
    @Test @LoopActor
    func `the heap gives actions by deadline and, for equal ones, in the order of scheduling`() {
        var random = SystemRandomNumberGenerator()
        var heap = TimerHeap()
        var ran: [Int] = []
        var model: [(deadline: UInt64, number: Int)] = []
        var timers: [Timer] = []
        for number in 0..<2000 {
            let deadline = UInt64.random(in: 0..<100, using: &random)
            timers.append(heap.insert(deadline) { ran.append(number) })
            model.append((deadline, number))
        }
        for number in stride(from: 0, to: 2000, by: 3) {
            heap.remove(timers[number])
            heap.remove(timers[number])
        }
        model.removeAll { $0.number % 3 == 0 }
        model.sort { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        #expect(heap.count == model.count)
        while let action = heap.takeDue(99, before: .max) { action() }
        #expect(ran == model.map(\.number))
        #expect(heap.earliest == nil)
    }

    @Test @LoopActor func `a cancelled timer does not cancel the one that took its place`() {
        var heap = TimerHeap()
        let first = heap.insert(1) {}
        heap.remove(first)
        let second = heap.insert(1) {}
        #expect(second.slot == first.slot)
        heap.remove(first)
        #expect(heap.contains(second))
        #expect(!heap.contains(first))
    }

    @Test @LoopActor func `timers run in the order of their deadlines and a cancelled one never`()
        async throws
    {
        let gate = Gate()
        var ran: [String] = []
        let start = Clock.monotonic
        let late = loop().schedule(at: start + 3_000_000) { ran.append("late") }
        loop().schedule(at: start + 6_000_000) {
            ran.append("last")
            gate.changed()
        }
        loop().schedule(at: start + 1_000_000) {
            ran.append("first")
            late.cancel()
        }
        loop().schedule(at: start + 2_000_000) { ran.append("second") }
        try await gate.until { ran.contains("last") }
        #expect(ran == ["first", "second", "last"])
        #expect(Clock.monotonic >= start + 6_000_000)
        #expect(!late.isPending)
    }

    @Test @LoopActor func `a timer that schedules itself anew leaves the loop its turns`()
        async throws
    {
        let gate = Gate()
        var count = 0
        var turns: Set<UInt64> = []
        func again() {
            count += 1
            turns.insert(loop().turns)
            if count < 10 { loop().schedule(at: 0) { again() } }
            gate.changed()
        }
        loop().schedule(at: 0) { again() }
        try await gate.until { count == 10 }
        #expect(turns.count == 10)
    }

    @Test @LoopActor func `sleep ends at its time`() async throws {
        let deadline = Clock.monotonic + 3_000_000
        try await loop().sleep(until: deadline)
        #expect(Clock.monotonic >= deadline)
    }

    @Test @LoopActor func `a cancelled sleep ends at once`() async throws {
        let task = Task { @LoopActor in
            try await loop().sleep(until: .max)
        }
        try await loop().nextTurn()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let cancelled = Task { @LoopActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await loop().sleep(until: .max)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}
