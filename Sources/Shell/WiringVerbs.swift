import DeviceKit

/// `graph`, `symbols` and `describe`: who answers what, and of what pipes are made.
@LoopActor
enum WiringVerbs {
    static func graph(_ arguments: Arguments) async throws {
        let format = arguments.option("--format") ?? (arguments.isJSON ? "json" : "mermaid")
        guard ["mermaid", "dot", "json"].contains(format) else {
            throw UsageError(message: "--format wants mermaid, dot or json, not \(format)")
        }
        let (pipes, symbols, channels) = try await wiring(arguments)
        if pipes.isEmpty { Output.complain("graph: no device that is ready has bound a pipe") }
        if format == "json" { return Output.line(Value.array(pipes).json()) }
        let graph = PipeGraph(pipes: pipes, symbols: symbols, channels: channels)
        Output.line(format == "dot" ? graph.dot : graph.mermaid)
    }

    static func symbols(_ arguments: Arguments) async throws {
        let value = try await Verbs.region("Kernel.Symbols", arguments).value
        if arguments.isJSON { return Output.line(value.json()) }
        let columns = ["name", "device", "kind", "replay", "summary"]
        Output.table(
            ["SYMBOL", "DEVICE", "KIND", "REPLAY", "SUMMARY"],
            (value.array ?? []).map { row in columns.map { (row[$0] ?? .null).cell } })
    }

    static func describe(_ arguments: Arguments) async throws {
        let words = arguments.words
        let (pipes, symbols, channels) = try await wiring(arguments)
        if let row = channels.first(where: { $0["name"]?.text == words[0] }) {
            if arguments.isJSON { return Output.line(row.json()) }
            return Description(channel: row).lines.forEach(Output.line)
        }
        guard let row = symbols.first(where: { $0["name"]?.text == words[0] }) else {
            throw KernelError(
                .unbound, "there is no symbol or channel \(words[0]): see `concentric symbols`",
                outcome: .none)
        }
        let pipe = pipes.first { $0["symbol"]?.text == words[0] }
        if arguments.isJSON {
            var map = row.map ?? [:]
            map["pipe"] = pipe ?? .null
            return Output.line(Value.map(map).json())
        }
        for line in Description(row, pipe, symbols: symbols).lines { Output.line(line) }
    }

    private static func wiring(
        _ arguments: Arguments
    ) async throws -> (pipes: [Value], symbols: [Value], channels: [Value]) {
        let kernel = try await Verbs.connect(arguments)
        var found: [[Value]] = []
        for name in ["Kernel.Pipes", "Kernel.Symbols", "Kernel.Channels"] {
            try await kernel.follow(name) { _ in }
            guard let value = kernel.value(of: name)?.value else {
                throw KernelError(.kernelLost, "the kernel did not send \(name)")
            }
            found.append(value.array ?? [])
        }
        return (found[0], found[1], found[2])
    }
}

/// A symbol in words.
struct Description {
    let lines: [String]

    /// - Parameters:
    ///   - row: of `Kernel.Symbols`.
    ///   - pipe: its row of `Kernel.Pipes`, if it is one.
    init(_ row: Value, _ pipe: Value?, symbols: [Value]) {
        let devices = Dictionary(
            symbols.map { ($0["name"]?.text ?? "", $0["device"]?.text ?? "kernel") }
        ) { $1 }
        func cell(_ name: String) -> String { (row[name] ?? .null).cell }
        var lines = [cell("name")]
        if row["summary"]?.text?.isEmpty == false { lines.append("  " + cell("summary")) }
        for (name, shape) in [("takes", cell("takes")), ("gives", cell("gives"))]
        where !shape.isEmpty {
            lines.append("  \(name) \(shape)")
        }
        let device = row["device"]?.isNull == false ? cell("device") : "the kernel itself"
        let instances = row["instances"]?.int ?? 1
        let each = ", by the least loaded of its \(instances) processes"
        lines.append("  answered by \(device)\(instances > 1 ? each : "")")
        switch row["kind"]?.text {
        case nil: lines.append("  not announced yet: the device has not been ready")
        case "kernel": break
        default:
            lines.append("  \(cell("kind")), \(cell("replay"))")
            let lane = row["lane"]?.text.map { "lane \(Output.plain($0))" } ?? "the common lane"
            lines.append(
                "  an attempt \(cell("attempt")) ms, a flow \(cell("deadline")) ms, \(lane)")
        }
        for channel in (row["follows"]?.array ?? []).compactMap(\.text) {
            lines.append("  follows the channel \(Output.plain(channel))")
        }
        if let pipe { lines += Self.stages(of: pipe, devices, depth: 1) }
        self.lines = lines
    }

    /// - Parameter row: of `Kernel.Channels`.
    init(channel row: Value) {
        func cell(_ value: Value?) -> String { (value ?? .null).cell }
        let publishers = (row["publishers"]?.array ?? []).map(\.cell)
        let shapes = (row["shapes"]?.array ?? []).map(\.cell)
        lines =
            [
                cell(row["name"]), "  a channel",
                shapes.isEmpty
                    ? "  of events that nobody describes"
                    : "  of events \(shapes.joined(separator: " or "))",
                "  keeps \(cell(row["events"])) events and \(cell(row["bytes"])) bytes",
                publishers.isEmpty
                    ? "  published by clients alone"
                    : "  published by \(publishers.joined(separator: ", "))",
            ]
            + (row["followers"]?.array ?? []).map {
                "  followed by \(cell($0["symbol"])) (\(cell($0["device"])))"
            }
    }

    private static func stages(
        of route: Value, _ devices: [String: String], depth: Int
    ) -> [String] {
        let indent = String(repeating: "  ", count: depth)
        var lines: [String] = []
        for (index, stage) in (route["stages"]?.array ?? []).enumerated() {
            lines.append(indent + line(index, stage, devices))
            for (number, branch) in (stage["branches"]?.array ?? []).enumerated() {
                lines.append("\(indent)  branch \(number)")
                lines += stages(of: branch, devices, depth: depth + 2)
            }
        }
        if let last = route["finally"]?.text {
            lines.append("\(indent)finally  \(Output.plain(last))")
        }
        return lines
    }

    private static func line(_ index: Int, _ stage: Value, _ devices: [String: String]) -> String {
        let kind = stage["kind"]?.text ?? "?"
        let notes = (stage["notes"]?.array ?? []).compactMap(\.text)
        var words = ["\(index)", notes.isEmpty ? kind : notes.joined(separator: ", ")]
        if let symbol = stage["symbol"]?.text {
            words.append(devices[symbol].map { "\(symbol) (\($0))" } ?? symbol)
        }
        for target in (stage["diverts"]?.array ?? []).compactMap(\.text) {
            words.append("may divert to \(target)")
        }
        if let shape = stage["shape"]?.text, !shape.isEmpty { words.append("→ \(shape)") }
        if let place = PipeGraph.place(of: stage) { words.append(place) }
        return words.map(Output.plain).joined(separator: "  ")
    }
}
