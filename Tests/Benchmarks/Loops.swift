import DeviceKit

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
        while now < start + warmUp + nanoseconds {
            let payload = payload(bytes, round)
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

    static func windowed(
        _ instance: Instance, bytes: Int, window: Int, nanoseconds: UInt64, warmUp: UInt64
    ) async throws -> Throughput {
        let count = Counter()
        let start = Bench.now
        var begun: (count: Int, time: UInt64, cpu: Double)?
        var result: Throughput?
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<window {
                group.addTask { try await work(instance.kernel, bytes, UInt64(worker), count) }
            }
            group.addTask { @LoopActor in
                try await Program.pause(milliseconds: max(1, warmUp / 1_000_000))
                begun = (count.value, Bench.now, instance.processorTime)
                try await Program.pause(milliseconds: max(1, nanoseconds / 1_000_000))
                if let begun {
                    let done = Double(count.value - begun.count)
                    let seconds = Double(Bench.now - begun.time) / 1e9
                    result = Throughput(
                        perSecond: done / seconds,
                        processorSecondsPer100k: (instance.processorTime - begun.cpu) / done * 1e5)
                }
                count.isOver = true
            }
            try await group.waitForAll()
        }
        _ = start
        guard let result else { throw KernelError(.failed, "the window measured nothing") }
        return result
    }

    private static func work(
        _ kernel: Kernel, _ bytes: Int, _ worker: UInt64, _ count: Counter
    ) async throws {
        var round = worker << 32
        while !count.isOver {
            let reply = try await kernel.call(Echo.symbol, payload(bytes, round))
            try check(reply, bytes, round)
            round += 1
            count.value += 1
        }
    }

    private static func payload(_ bytes: Int, _ round: UInt64) -> [UInt8] {
        var payload = [UInt8](repeating: 0x78, count: bytes)
        for index in 0..<min(8, bytes) { payload[index] = UInt8(truncatingIfNeeded: round >> (8 * UInt64(index))) }
        if bytes > 8 { payload[bytes - 1] = UInt8(truncatingIfNeeded: round &* 7 &+ 3) }
        return payload
    }

    /// Length, number and last byte.
    private static func check(_ reply: [UInt8], _ bytes: Int, _ round: UInt64) throws {
        var number: UInt64 = 0
        for index in 0..<min(8, reply.count) { number |= UInt64(reply[index]) << (8 * UInt64(index)) }
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
    nonisolated init() {}
}
