import DeviceKit

/// The pipes of a kernel as a graph: what its region `Kernel.Pipes` holds, by nodes and edges, for
/// any language that draws them.
struct PipeGraph {
    struct Node: Equatable {
        enum Shape: Equatable {
            /// Where requests enter.
            case entry
            /// A symbol that a device answers.
            case symbol
            /// Code of the device that bound the pipe.
            case closure
            /// What the kernel does by itself.
            case kernel
            case finally
        }

        var id: String
        var shape: Shape
        /// Lines of text.
        var lines: [String]
    }

    struct Edge: Equatable {
        enum Kind: Equatable {
            case forward
            /// The value is shown and stays.
            case tap
            /// To the pipe of a symbol that a stage visits or diverts to.
            case link(String)
            case finally
        }

        var from: String
        var to: String
        var kind: Kind
        /// The shape of the value, where it is known.
        var label: String

        init(from: String, to: String, kind: Kind, label: String) {
            self.from = from
            self.to = to
            self.kind = kind
            let isLong = label.count > PipeGraph.longestLabel
            self.label = isLong ? label.prefix(PipeGraph.longestLabel - 1) + "…" : label
        }
    }

    /// One pipe: its nodes stand together.
    struct Cluster: Equatable {
        var id: String
        var title: String
        var nodes: [Node]
        var edges: [Edge]
    }

    /// Characters of a label; the shape of a large type would push everything apart.
    static let longestLabel = 48

    /// Where a stage stands in the source, if its device says so.
    static func place(of stage: Value) -> String? {
        guard let file = stage["file"]?.text, !file.isEmpty else { return nil }
        return "\(file):\(stage["line"]?.int ?? 0)"
    }

    private(set) var clusters: [Cluster] = []
    /// Between pipes.
    private(set) var links: [Edge] = []

    /// - Parameters:
    ///   - pipes: the rows of `Kernel.Pipes`.
    ///   - symbols: the rows of `Kernel.Symbols`.
    ///   - channels: the rows of `Kernel.Channels`.
    init(pipes: [Value], symbols: [Value], channels: [Value] = []) {
        let devices = Dictionary(
            symbols.map { ($0["name"]?.text ?? "", $0["device"]?.text ?? "kernel") }
        ) { $1 }
        let entries = Dictionary(
            pipes.enumerated().map { ($1["symbol"]?.text ?? "", "p\($0)") }
        ) { $1 }
        for (index, pipe) in pipes.enumerated() {
            var walk = Walk(id: "p\(index)", devices: devices, entries: entries)
            walk.pipe(pipe)
            let title = "\(pipe["symbol"]?.text ?? "") (\(pipe["device"]?.text ?? ""))"
            clusters.append(
                Cluster(id: "c\(index)", title: title, nodes: walk.nodes, edges: walk.edges))
            links += walk.links
        }
        for (index, channel) in channels.enumerated() { draw(channel, "k\(index)", entries) }
    }

    /// A channel with who publishes and who follows; a follower that is a pipe leads into it.
    private mutating func draw(_ channel: Value, _ id: String, _ entries: [String: String]) {
        var nodes = [Node(id: id, shape: .kernel, lines: [channel["name"]?.text ?? ""])]
        var edges: [Edge] = []
        for (index, device) in (channel["publishers"]?.array ?? []).enumerated() {
            nodes.append(Node(id: "\(id)_p\(index)", shape: .entry, lines: [device.text ?? ""]))
            edges.append(Edge(from: "\(id)_p\(index)", to: id, kind: .forward, label: "publish"))
        }
        for (index, follower) in (channel["followers"]?.array ?? []).enumerated() {
            let symbol = follower["symbol"]?.text ?? ""
            let node = "\(id)_f\(index)"
            nodes.append(
                Node(id: node, shape: .symbol, lines: [symbol, follower["device"]?.text ?? "?"]))
            edges.append(Edge(from: id, to: node, kind: .forward, label: "follow"))
            if let entry = entries[symbol] {
                links.append(Edge(from: node, to: entry, kind: .link("pipe"), label: "pipe"))
            }
        }
        clusters.append(
            Cluster(
                id: "c\(id)", title: "channel \(channel["name"]?.text ?? "")", nodes: nodes,
                edges: edges))
    }
}

