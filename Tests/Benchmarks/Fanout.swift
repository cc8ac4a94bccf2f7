import DeviceKit
import Glibc
import Wire

/// A device that changes one region as fast as commits go.
struct Board: Region {
    static let region = "BenchBoard"
    static let flood = Symbol<Int, Int>(
        "Bench.flood", .replayable.limits(attempt: 120_000, deadline: 400_000))

    var count = 0
    var text = ""

    static func serve() -> Never {
        Device.serve { device in
            device.bind(flood) { kernel, commits in
                for number in 0..<commits {
                    try await kernel.buffer.mutate(Board.self) { board in
                        board.count = number + 1
                        board.text =
                            "the \(number + 1)th change of a small region, for all who see it"
                    }
                }
                return commits
            }
        }
    }
}

/// `fanout`: each commit is delivered to many, beside a program in C that copies the same bytes.
///
/// Both ends are drained by the same program in C, so that what differs is the kernel: it takes a
/// commit, changes the region, makes the patch once, and writes it to each subscriber.
@LoopActor
enum Fanout {
    /// What one run achieved.
    private struct Run {
        var perSecond: Double
        var bytes: Double
        var processorNanoseconds: Double
    }

    static func run(_ instance: Instance) async throws {
        for subscribers in [1, 10, 100, 1_000] {
            let rounds = min(10_000, max(200, 200_000 / subscribers))
            var ours: [Run] = []
            var floors: [Run] = []
            for round in 0..<4 {
                let own = try await measure(instance, subscribers, rounds)
                let floor = try floor(subscribers, rounds, bytes: Int(own.bytes))
                // The first round warms both up.
                guard round > 0 else { continue }
                ours.append(own)
                floors.append(floor)
            }
            let ratios = zip(ours, floors).map { $0.perSecond / $1.perSecond }.sorted()
            let (own, floor) = (median(ours), median(floors))
            print(
                "fanout \(subscribers): concentric \(Int(own.perSecond)) deliveries/s, "
                    + "\(Int(own.bytes)) bytes and \(Int(own.processorNanoseconds)) ns of the "
                    + "kernel each; C \(Int(floor.perSecond)) deliveries/s, "
                    + "\(Int(floor.processorNanoseconds)) ns each; ratio median "
                    + "\(two(ratios[ratios.count / 2])) (at least 0.40)")
            fflush(nil)
        }
    }

    private static func median(_ runs: [Run]) -> Run {
        runs.sorted { $0.perSecond < $1.perSecond }[runs.count / 2]
    }

    private static func measure(
        _ instance: Instance, _ subscribers: Int, _ rounds: Int
    ) async throws -> Run {
        let greeting = CBORWriter()
        greeting.hello(Hello(name: "drain", bindings: nil))
        greeting.follow(id: 1, region: Board.region)
        let hex = greeting.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let drain = try Drain("drain '\(instance.socket)' \(subscribers) \(rounds) \(hex)")
        guard drain.line() == "ready" else {
            throw KernelError(.failed, "the subscribers were not served")
        }
        let before = instance.kernelTime
        // One stage may ask for 1,024 things.
        var left = rounds
        while left > 0 {
            left -= try await instance.kernel.call(Board.flood, min(1_000, left))
        }
        let numbers = drain.line().split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 2 else { throw KernelError(.failed, "patches were lost") }
        let deliveries = Double(subscribers * rounds)
        return Run(
            perSecond: deliveries / numbers[0] * 1e9, bytes: numbers[1] / deliveries,
            processorNanoseconds: (instance.kernelTime - before) / deliveries * 1e9)
    }

    private static func floor(_ subscribers: Int, _ rounds: Int, bytes: Int) throws -> Run {
        let numbers = try Bench.floor("fanout", [subscribers, rounds, bytes], mode: ["floor"])
        guard numbers.count == 2 else {
            throw KernelError(.failed, "the floor printed nothing")
        }
        let deliveries = Double(subscribers * rounds)
        return Run(
            perSecond: deliveries / numbers[0] * 1e9, bytes: Double(bytes),
            processorNanoseconds: numbers[1] / deliveries)
    }
}

/// The floor's program as the subscribers of a kernel.
private final class Drain {
    private let stream: UnsafeMutablePointer<FILE>

    init(_ arguments: String) throws {
        guard let folder = getenv("BENCH_FLOOR").map({ String(cString: $0) }),
            let stream = popen("'\(folder)/fanout' \(arguments)", "r")
        else { throw KernelError(.unavailable, "BENCH_FLOOR is not set: run Scripts/bench") }
        self.stream = stream
    }

    deinit {
        pclose(stream)
    }

    /// What it prints next.
    func line() -> String {
        var text: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            guard byte >= 0, byte != 0x0A else { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
