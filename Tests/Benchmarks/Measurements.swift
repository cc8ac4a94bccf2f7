import DeviceKit
import Glibc

/// `latency`: a routed round trip beside the same three processes in C, interleaved.
@LoopActor
enum Latency {
    static func run(_ instance: Instance) async throws {
        var ours: [UInt64] = []
        var floor: [UInt64] = []
        var ratios: [Double] = []
        for round in 0..<9 {
            let c = try Bench.floor("roundtrip", [20_000, 64, 1])
            guard let median = c.first else {
                throw KernelError(.failed, "the floor printed nothing")
            }
            let times = try await Loops.sequential(
                instance.kernel, bytes: 64, nanoseconds: 300_000_000, warmUp: 50_000_000)
            let own = Bench.quantile(times, 0.5)
            // The first round warms both up.
            guard round > 0 else { continue }
            ours.append(own)
            floor.append(UInt64(median))
            ratios.append(Double(own) / median)
            print(
                "round \(round): concentric p50 \(own) ns, p99 \(Bench.quantile(times, 0.99)) ns; "
                    + "C p50 \(UInt64(median)) ns; ratio \(two(ratios[ratios.count - 1]))")
        }
        ratios.sort()
        print(
            "latency 64 B, one in flight: concentric \(Bench.quantile(ours.sorted(), 0.5)) ns, "
                + "C \(Bench.quantile(floor.sorted(), 0.5)) ns, "
                + "ratio median \(two(ratios[ratios.count / 2])) (at most 1.50)")
    }
}

/// `restart`: SIGKILL of the device to its next answered call beside fork-exec-answer in C.
@LoopActor
enum Restart {
    static func run(_ instance: Instance) async throws {
        var ours: [UInt64] = []
        var floors: [UInt64] = []
        let payload = [UInt8](repeating: 0x78, count: 64)
        for _ in 0..<10 {
            let c = try Bench.floor("respawn", [20])
            if let median = c.first { floors.append(UInt64(median)) }
            for _ in 0..<10 {
                // The state is told before the next call is answered; a life of 20 ms lets it
                // settle.
                while !instance.isReady { try await Program.pause(milliseconds: 1) }
                try await Program.pause(milliseconds: 20)
                let pid = instance.devicePID
                let before = Bench.now
                kill(pid, SIGKILL)
                _ = try await instance.kernel.call(Echo.symbol, payload)
                ours.append(Bench.now - before)
                guard instance.devicePID != pid else {
                    throw KernelError(.failed, "the killed process answered")
                }
            }
        }
        ours.sort()
        floors.sort()
        let own = Bench.quantile(ours, 0.5)
        let floor = Bench.quantile(floors, 0.5)
        print(
            "restart, median of \(ours.count): concentric \(own / 1_000) us "
                + "(p95 \(Bench.quantile(ours, 0.95) / 1_000) us), C \(floor / 1_000) us, "
                + "ratio \(two(Double(own) / Double(floor))) (at most 4.00)")
    }
}

/// `subject`: the table's lines for the comparison with other systems.
@LoopActor
enum Subject {
    static func run(_ instance: Instance) async throws {
        let sizes = (text("BENCH_PAYLOADS") ?? "64 1024 65536 1048576").split {
            $0 == " " || $0 == ","
        }
        let seconds = text("BENCH_SECS").flatMap(Double.init) ?? 2
        let window = text("BENCH_WINDOW").flatMap(Int.init) ?? 64
        let span = UInt64(seconds * 1e9)
        for size in sizes.compactMap({ Int($0) }) {
            let times = try await Loops.sequential(
                instance.kernel, bytes: size, nanoseconds: span, warmUp: span / 4)
            let flow = try await Loops.windowed(
                instance, bytes: size, window: window, nanoseconds: span, warmUp: span / 4)
            let p50 = Double(Bench.quantile(times, 0.5)) / 1e3
            let p99 = Double(Bench.quantile(times, 0.99)) / 1e3
            print(
                "\(size)\t\(two(p50))\t\(two(p99))\t\(Int(flow.perSecond))\t"
                    + three(flow.processorSecondsPer100k))
            fflush(nil)
        }
    }

    private static func text(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

func two(_ number: Double) -> String { fixed(number, 100) }
private func three(_ number: Double) -> String { fixed(number, 1_000) }

private func fixed(_ number: Double, _ scale: Double) -> String {
    let digits = scale == 100 ? 2 : 3
    let whole = Int((number * scale).rounded())
    let part = String(whole % Int(scale))
    return "\(whole / Int(scale))." + String(repeating: "0", count: digits - part.count) + part
}
