import DeviceKit
import Glibc

/// What each verb does.
@LoopActor
enum Verbs {
    /// - Returns: the exit code.
    static func run(_ arguments: Arguments) async throws -> Int32 {
        switch arguments.verb {
        case "ps": try await devices(arguments)
        case "errors": try await errors(arguments)
        case "call": try await call(arguments)
        case "dispatch": try await dispatch(arguments)
        case "buffer": try await buffer(arguments)
        case "follow": try await ChannelVerbs.follow(arguments)
        case "publish": try await ChannelVerbs.publish(arguments)
        case "kill", "restart", "stop", "start": try await Operating.run(arguments)
        case "log": try await LogVerb.run(arguments)
        case "trace": try await TraceVerb.run(arguments)
        case "graph": try await WiringVerbs.graph(arguments)
        case "symbols": try await WiringVerbs.symbols(arguments)
        case "describe": try await WiringVerbs.describe(arguments)
        case "history": try await HistoryVerb.run(arguments)
        case "doctor": return try await Doctor.run(arguments)
        case "cancel": try await cancel(arguments)
        case "down": try await down(arguments)
        case "new": try NewDevice.run(arguments)
        default:
            throw UsageError(message: "it is not served")
        }
        return 0
    }

    static func connect(_ arguments: Arguments) async throws -> Kernel {
        try await Kernel.connect(instance: arguments.name, client: "concentric \(arguments.verb)")
    }

    /// The value of a region now.
    static func region(
        _ name: String, _ arguments: Arguments
    ) async throws -> (revision: Revision, value: Value) {
        let kernel = try await connect(arguments)
        try await kernel.follow(name) { _ in }
        guard let state = kernel.value(of: name) else {
            throw KernelError(.kernelLost, "the kernel did not send \(name)")
        }
        return state
    }

    private static func devices(_ arguments: Arguments) async throws {
        let value = try await region("Kernel.Devices", arguments).value
        if arguments.isJSON { return Output.line(value.json()) }
        let columns = [
            "name", "state", "pid", "incarnation", "restarts", "lastExit", "reason",
        ]
        Output.table(
            ["NAME", "STATE", "PID", "INCARNATION", "RESTARTS", "LAST EXIT", "REASON"],
            (value.array ?? []).map { row in columns.map { (row[$0] ?? .null).cell } })
    }

    private static func errors(_ arguments: Arguments) async throws {
        let value = try await region("Kernel.Errors", arguments).value
        if arguments.isJSON { return Output.line(value.json()) }
        let columns = ["at", "flow", "symbol", "code", "message"]
        Output.table(
            ["AT", "FLOW", "SYMBOL", "CODE", "MESSAGE"],
            (value.array ?? []).map { row in
                columns.map { name in
                    let value = row[name] ?? .null
                    return value.date.flatMap(DateText.print) ?? value.cell
                }
            })
    }

    /// The second word, as JSON; null if there is none.
    nonisolated static func payload(_ words: [String]) throws(PayloadError) -> Value {
        guard words.count > 1 else { return .null }
        do {
            return try Value.parse(json: words[1])
        } catch {
            throw PayloadError(word: words[1], error)
        }
    }

    private static func call(_ arguments: Arguments) async throws {
        let words = arguments.words
        var deadline: UInt32 = 0
        if let text = arguments.option("--deadline") {
            guard let number = UInt32(text), number > 0 else {
                throw UsageError(
                    message: "--deadline wants milliseconds, 1 to \(UInt32.max), not \(text)")
            }
            deadline = number
        }
        let value = try payload(words)
        let kernel = try await connect(arguments)
        let output = try await kernel.call(
            words[0], value, deadline: deadline, key: arguments.option("--key"))
        Output.line(output.json(pretty: !arguments.isJSON && isatty(1) == 1))
    }

    private static func dispatch(_ arguments: Arguments) async throws {
        let words = arguments.words
        let value = try payload(words)
        let kernel = try await connect(arguments)
        try await kernel.dispatch(words[0], value, key: arguments.option("--key"))
        if arguments.isJSON { Output.line("{\"accepted\":true}") }
    }

    private static func cancel(_ arguments: Arguments) async throws {
        let words = arguments.words
        guard let meant = FlowName(words[0]) else {
            throw UsageError(
                message: "FLOW is #NUMBER or EPOCH-NUMBER as `concentric trace` shows "
                    + "it, not \(words[0])")
        }
        let kernel = try await connect(arguments)
        let flow = "\(meant.epoch ?? kernel.epoch)-\(meant.number)"
        _ = try await kernel.call("Kernel.Flow.cancel", .map(["flow": .text(flow)]))
        if arguments.isJSON { Output.line(Value.map(["flow": .text(flow)]).json()) }
    }

    private static func down(_ arguments: Arguments) async throws {
        // Who wants it down is not told how to start it.
        if case .absent(let error) = RunningKernel.lookUp(arguments.name), error.code == .notServed
        {
            throw KernelError(
                .unavailable, "no kernel named \(arguments.name) runs: there is nothing to end",
                outcome: .none)
        }
        let kernel = try await connect(arguments)
        let ended = Ended()
        kernel.onEnd = { ended.resume($0) }
        do {
            _ = try await kernel.call("Kernel.shutdown", .null)
        } catch let error as KernelError where error.code == .kernelLost {
            // It was faster than its answer.
        }
        _ = await ended.wait()
        if arguments.isJSON { Output.line("{\"down\":true}") }
    }

    // MARK: - Regions

    private static func buffer(_ arguments: Arguments) async throws {
        let words = arguments.words
        let name = words[0]
        if let text = arguments.option("--at") {
            let (revision, value) = try await HistoryVerb.value(of: name, at: text, arguments)
            return print(name, .snapshot(revision, value), pretty: !arguments.isJSON)
        }
        let kernel = try await connect(arguments)
        if arguments.has("--watch") { return try await watch(name, kernel, arguments) }
        try await kernel.follow(name) { _ in }
        guard let state = kernel.value(of: name) else {
            throw KernelError(.kernelLost, "the kernel did not send \(name)")
        }
        print(name, .snapshot(state.revision, state.value), pretty: !arguments.isJSON)
    }

    private static func watch(
        _ name: String, _ kernel: Kernel, _ arguments: Arguments
    ) async throws {
        let ended = Ended()
        kernel.onEnd = { ended.resume($0) }
        Readers.watch()
        try await kernel.follow(name) { update in
            print(name, update, pretty: false)
        }
        throw await ended.wait()
    }

    /// One JSON value a line: `{region, revision, value}` or `{region, revision, patch}`.
    private static func print(_ name: String, _ update: RegionUpdate, pretty: Bool) {
        let region = Value.text(name).json()
        switch update {
        case .snapshot(let revision, let value):
            let text = value.json(pretty: pretty && isatty(1) == 1)
            Output.line(
                "{\"region\":\(region),\"revision\":\"\(revision)\",\"value\":\(text)}")
        case .patch(let revision, let patch):
            Output.line(
                "{\"region\":\(region),\"revision\":\"\(revision)\","
                    + "\"patch\":\(patch.value.json())}")
        }
    }
}
