import DeviceKit
import Glibc

/// A device whose handler uses the processor for a while, in two processes beside each other.
enum Toil {
    static let instances = 2
    /// Uses so many milliseconds of the processor; the nanoseconds that it took for them.
    static let symbol = Symbol<Int, Int>("Bench.toil", .replayable)

    static func serve() -> Never {
        Device.serve { device in
            device.bind(symbol, pure: { milliseconds in toil(milliseconds) })
        }
    }

    private static func toil(_ milliseconds: Int) -> Int {
        let begin = Bench.now
        let end = used + milliseconds * 1_000_000
        var count: UInt64 = 0
        while used < end { count &+= 1 }
        return Int(Bench.now - begin)
    }

    /// Nanoseconds of the processor that this process has used.
    private static var used: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// `instances`: how much of the time the handlers of two processes are at work. Two that took turns
/// would come to one.
@LoopActor
enum Seats {
    private static let calls = 100
    private static let window = 4
    private static let milliseconds = 20

    static func run(_ instance: Instance) async throws {
        var ratios: [Double] = []
        for round in 0..<8 {
            let (busy, processor) = try await measure(instance.kernel)
            // The first round warms all up.
            guard round > 0 else { continue }
            ratios.append(busy)
            print(
                "round \(round): busy \(two(busy)) of the time, with \(two(processor)) processors")
        }
        ratios.sort()
        print(
            "instances: \(Toil.instances), a handler of \(milliseconds) ms: busy time over wall "
                + "time, median of \(ratios.count): \(two(ratios[ratios.count / 2])) "
                + "(at least 1.60)")
    }

    /// The sum of the times in which a handler ran, and of the processor time that they used, over
    /// the time of all.
    private static func measure(
        _ kernel: Kernel
    ) async throws -> (busy: Double, processor: Double) {
        let busy = Counter()
        let begun = Counter()
        let start = Bench.now
        for _ in 0..<window {
            busy.spawn {
                while begun.value < calls {
                    begun.value += 1
                    busy.value += try await kernel.call(Toil.symbol, milliseconds)
                }
            }
        }
        try await busy.end()
        let wall = Double(Bench.now - start)
        return (Double(busy.value) / wall, Double(begun.value * milliseconds) * 1e6 / wall)
    }
}
