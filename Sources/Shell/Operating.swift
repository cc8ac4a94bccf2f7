import DeviceKit
import Installation

/// `kill`, `restart`, `start` and `stop`, of one process of a device or of all that serve beside
/// each other. But for `kill` they wait until it is so, or will not be.
@LoopActor
struct Operating {
    private let kernel: Kernel
    private let device: String
    private let verb: String
    private let swaps: Bool

    static func run(_ arguments: Arguments) async throws {
        let words = arguments.words
        var payload: [String: Value] = ["device": .text(words[0])]
        if let signal = arguments.option("--signal") { payload["signal"] = .text(signal) }
        if arguments.has("--swap") { payload["swap"] = .bool(true) }
        let operating = Operating(
            kernel: try await Verbs.connect(arguments), device: words[0], verb: arguments.verb,
            swaps: arguments.has("--swap"))
        guard arguments.verb != "kill" else {
            _ = try await operating.ask(payload)
            if arguments.isJSON { Output.line(Value.map(["device": .text(words[0])]).json()) }
            return
        }
        let rows = try await operating.perform(payload)
        guard arguments.isJSON else { return }
        for row in rows {
            Output.line(
                Value.map([
                    "device": row["name"] ?? .null, "state": row["state"] ?? .null,
                    "pid": row["pid"] ?? .null, "incarnation": row["incarnation"] ?? .null,
                ]).json())
        }
    }

    private func ask(_ payload: [String: Value]) async throws -> Value {
        try await kernel.call("Kernel.Device.\(verb)", .map(payload))
    }

    /// The rows of `Kernel.Devices` that are meant.
    private var rows: [Value] {
        (kernel.value(of: "Kernel.Devices")?.value.array ?? []).filter { row in
            row["name"]?.text.map { SeatName.means(device, $0) } ?? false
        }
    }

    /// - Returns: the rows once they are as wanted.
    private func perform(_ payload: [String: Value]) async throws -> [Value] {
        let changes = Changes()
        var lost: KernelError?
        kernel.onEnd = { error in
            lost = error
            changes.tell()
        }
        try await kernel.follow("Kernel.Devices") { _ in changes.tell() }
        var awaited = Awaited(verb: verb, swaps: swaps)
        for row in rows { awaited.before[Awaited.name(of: row)] = row["incarnation"]?.int }
        let limits = try await ask(payload)
        // The kernel knows better what served when it did it; one of an older build does not tell.
        for (name, number) in limits["incarnations"]?.map ?? [:] {
            awaited.before[name] = number.int
        }
        let seconds = patience(limits)
        let deadline = EventLoop.shared.now + UInt64(seconds * 1e9)
        let found = try await changes.first(by: deadline) { () throws -> [Value]? in
            // What the kernel has said last tells more than its end.
            if lost == nil || !rows.isEmpty, let rows = try settled(awaited) { return rows }
            if let lost { throw lost }
            return nil
        }
        if let found { return found }
        guard let late = rows.first(where: { awaited.judge($0) != .wanted }) else { return rows }
        let state = late["state"]?.text ?? "?"
        throw failure(Awaited.explain(late, "is still \(state) after \(Int(seconds.rounded())) s"))
    }

    /// - Returns: the rows when all are as wanted, nil while they may become so.
    private func settled(_ awaited: Awaited) throws -> [Value]? {
        let rows = rows
        guard !rows.isEmpty else {
            throw failure("\(device) is not among the devices any more: see `concentric ps`")
        }
        var isPending = false
        for row in rows {
            switch awaited.judge(row) {
            case .wanted: break
            case .pending: isPending = true
            case .failed(let why): throw failure(why)
            }
        }
        return isPending ? nil : rows
    }

    private func failure(_ message: String) -> KernelError {
        KernelError(.unavailable, message, outcome: .none)
    }

    /// Seconds until it is given up: what the kernel says that a start and an end may take, and a
    /// little for the way.
    private func patience(_ limits: Value) -> Double {
        let start = limits["startSeconds"]?.double ?? 10
        let stop = limits["stopSeconds"]?.double ?? 4
        // A number from elsewhere; years are as good as for ever.
        return min((verb == "stop" ? stop : stop + start) + 1, 100_000_000)
    }
}