/// A walk along the stages of one pipe.
private struct Walk {
    /// Of the node where requests enter.
    let id: String
    let devices: [String: String]
    let entries: [String: String]
    private(set) var nodes: [PipeGraph.Node] = []
    private(set) var edges: [PipeGraph.Edge] = []
    private(set) var links: [PipeGraph.Edge] = []

    init(id: String, devices: [String: String], entries: [String: String]) {
        self.id = id
        self.devices = devices
        self.entries = entries
    }

    mutating func pipe(_ pipe: Value) {
        node(id, .entry, [pipe["symbol"]?.text ?? ""])
        let last = route(pipe, from: id, label: pipe["takes"]?.text ?? "")
        node("\(id)_end", .entry, ["End"])
        edges.append(
            PipeGraph.Edge(from: last.from, to: "\(id)_end", kind: .forward, label: last.label))
    }

    /// - Returns: the node where it ends, and the type that leaves it.
    private mutating func route(
        _ route: Value, from start: String, label: String, prefix: String? = nil
    ) -> (from: String, label: String) {
        var here = (from: start, label: label)
        let prefix = prefix ?? id
        for (index, stage) in (route["stages"]?.array ?? []).enumerated() {
            here = self.stage(stage, "\(prefix)_\(index)", after: here)
        }
        if let last = route["finally"]?.text {
            node("\(prefix)_finally", .finally, ["finally", last])
            edges.append(
                PipeGraph.Edge(from: here.from, to: "\(prefix)_finally", kind: .finally, label: ""))
        }
        return here
    }

    private mutating func stage(
        _ stage: Value, _ id: String, after here: (from: String, label: String)
    ) -> (from: String, label: String) {
        let symbol = stage["symbol"]?.text ?? ""
        let kind = stage["kind"]?.text ?? ""
        let shape = stage["shape"]?.text ?? ""
        let notes = (stage["notes"]?.array ?? []).compactMap(\.text).joined(separator: ", ")
        let place = PipeGraph.place(of: stage) ?? ""
        switch kind {
        case "fork":
            node(id, .kernel, ["fork", place])
            edge(here, id)
            let branches = (stage["branches"]?.array ?? []).enumerated().map { number, branch in
                route(branch, from: id, label: here.label, prefix: "\(id)_\(number)")
            }
            let join = "\(id)_join"
            node(join, .kernel, ["join"])
            for branch in branches { edge(branch, join) }
            return (join, shape)
        case "withRequest":
            node(id, .kernel, ["with request", place])
        case "closure", "effect":
            node(id, .closure, [notes, symbol, place])
        default:
            node(id, .symbol, [symbol, devices[symbol] ?? "?", place])
            if let entry = entries[symbol] { link(id, entry, "pipe") }
        }
        for target in (stage["diverts"]?.array ?? []).compactMap(\.text) {
            if let entry = entries[target] { link(id, entry, "divert") }
        }
        guard kind == "tap" else {
            edge(here, id)
            return (id, shape)
        }
        // The value goes past the symbol.
        edges.append(PipeGraph.Edge(from: here.from, to: id, kind: .tap, label: "tap"))
        return here
    }

    private mutating func node(_ id: String, _ shape: PipeGraph.Node.Shape, _ lines: [String]) {
        nodes.append(PipeGraph.Node(id: id, shape: shape, lines: lines.filter { !$0.isEmpty }))
    }

    private mutating func edge(_ from: (from: String, label: String), _ to: String) {
        edges.append(
            PipeGraph.Edge(from: from.from, to: to, kind: .forward, label: from.label))
    }

    private mutating func link(_ from: String, _ to: String, _ word: String) {
        links.append(PipeGraph.Edge(from: from, to: to, kind: .link(word), label: word))
    }
}
