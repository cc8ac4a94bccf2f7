import DeviceKit
import Glibc

/// The two timed loops: one call after the other, and a window of calls in flight.
@LoopActor
enum Loops {
    /// Nanoseconds of each round trip, sorted.
    static func sequential(
        _ kernel: Kernel, bytes: Int, nanoseconds: UInt64, warmUp: UInt64
    ) async throws -> [UInt64] {
        var times: [UInt64] = []
        times.reserveCapacity(200_000)
        let start = Bench.now
        var now = start
        var round: UInt64 = 0
        var payload = [UInt8](repeating: 0x78, count: bytes)
        while now < start + warmUp + nanoseconds {
            fill(&payload, round)
            let before = Bench.now
            let reply = try await kernel.call(Echo.symbol, payload)
            now = Bench.now
            try check(reply, bytes, round)
            round += 1
            if now > start + warmUp { times.append(now - before) }
        }
        return times.sorted()
    }

    /// What a window of calls in flight achieves.
    struct Throughput {
        var perSecond: Double
        var processorSecondsPer100k: Double
    }

    /// In the middle of the timed loop the device is killed; a call that does not end well ends
    /// the measurement.
    static func windowed(
        _ instance: Instance, bytes: Int, window: Int, nanoseconds: UInt64, warmUp: UInt64
    ) async throws -> Throughput {
        let count = Counter()
        for worker in 0..<window {
            count.spawn { try await work(instance.kernel, bytes, UInt64(worker), count) }
        }
        try await Program.pause(milliseconds: max(1, warmUp / 1_000_000))
        let half = max(1, nanoseconds / 2_000_000)
        let begun = (count: count.value, time: Bench.now, cpu: instance.processorTime)
        try await Program.pause(milliseconds: half)
        let killed = (pid: instance.devicePID, cpu: instance.deviceTime)
        kill(killed.pid, SIGKILL)
        try await Program.pause(milliseconds: half)
        let done = Double(count.value - begun.count)
        let seconds = Double(Bench.now - begun.time) / 1e9
        // The dead process no longer says what it took.
        let dead = instance.devicePID == killed.pid ? 0 : killed.cpu
        let cpu = instance.processorTime + dead - begun.cpu
        count.isOver = true
        try await count.end()
        try await instance.replaced(killed.pid)
        return Throughput(perSecond: done / seconds, processorSecondsPer100k: cpu / done * 1e5)
    }

    private static func work(
        _ kernel: Kernel, _ bytes: Int, _ worker: UInt64, _ count: Counter
    ) async throws {
        var round = worker << 32
        var payload = [UInt8](repeating: 0x78, count: bytes)
        while !count.isOver {
            fill(&payload, round)
            let reply = try await kernel.call(Echo.symbol, payload)
            try check(reply, bytes, round)
            round += 1
            count.value += 1
        }
    }

    private static func fill(_ payload: inout [UInt8], _ round: UInt64) {
        let bytes = payload.count
        for index in 0..<min(8, bytes) {
            payload[index] = UInt8(truncatingIfNeeded: round >> (8 * UInt64(index)))
        }
        if bytes > 8 { payload[bytes - 1] = UInt8(truncatingIfNeeded: round &* 7 &+ 3) }
    }

    /// Length, number and last byte.
    private static func check(_ reply: [UInt8], _ bytes: Int, _ round: UInt64) throws {
        var number: UInt64 = 0
        for index in 0..<min(8, reply.count) {
            number |= UInt64(reply[index]) << (8 * UInt64(index))
        }
        guard reply.count == bytes, bytes < 8 || number == round,
            bytes <= 8 || reply[bytes - 1] == UInt8(truncatingIfNeeded: round &* 7 &+ 3)
        else { throw KernelError(.failed, "a reply is not what was sent") }
    }
}

/// What the workers of a window share.
@LoopActor
final class Counter {
    var value = 0
    var isOver = false
    private var tasks: [Task<Void, any Error>] = []

    nonisolated init() {}

    func spawn(_ body: @escaping @LoopActor @Sendable () async throws -> Void) {
        tasks.append(Task(executorPreference: LoopActor.executor, operation: body))
    }

    /// Waits for every worker.
    func end() async throws {
        for task in tasks { try await task.value }
        tasks = []
    }
}
