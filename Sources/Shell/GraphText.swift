import DeviceKit

extension PipeGraph {
    // MARK: - Mermaid

    /// A flowchart in Mermaid. Every text is quoted, and what Mermaid reads in quotes is written
    /// as entities, so that any name whatever can be drawn.
    var mermaid: String {
        var lines = ["flowchart LR"]
        for cluster in clusters {
            lines.append("  subgraph \(cluster.id)[\(Self.mermaid(cluster.title))]")
            lines += cluster.nodes.map { "    \(Self.mermaid($0))" }
            lines += cluster.edges.map { "    \(Self.mermaid($0))" }
            lines.append("  end")
        }
        lines += links.map { "  \(Self.mermaid($0))" }
        return lines.joined(separator: "\n")
    }

    private static func mermaid(_ text: String) -> String {
        var quoted = ""
        for scalar in Output.plain(text).unicodeScalars {
            switch scalar {
            case "\"": quoted += "#quot;"
            case "#": quoted += "#35;"
            case "<": quoted += "#lt;"
            case ">": quoted += "#gt;"
            case "&": quoted += "#amp;"
            case "`": quoted += "#96;"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted)\""
    }

    private static func mermaid(_ node: Node) -> String {
        let text =
            "\"" + node.lines.map { mermaid($0).dropFirst().dropLast() }.joined(separator: "<br/>")
            + "\""
        return switch node.shape {
        case .entry: "\(node.id)([\(text)])"
        case .symbol: "\(node.id)[[\(text)]]"
        case .closure: "\(node.id)(\(text))"
        case .kernel: "\(node.id){{\(text)}}"
        case .finally: "\(node.id)>\(text)]"
        }
    }

    private static func mermaid(_ edge: Edge) -> String {
        let label = edge.label.isEmpty ? "" : "|\(mermaid(edge.label))|"
        return switch edge.kind {
        case .forward: "\(edge.from) -->\(label) \(edge.to)"
        case .tap, .link, .finally: "\(edge.from) -.->\(label) \(edge.to)"
        }
    }

    // MARK: - DOT

    /// A digraph in the language of Graphviz.
    var dot: String {
        var lines = ["digraph pipes {", "  rankdir=LR", "  node [fontname=\"sans-serif\"]"]
        for cluster in clusters {
            lines.append("  subgraph cluster_\(cluster.id) {")
            lines.append("    label=\(Self.dot([cluster.title]))")
            lines += cluster.nodes.map { "    \(Self.dot($0))" }
            lines += cluster.edges.map { "    \(Self.dot($0))" }
            lines.append("  }")
        }
        lines += links.map { "  \(Self.dot($0))" }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private static func dot(_ lines: [String]) -> String {
        let quoted = lines.map { line in
            Output.plain(line).unicodeScalars.reduce(into: "") { text, scalar in
                if scalar == "\"" || scalar == "\\" { text += "\\" }
                text.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted.joined(separator: "\\n"))\""
    }

    private static func dot(_ node: Node) -> String {
        let shape =
            switch node.shape {
            case .entry: "oval"
            case .symbol: "component"
            case .closure: "box, style=rounded"
            case .kernel: "hexagon"
            case .finally: "cds"
            }
        return "\(node.id) [label=\(dot(node.lines)), shape=\(shape)]"
    }

    private static func dot(_ edge: Edge) -> String {
        var attributes: [String] = []
        if !edge.label.isEmpty { attributes.append("label=\(dot([edge.label]))") }
        switch edge.kind {
        case .forward: break
        case .tap, .link, .finally: attributes.append("style=dashed")
        }
        let list = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
        return "\(edge.from) -> \(edge.to)\(list)"
    }
}
