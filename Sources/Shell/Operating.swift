import DeviceKit
import Installation

/// `kill`, `restart`, `start` and `stop`, of one process of a device or of all that serve beside
/// each other. But for `kill` they wait until it is so.
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

    private static func name(of row: Value) -> String { row["name"]?.text ?? "?" }

    /// - Returns: the rows once they are as wanted.
    private func perform(_ payload: [String: Value]) async throws -> [Value] {
        let changes = Changes()
        var lost: KernelError?
        kernel.onEnd = { error in
            lost = error
            changes.tell()
        }
        try await kernel.follow("Kernel.Devices") { _ in changes.tell() }
        let before = Dictionary(
            rows.map { (Self.name(of: $0), $0["incarnation"]?.int ?? 0) }
        ) { $1 }
        // The answer comes after the change that it made, so an older state is not taken for it.
        let limits = try await ask(payload)
        let seconds = patience(limits)
        let deadline = EventLoop.shared.now + UInt64(seconds * 1e9)
        let found = try await changes.first(by: deadline) { () throws -> [Value]? in
            if let lost { throw lost }
            let rows = rows
            let pending = try rows.filter { try isWanted($0, before) == false }
            return rows.isEmpty || !pending.isEmpty ? nil : rows
        }
        if let found { return found }
        let late = rows.first { (try? isWanted($0, before)) != true }
        let state = late?["state"]?.text ?? "gone"
        throw failure(late, "is still \(state) after \(Int(seconds.rounded())) s")
    }

    private func isWanted(_ row: Value, _ before: [String: Int64]) throws -> Bool {
        let name = Self.name(of: row)
        switch judge(row, before: before[name] ?? 0) {
        case .wanted: return true
        case .pending: return false
        case .hopeless: throw failure(row, "is \(row["state"]?.text ?? "?")")
        case .kept:
            throw KernelError(
                .unavailable,
                "\(name): \(row["reason"]?.text ?? ""); the process that "
                    + "served goes on: see `concentric log \(name)`", outcome: .none)
        }
    }

    private enum Judgement {
        case wanted
        case pending
        case hopeless
        /// The swap failed, and the old process serves on.
        case kept
    }

    private func judge(_ row: Value, before: Int64) -> Judgement {
        if swaps, row["reason"]?.text?.hasPrefix("swap failed") == true { return .kept }
        let isNew = (row["incarnation"]?.int ?? 0) > before
        switch (verb, row["state"]?.text) {
        case ("stop", "stopped"): return .wanted
        case ("start", "ready"): return .wanted
        case ("restart", "ready"), ("restart", "done"), ("start", "done"):
            return isNew ? .wanted : .pending
        case (_, "unkillable"): return .hopeless
        case ("start", "failed"), ("restart", "failed"): return .hopeless
        default: return .pending
        }
    }

    /// Seconds until it is given up: what the kernel says that a start and an end may take, and a
    /// little for the way.
    private func patience(_ limits: Value) -> Double {
        let start = limits["startSeconds"]?.double ?? 10
        let stop = limits["stopSeconds"]?.double ?? 4
        // A number from elsewhere; years are as good as for ever.
        return min((verb == "stop" ? stop : stop + start) + 1, 100_000_000)
    }

    /// Why it is not so, in the words of whoever knows most.
    private func failure(_ row: Value?, _ what: String) -> KernelError {
        let device = row.map(Self.name) ?? device
        let reason = row?["reason"]?.text ?? ""
        let why = reason.isEmpty ? row?["lastExit"]?.text ?? "" : reason
        return KernelError(
            .unavailable,
            "\(device) \(what)\(why.isEmpty ? "" : " (\(why))"): see `concentric log \(device)`",
            outcome: .none)
    }
}
