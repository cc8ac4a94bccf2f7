import DeviceKit
import Testing

@testable import Shell

/// The wiring graph as text.
@Suite struct PipeGraphTests {
    private static func stage(
        _ kind: String, _ symbol: String? = nil, line: Int64, notes: [Value] = [],
        shape: String = "int", more: [String: Value] = [:]
    ) -> Value {
        let map: [String: Value] = [
            "kind": .text(kind), "symbol": symbol.map(Value.text) ?? .null, "file": "A/a.swift",
            "line": .int(line), "notes": .array(notes), "shape": .text(shape),
        ]
        return .map(map.merging(more) { $1 })
    }

    private static func route(_ stages: [Value], finally last: String? = nil) -> Value {
        .map(["stages": .array(stages), "finally": last.map(Value.text) ?? .null])
    }

    private static func pipe(_ name: String, _ route: Value) -> Value {
        .map(
            (route.map ?? [:]).merging([
                "symbol": .text(name), "device": "a", "takes": "text", "gives": "int",
            ]) { $1 })
    }

    /// Every connector, and one pipe that leads to another.
    private static let all = PipeGraph(
        pipes: [
            pipe(
                "A.all",
                route(
                    [
                        stage("pipe", "B.work", line: 1), stage("tap", "A.log", line: 2),
                        stage(
                            "closure", "A.all#2", line: 3, notes: ["map", "verb"],
                            more: ["diverts": ["A.log"]]),
                        stage("withRequest", line: 4, shape: "(text, int)"),
                        stage("effect", "A.all#4", line: 5, notes: ["effect"]),
                        stage(
                            "fork", line: 6, shape: "[int]",
                            more: [
                                "branches": .array([
                                    route([stage("pipe", "B.work", line: 7)]),
                                    route(
                                        [stage("closure", "A.all#5.1#0", line: 8, notes: ["map"])],
                                        finally: "A.all#5.1#finally"),
                                ])
                            ]),
                    ], finally: "A.all#finally")),
            pipe("A.log", route([])),
        ],
        symbols: [
            .map(["name": "B.work", "device": "b"]), .map(["name": "A.log", "device": "a"]),
        ])

    @Test(arguments: [nil, "", "a.swift"] as [String?])
    func `a stage whose device does not say where it stands is drawn without a place`(
        _ file: String?
    ) {
        let place = ["file": file.map(Value.text) ?? .null]
        let graph = PipeGraph(
            pipes: [
                Self.pipe("A.one", Self.route([Self.stage("withRequest", line: 3, more: place)]))
            ], symbols: [])
        #expect(graph.mermaid.contains(":3") == (file == "a.swift"), "\(graph.mermaid)")
    }

