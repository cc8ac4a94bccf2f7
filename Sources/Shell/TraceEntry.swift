import DeviceKit

/// An entry of the trace as the kernel tells it: the end of a visit or of a flow, or one that runs.
struct TraceEntry {
    let value: Value
    let isVisit: Bool
    let flow: String
    let root: String
    let symbol: String
    let verb: String
    let step: Int64
    /// Microseconds since 1970, and how many it took.
    let begin: Int64
    let duration: Int64

    /// Nil for what no kernel of this build says.
    init?(_ value: Value) {
        guard let flow = value["flow"]?.text, let root = value["root"]?.text,
            let symbol = value["symbol"]?.text, let begin = value["begin"]?.int,
            let duration = value["duration"]?.int
        else { return nil }
        self.value = value
        self.flow = flow
        self.root = root
        self.symbol = symbol
        self.begin = begin
        self.duration = duration
        isVisit = value["kind"]?.text == "visit"
        verb = value["verb"]?.text ?? "?"
        step = value["step"]?.int ?? 0
    }

    var end: Int64 { begin &+ duration }
    var isRoot: Bool { !isVisit && flow == root }
    var isRunning: Bool { verb == "running" }
    /// The flow above, and the step of it that asked.
    var parent: String? { value["parent"]?.text }
    var under: Int64 { value["under"]?.int ?? 0 }
    var device: String { value["device"]?.text ?? "" }
    var incarnation: Int64 { value["incarnation"]?.int ?? 0 }

    /// The code of its error, where a divert went.
    var detail: String? { value["code"]?.text ?? value["target"]?.text }

    /// The number of a flow without the kernel's start.
    static func short(_ flow: String) -> String {
        "#" + (flow.split(separator: "-").last.map(String.init) ?? flow)
    }
}
