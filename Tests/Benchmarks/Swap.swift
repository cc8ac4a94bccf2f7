import DeviceKit

/// `swap`: the device's process is replaced again and again while calls are in flight.
///
/// A stall is the longest time in which no call of all those in flight was answered. It is compared
/// with one start of the device, from its launch until it serves, of the same run.
@LoopActor
enum Swap {
    private static let window = 64
    private static let swaps = 20
    private static let starts = 9

    static func run(_ instance: Instance) async throws {
        let spawn = try await spawn(instance)
        try await instance.kernel.follow("Kernel.Load") { _ in }
        let before = try await load(instance, visits: 0)
        let flow = Flow(instance.kernel)
        let workers = Counter()
        for worker in 0..<window {
            workers.spawn { await flow.work(UInt64(worker), until: workers) }
        }
        // The window is full and the code is warm.
        try await Program.pause(milliseconds: 200)
        flow.longest = 0
        // As long as the swaps will take: what the machine alone does to the calls.
        try await Program.pause(milliseconds: UInt64(swaps) * 60)
        let undisturbed = flow.longest
        flow.longest = 0
        for _ in 0..<swaps {
            let pid = instance.devicePID
            try await operate(instance, "swap")
            try await instance.replaced(pid)
            try await Program.pause(milliseconds: 50)
        }
        workers.isOver = true
        try await workers.end()
        let after = try await load(instance, visits: before.visits + flow.answered)
        let again = after.replays - before.replays
        print(
            "swap, \(swaps) of them, \(window) in flight: \(flow.answered) calls, "
                + "\(flow.failures.count) failed (at most 0), \(again) second attempts "
                + "(at most 0), "
                + "longest stall \(flow.longest / 1_000) us, one spawn \(spawn / 1_000) us, "
                + "longest without a swap \(undisturbed / 1_000) us, "
                + "ratio \(two(Double(flow.longest) / Double(spawn))) (at most 3.00)")
        guard flow.failures.isEmpty, again == 0 else {
            throw KernelError(
                .failed, "swaps cost calls: \(flow.failures.first ?? "\(again) second attempts")")
        }
    }

    /// From the launch of the device until it serves and has answered a call, the median of some;
    /// nothing else runs.
    private static func spawn(_ instance: Instance) async throws -> UInt64 {
        var times: [UInt64] = []
        for _ in 0..<starts {
            try await operate(instance, "stop")
            try await reach(instance, "stopped")
            let begun = Bench.now
            try await operate(instance, "start")
            _ = try await instance.kernel.call(Echo.symbol, [])
            times.append(Bench.now - begun)
            try await reach(instance, "ready")
        }
        return Bench.quantile(times.sorted(), 0.5)
    }

    /// Waits until the device is shown so.
    private static func reach(_ instance: Instance, _ state: String) async throws {
        for _ in 0..<10_000 where instance.state != state {
            try await Program.pause(milliseconds: 1)
        }
    }

    private static func operate(_ instance: Instance, _ verb: String) async throws {
        _ = try await instance.kernel.call(
            "Kernel.Device.\(verb)", ["device": .text("echo")])
    }

    /// What the kernel has counted, once it has counted so many visits: it tells once a second.
    private static func load(
        _ instance: Instance, visits: Int64
    ) async throws -> (visits: Int64, replays: Int64) {
        for _ in 0..<500 {
            if let load = instance.kernel.value(of: "Kernel.Load")?.value,
                let count = load["visits"]?.int, let replays = load["replays"]?.int,
                count >= visits
            {
                return (count, replays)
            }
            try await Program.pause(milliseconds: 10)
        }
        throw KernelError(.failed, "the kernel does not tell its load")
    }

    /// Calls that are in flight all the time.
    @LoopActor
    private final class Flow {
        private let kernel: Kernel
        private(set) var answered: Int64 = 0
        private(set) var failures: [String] = []
        var longest: UInt64 = 0
        private var last = Bench.now

        init(_ kernel: Kernel) { self.kernel = kernel }

        func work(_ worker: UInt64, until workers: Counter) async {
            let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: worker), count: 64)
            while !workers.isOver {
                do {
                    let reply = try await kernel.call(Echo.symbol, payload)
                    guard reply == payload else {
                        throw KernelError(.failed, "a reply is not what was sent")
                    }
                } catch {
                    failures.append("\(error)")
                }
                answered += 1
                let now = Bench.now
                longest = max(longest, now - last)
                last = now
            }
        }
    }
}
