import DeviceKit

/// What who says `restart`, `start` or `stop` waits for, and when there is nothing to wait for any
/// more: each row of `Kernel.Devices` is wanted, is on its way, or will never be as it was asked.
///
/// The rows are looked at only after the kernel's answer, which comes after the change it made: a
/// state that contradicts what was asked is younger than it. What somebody else has asked
/// meanwhile is told by the row's `asked`, long before the state shows it.
struct Awaited {
    let verb: String
    let swaps: Bool
    /// The incarnation of each seat that served before.
    var before: [String: Int64] = [:]

    enum Judgement: Equatable {
        case wanted
        case pending
        /// It will not be so; why, in one line.
        case failed(String)
    }

    func judge(_ row: Value) -> Judgement {
        if let word = row["asked"]?.text, contradicts(word) {
            return .failed(overtaken(row, by: word))
        }
        if swaps, row["reason"]?.text?.hasPrefix(Self.swapFailed) == true {
            return .failed(failedSwap(row))
        }
        let isNew = (row["incarnation"]?.int ?? 0) > before[Self.name(of: row)] ?? 0
        switch (verb, row["state"]?.text) {
        case ("stop", "stopped"): return .wanted
        case ("stop", "unkillable"): return .failed(Self.explain(row, "is unkillable"))
        case ("stop", _): return .pending
        // One that is late has been ready.
        case ("start", "ready"), ("start", "late"), ("start", "done"): return .wanted
        case (_, "ready"), (_, "late"): return isNew ? .wanted : .pending
        case (_, "done") where isNew: return .wanted
        case (_, "done"), (_, "failed"), (_, "stopped"), (_, "unkillable"):
            return .failed(Self.explain(row, "is \(row["state"]?.text ?? "?")"))
        default: return .pending
        }
    }

    static func name(of row: Value) -> String { row["name"]?.text ?? "?" }

    /// What the row says of why it is not so, in the words of whoever knows most.
    static func explain(_ row: Value, _ what: String) -> String {
        let name = name(of: row)
        let reason = row["reason"]?.text ?? ""
        let why = reason.isEmpty ? row["lastExit"]?.text ?? "" : reason
        return "\(name) \(what)\(why.isEmpty ? "" : " (\(why))"): see `concentric log \(name)`"
    }

    // MARK: - What came instead

    private static let swapFailed = "swap failed: "

    /// Of who wants a process and who wants none, the last one has it; any two of the same side are
    /// content with the same end.
    private func contradicts(_ word: String) -> Bool {
        let isEnd = ["stop", "down"].contains(word)
        return isEnd != (verb == "stop") && (isEnd || ["start", "restart", "swap"].contains(word))
    }

    private func overtaken(_ row: Value, by word: String) -> String {
        let command = swaps ? "\(verb) --swap" : verb
        let what =
            switch word {
            case "down": "the kernel was told to end"
            case "swap": "`restart --swap` was asked for"
            default: "`\(word)` was asked for"
            }
        return "\(Self.name(of: row)): `\(command)` will not be done, for \(what) meanwhile: see "
            + "`concentric ps`"
    }

    private func failedSwap(_ row: Value) -> String {
        let name = Self.name(of: row)
        let isServed = ["ready", "late"].contains(row["state"]?.text)
        let rest =
            isServed ? "the process that served goes on" : "the process that served is gone, too"
        return "\(name): \(row["reason"]?.text ?? ""); \(rest): see `concentric log \(name)`"
    }
}