    @Test func `a pipe of every connector in Mermaid`() {
        #expect(
            Self.all.mermaid == """
                flowchart LR
                  subgraph c0["A.all (a)"]
                    p0(["A.all"])
                    p0_0[["B.work<br/>b<br/>A/a.swift:1"]]
                    p0_1[["A.log<br/>a<br/>A/a.swift:2"]]
                    p0_2("map, verb<br/>A.all#35;2<br/>A/a.swift:3")
                    p0_3{{"with request<br/>A/a.swift:4"}}
                    p0_4("effect<br/>A.all#35;4<br/>A/a.swift:5")
                    p0_5{{"fork<br/>A/a.swift:6"}}
                    p0_5_0_0[["B.work<br/>b<br/>A/a.swift:7"]]
                    p0_5_1_0("map<br/>A.all#35;5.1#35;0<br/>A/a.swift:8")
                    p0_5_1_finally>"finally<br/>A.all#35;5.1#35;finally"]
                    p0_5_join{{"join"}}
                    p0_finally>"finally<br/>A.all#35;finally"]
                    p0_end(["End"])
                    p0 -->|"text"| p0_0
                    p0_0 -.->|"tap"| p0_1
                    p0_0 -->|"int"| p0_2
                    p0_2 -->|"int"| p0_3
                    p0_3 -->|"(text, int)"| p0_4
                    p0_4 -->|"int"| p0_5
                    p0_5 -->|"int"| p0_5_0_0
                    p0_5 -->|"int"| p0_5_1_0
                    p0_5_1_0 -.-> p0_5_1_finally
                    p0_5_0_0 -->|"int"| p0_5_join
                    p0_5_1_0 -->|"int"| p0_5_join
                    p0_5_join -.-> p0_finally
                    p0_5_join -->|"[int]"| p0_end
                  end
                  subgraph c1["A.log (a)"]
                    p1(["A.log"])
                    p1_end(["End"])
                    p1 -->|"text"| p1_end
                  end
                  p0_1 -.->|"pipe"| p1
                  p0_2 -.->|"divert"| p1
                """)
    }

    @Test func `a pipe of every connector in DOT`() {
        #expect(
            Self.all.dot == """
                digraph pipes {
                  rankdir=LR
                  node [fontname="sans-serif"]
                  subgraph cluster_c0 {
                    label="A.all (a)"
                    p0 [label="A.all", shape=oval]
                    p0_0 [label="B.work\\nb\\nA/a.swift:1", shape=component]
                    p0_1 [label="A.log\\na\\nA/a.swift:2", shape=component]
                    p0_2 [label="map, verb\\nA.all#2\\nA/a.swift:3", shape=box, style=rounded]
                    p0_3 [label="with request\\nA/a.swift:4", shape=hexagon]
                    p0_4 [label="effect\\nA.all#4\\nA/a.swift:5", shape=box, style=rounded]
                    p0_5 [label="fork\\nA/a.swift:6", shape=hexagon]
                    p0_5_0_0 [label="B.work\\nb\\nA/a.swift:7", shape=component]
                    p0_5_1_0 [label="map\\nA.all#5.1#0\\nA/a.swift:8", shape=box, style=rounded]
                    p0_5_1_finally [label="finally\\nA.all#5.1#finally", shape=cds]
                    p0_5_join [label="join", shape=hexagon]
                    p0_finally [label="finally\\nA.all#finally", shape=cds]
                    p0_end [label="End", shape=oval]
                    p0 -> p0_0 [label="text"]
                    p0_0 -> p0_1 [label="tap", style=dashed]
                    p0_0 -> p0_2 [label="int"]
                    p0_2 -> p0_3 [label="int"]
                    p0_3 -> p0_4 [label="(text, int)"]
                    p0_4 -> p0_5 [label="int"]
                    p0_5 -> p0_5_0_0 [label="int"]
                    p0_5 -> p0_5_1_0 [label="int"]
                    p0_5_1_0 -> p0_5_1_finally [style=dashed]
                    p0_5_0_0 -> p0_5_join [label="int"]
                    p0_5_1_0 -> p0_5_join [label="int"]
                    p0_5_join -> p0_finally [style=dashed]
                    p0_5_join -> p0_end [label="[int]"]
                  }
                  subgraph cluster_c1 {
                    label="A.log (a)"
                    p1 [label="A.log", shape=oval]
                    p1_end [label="End", shape=oval]
                    p1 -> p1_end [label="text"]
                  }
                  p0_1 -> p1 [label="pipe", style=dashed]
                  p0_2 -> p1 [label="divert", style=dashed]
                }
                """)
    }

    @Test func `no name leaves its quotes`() {
        let evil = "a\"]\\; --> <b>`#&\n\u{1B}"
        let graph = PipeGraph(
            pipes: [Self.pipe(evil, Self.route([Self.stage("pipe", evil, line: 1, shape: evil)]))],
            symbols: [])
        let safe = "a#quot;]\\; --#gt; #lt;b#gt;#96;#35;#amp;\u{FFFD}\u{FFFD}"
        #expect(graph.mermaid.contains("p0([\"\(safe)\"])"))
        for line in graph.mermaid.split(separator: "\n") {
            #expect(line.count { $0 == "\"" }.isMultiple(of: 2))
            #expect(!line.contains("--> <b>"))
        }
        #expect(graph.dot.contains("p0 [label=\"a\\\"]\\\\; --> <b>`#&\u{FFFD}\u{FFFD}\", shape"))
    }

    @Test func `a long shape is cut`() {
        let long = String(repeating: "x", count: 500)
        let graph = PipeGraph(
            pipes: [
                Self.pipe("A.b", Self.route([Self.stage("pipe", "B.c", line: 1, shape: long)]))
            ], symbols: [])
        #expect(graph.clusters[0].edges.allSatisfy { $0.label.count <= PipeGraph.longestLabel })
        #expect(graph.clusters[0].edges.last?.label.hasSuffix("…") == true)
    }

    @Test func `no pipes are an empty graph`() {
        #expect(PipeGraph(pipes: [], symbols: []).mermaid == "flowchart LR")
        #expect(PipeGraph(pipes: [], symbols: []).dot.hasSuffix("}"))
    }

    @Test func `a pipe is described by its stages`() {
        let row: Value = .map([
            "name": "A.all", "device": "a", "kind": "pipe", "replay": "keyed", "lane": "l",
            "summary": "Does all.", "attempt": 3_000, "deadline": 10_000, "takes": "text",
            "gives": "",
        ])
        let pipe = Self.route(
            [
                Self.stage(
                    "closure", "A.all#0", line: 3, notes: ["verb"],
                    more: ["diverts": ["A.log"]]),
                Self.stage(
                    "fork", line: 4, shape: "",
                    more: [
                        "branches": .array([Self.route([Self.stage("pipe", "B.work", line: 5)])])
                    ]),
            ], finally: "A.all#finally")
        let described = Description(
            row, pipe, symbols: [.map(["name": "B.work", "device": "b"])])
        #expect(
            described.lines == [
                "A.all", "  Does all.", "  takes text", "  answered by a", "  pipe, keyed",
                "  an attempt 3000 ms, a flow 10000 ms, lane l",
                "  0  verb  A.all#0  may divert to A.log  → int  A/a.swift:3",
                "  1  fork  A/a.swift:4", "    branch 0",
                "      0  pipe  B.work (b)  → int  A/a.swift:5", "  finally  A.all#finally",
            ])
        let late = Description(
            .map(["name": "A.b", "device": "a", "kind": .null]), nil, symbols: [])
        #expect(late.lines.last?.contains("not announced") == true)
    }
}
