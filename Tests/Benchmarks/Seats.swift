import DeviceKit
import Glibc

/// A device whose handler uses the processor for a while, in two processes beside each other.
enum Toil {
    static let instances = 2
    /// Uses so many milliseconds of the processor; the nanoseconds that it used.
    static let symbol = Symbol<Int, Int>("Bench.toil", .replayable)

    static func serve() -> Never {
        Device.serve { device in
            device.bind(symbol, pure: { milliseconds in toil(milliseconds) })
        }
    }

    private static func toil(_ milliseconds: Int) -> Int {
        let begin = used
        let end = begin + milliseconds * 1_000_000
        var count: UInt64 = 0
        while used < end { count &+= 1 }
        return used - begin
    }

    /// Nanoseconds of the processor that this process has used. Two on one processor use no more
    /// than one.
    private static var used: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// `instances`: how much of the time of two processors the handlers of two processes use.
@LoopActor
enum Seats {
    private static let calls = 100
    private static let window = 4
    private static let milliseconds = 20

    static func run(_ instance: Instance) async throws {
        var ratios: [Double] = []
        for round in 0..<8 {
            let ratio = try await measure(instance.kernel)
            // The first round warms all up.
            guard round > 0 else { continue }
            ratios.append(ratio)
            print("round \(round): busy \(two(ratio)) of the time")
        }
        ratios.sort()
        print(
            "instances: \(Toil.instances), a handler of \(milliseconds) ms: busy time over wall time, "
                + "median of \(ratios.count): \(two(ratios[ratios.count / 2])) (at least 1.60)")
    }

    private static func measure(_ kernel: Kernel) async throws -> Double {
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
        return Double(busy.value) / Double(Bench.now - start)
    }
}
