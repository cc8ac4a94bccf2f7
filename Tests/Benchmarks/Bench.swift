import DeviceKit
import Glibc

/// Measures a real kernel and a real device; `Scripts/bench` says how it is called.
@main
enum Bench {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "device": Echo.serve()
        case "circuit": Circuit.serve()
        case "board": Board.serve()
        case "toil": Toil.serve()
        case "ledgers": Ledgers.serve()
        case "latency": Program.run { await measured { try await Latency.run($0) } }
        case "restart": Program.run { await measured { try await Restart.run($0) } }
        case "fanout":
            Program.run { await measured(with: .board) { try await Fanout.run($0) } }
        case "subject": Program.run { await measured { try await Subject.run($0) } }
        case "swap": Program.run { await measured { try await Swap.run($0) } }
        case "pipeline":
            Program.run { await measured(with: .circuit) { try await Pipeline.run($0) } }
        case "instances":
            Program.run { await measured(with: .toil) { try await Seats.run($0) } }
        case "mutate":
            Program.run { await measured(with: .ledgers) { try await Mutate.run($0) } }
        default:
            complain(
                "usage: Benchmarks latency|restart|subject|swap|pipeline|instances|fanout|mutate")
            exit(64)
        }
    }

    /// Runs a measurement against an instance of its own, which is ended afterwards.
    @LoopActor
    private static func measured(
        with other: Instance.Other? = nil, _ body: @LoopActor (Instance) async throws -> Void
    ) async -> Int32 {
        do {
            let instance = try await Instance.start(with: other)
            defer { instance.remove() }
            do {
                try await body(instance)
                await instance.end()
                return 0
            } catch {
                await instance.end()
                throw error
            }
        } catch {
            complain("\(error)")
            return 70
        }
    }

    static func complain(_ line: String) {
        let text = "bench: \(line)\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
    }

    /// Monotonic nanoseconds.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The quantile of times that are sorted.
    static func quantile(_ sorted: [UInt64], _ q: Double) -> UInt64 {
        sorted.isEmpty ? 0 : sorted[Int(q * Double(sorted.count - 1) + 0.5)]
    }

    /// Runs a floor's program and returns the numbers that it prints.
    static func floor(
        _ name: String, _ arguments: [Int], mode: [String] = []
    ) throws -> [Double] {
        guard let folder = getenv("BENCH_FLOOR").map({ String(cString: $0) }) else {
            throw KernelError(.unavailable, "BENCH_FLOOR is not set: run Scripts/bench")
        }
        let words = (mode + arguments.map(String.init)).joined(separator: " ")
        return output(of: "'\(folder)/\(name)' \(words)").split(separator: " ").compactMap {
            Double($0)
        }
    }

    /// What a command prints.
    static func output(of command: String) -> String {
        guard let stream = popen(command, "r") else { return "" }
        defer { pclose(stream) }
        var text: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            guard byte >= 0, byte != 0x0A else { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
