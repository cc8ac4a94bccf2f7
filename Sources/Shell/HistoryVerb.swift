import DeviceKit

/// `history`: who changed a region, and when; and what it was then.
@LoopActor
enum HistoryVerb {
    static func run(_ arguments: Arguments) async throws {
        let words = arguments.words
        var limit: Int64?
        if let text = arguments.option("--limit") {
            guard let number = Int64(text), number > 0 else {
                throw UsageError(
                    message: "--limit wants a number of changes, 1 or more, not \(text)")
            }
            limit = number
        }
        let kernel = try await Verbs.connect(arguments)
        var payload: [String: Value] = ["region": .text(words[0])]
        if let limit { payload["last"] = .int(limit) }
        var entries: [Value] = []
        while true {
            let page = try await kernel.call("Kernel.History.read", .map(payload))
            let new = page["entries"]?.array ?? []
            if arguments.isJSON {
                for entry in new { Output.line(entry.json()) }
            } else {
                entries += new
            }
            guard !new.isEmpty, let next = page["next"]?.int, next < page["last"]?.int ?? 0 else {
                if !arguments.isJSON { show(entries, of: page) }
                return
            }
            payload["after"] = .int(next)
            payload["last"] = nil
        }
    }

    private static func show(_ entries: [Value], of page: Value) {
        let oldest = page["oldest"]?.text ?? "?"
        guard !entries.isEmpty else {
            let region = page["region"]?.text.map(Output.plain) ?? "it"
            if page["depth"] == 0 {
                return Output.complain(
                    "\(region) keeps no history: its manifest says so (`history` of its region)")
            }
            return Output.complain("\(region) has not changed since \(oldest)")
        }
        let columns = ["revision", "at", "flow", "symbol", "device", "operations", "bytes"]
        Output.table(
            ["REVISION", "AT", "FLOW", "SYMBOL", "DEVICE", "OPERATIONS", "BYTES"],
            entries.map { entry in
                columns.map { name in
                    let value = entry[name] ?? .null
                    return value.date.flatMap(DateText.print) ?? value.cell
                }
            })
    }

    /// A region as it was at a revision.
    static func value(
        of region: String, at text: String, _ arguments: Arguments
    ) async throws -> (revision: Revision, value: Value) {
        guard !arguments.has("--watch") else {
            throw UsageError(message: "the past does not change: say --watch or --at")
        }
        guard !region.hasPrefix("Kernel.") else {
            throw KernelError(
                .denied,
                "\(region) is the kernel's own: regions named Kernel.* have no history",
                outcome: .none)
        }
        let counter = text.first == "+" ? nil : UInt64(text)
        guard counter != nil || Revision(text) != nil else {
            throw UsageError(
                message: "--at wants a revision, EPOCH-COUNTER or COUNTER, not \(text)")
        }
        let kernel = try await Verbs.connect(arguments)
        let revision =
            Revision(text) ?? Revision(epoch: kernel.epoch, counter: counter ?? 0)
        // What is followed in the past is sent as it was.
        try await kernel.preview(revision)
        try await kernel.follow(region) { _ in }
        guard let state = kernel.value(of: region) else {
            throw KernelError(.kernelLost, "the kernel did not send \(region)")
        }
        return state
    }
}
