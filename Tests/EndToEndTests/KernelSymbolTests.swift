import DeviceKit
import Testing

extension EndToEnd {
    /// What the kernel's own symbols and the verbs of the shell say of what they do not understand.
    @Suite struct KernelSymbols {
        static let zoo = [Animal(name: "zoo", answers: ["echo"])]

        /// By the symbol: what it needs, or nothing; and payloads that are wrong for it alone, each
        /// with what is said of it.
        static let symbols: [String: (needs: String?, wrong: [(json: String, said: String)])] = [
            "Kernel.Device.kill": (
                "device",
                [
                    (#"{"device": "zoo", "signal": true}"#, #""signal" is true, neither"#),
                    (#"{"device": "zoo", "signal": 99}"#, #"there is no signal "99": say a name"#),
                    (#"{"device": "zoo", "swap": true}"#, #"there is no "swap""#),
                    (#"{"device": ""}"#, #"there is no device ""; there are zoo"#),
                    (#""nobody""#, #"there is no device "nobody"; there are zoo"#),
                ]
            ),
            "Kernel.Device.restart": (
                "device",
                [(#"{"device": "zoo", "swap": "yes"}"#, #""swap" is "yes", neither true nor"#)]
            ),
            "Kernel.Device.swap": ("device", [(#"{"device": 1}"#, #""device" is 1, no text"#)]),
            "Kernel.Device.stop": ("device", [(#"{"device": 1}"#, #""device" is 1, no text"#)]),
            "Kernel.Device.start": ("device", [(#"{"device": 1}"#, #""device" is 1, no text"#)]),
            "Kernel.shutdown": (nil, []),
            "Kernel.Errors.dismiss": (nil, []),
            "Kernel.Flow.cancel": (
                "flow",
                [
                    (#""x""#, #"as `concentric trace --json` names it, not "x""#),
                    (#"{"flow": 11}"#, #""flow" is 11, no text"#),
                    (#"{"flow": "1-1"}"#, "no flow 1-1 runs, or it is at its end"),
                ]
            ),
            "Kernel.Trace.capture": ("on", [(#"{"on": "yes"}"#, #""on" is "yes", neither true"#)]),
            "Kernel.Trace.read": (
                "",
                [
                    (#"{"after": "x"}"#, #""after" is "x", no whole number from 0"#),
                    (#"{"hold": -1}"#, #""hold" is -1, no whole number from 0"#),
                    (#"{"running": 1}"#, #""running" is 1, neither true nor false"#),
                ]
            ),
            "Kernel.History.read": (
                "region",
                [
                    (#"{"region": "nowhere"}"#, "there is no region nowhere; there are"),
                    (#"{"region": "Kernel.Host"}"#, "Kernel.Host is the kernel's own"),
                    (#"{"region": "nowhere", "last": 1.5}"#, #""last" is 1.5, no whole number"#),
                ]
            ),
            "Kernel.History.preview": (
                "",
                [
                    ("{}", "say one of them"), ("null", "say one of them"),
                    (#"{"revision": "1-1", "steps": 1}"#, "say one of them"),
                    (#"{"revision": "x"}"#, #""revision" is "x", no revision"#),
                    (#"{"steps": "x"}"#, #""steps" is "x", no whole number"#),
                ]
            ),
            "Kernel.History.leave": (nil, []),
        ]

        /// What fits nowhere.
        static let strange = ["11", "-1", "1.5", "true", "[]", #"["zoo"]"#]

        @Test func `every symbol of the kernel says what of a wrong payload is wrong`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let names = (try instance.json("symbols").array ?? []).compactMap { row in
                    row["kind"] == "kernel" ? row["name"]?.text : nil
                }
                #expect(Set(names) == Set(Self.symbols.keys), "a row for each")
                let before = try instance.device("zoo")
                let huge = String(repeating: "x", count: 100_000)
                for (symbol, row) in Self.symbols {
                    func expect(_ json: String, _ said: String) throws {
                        let outcome = try instance.run("call", symbol, json)
                        let place = "\(symbol) \(json.prefix(60)): \(outcome)"
                        #expect(!outcome.succeeded && outcome.out == "", "\(place)")
                        let lines = outcome.err.split(separator: "\n")
                        #expect(lines.count == 1 && lines[0].utf8.count < 500, "\(place)")
                        #expect(outcome.err.contains(said), "\(place) does not say \(said)")
                    }
                    for json in Self.strange {
                        let value = try Value.parse(json: json)
                        try expect(json, ", not \(value.json())")
                    }
                    try expect(#"{"nonsense": 1}"#, #"there is no "nonsense""#)
                    try expect(#"{"\#(huge)": 1}"#, "there is no \"xxx")
                    try expect(#"[1, "\#(huge)"]"#, ", not [1,\"xxx")
                    if let needed = row.needs, !needed.isEmpty {
                        for json in ["null", "{}", "{\"\(needed)\": null}"] {
                            try expect(json, "\(symbol) takes {\"\(needed)\": ")
                            try expect(json, "\"\(needed)\" is missing")
                        }
                    } else if row.needs == nil {
                        try expect(#""zoo""#, #"\#(symbol) takes nothing, not "zoo""#)
                    }
                    for (json, said) in row.wrong { try expect(json, said) }
                }
                #expect(try instance.device("zoo") == before, "nothing was done")
            }
        }

        static let verbs: [(words: [String], status: Int32, said: String)] = [
            (["call", "Zoo.echo", "{a}"], 65, "call: the payload is not JSON: "),
            (["call", "Zoo.echo", "1", "--deadline", "0"], 64, "call: --deadline wants milliseco"),
            (["call", "No.where"], 69, "call: unbound: "),
            (["dispatch", "No.where"], 69, "dispatch:"),
            (["publish", "No.where"], 69, "publish: unbound: "),
            (["follow", "No.where"], 69, "follow: unbound: "),
            (["follow", "C", "--after", "x"], 64, "follow: --after wants the number of an event"),
            (["history", "No.where"], 69, "history: unbound: there is no region No.where"),
            (
                ["history", "R", "--limit", "0"], 64,
                "history: --limit wants a number of changes, 1"
            ),
            (["buffer", "No.where"], 69, "buffer: unbound: "),
            (["buffer", "R", "--at", "x"], 64, "buffer: --at wants a revision, EPOCH-COUNTER or"),
            (["buffer", "R", "--at", "1", "--watch"], 64, "buffer: the past does not change"),
            (["describe", "No.where"], 69, "describe: unbound: there is no symbol or channel"),
            (["log", "nobody"], 69, "log: unbound: there is no device nobody"),
            (["log", "--lines", "x"], 64, "log: --lines wants a whole number from 0, not x"),
            (["graph", "--format", "svg"], 64, "graph: --format wants mermaid, dot or json"),
            (["cancel", "x"], 64, "cancel: FLOW is #NUMBER or EPOCH-NUMBER"),
            (["cancel", "#4711"], 69, "cancel: unavailable: no flow "),
            (["kill", "zoo", "--signal", "no"], 65, #"there is no signal "no": say a name such"#),
            (
                ["kill", "nobody"], 69,
                #"kill: unbound: there is no device "nobody"; there are zoo"#
            ),
            (["restart", "nobody"], 69, #"restart: unbound: there is no device "nobody""#),
            (["stop", "nobody"], 69, #"stop: unbound: there is no device "nobody""#),
            (["start", "zoo/2"], 69, #"start: unbound: there is no device "zoo/2""#),
            (["up", "--json"], 64, "up: --json goes with --detach"),
            (["up", "now"], 64, "up: “now” is one word too many"),
            (["attach", "now"], 64, "attach: "),
            (["down", "now"], 64, "down: “now” is one word too many; usage: concentric down"),
            (["trace", "--chrome", "/nowhere/x"], 74, "trace: "),
            (["new", "device"], 64, "new: NAME is missing"),
            (["errors", "now"], 64, "errors: "), (["doctor", "now"], 64, "doctor: "),
            (["ps", "now"], 64, "ps: "), (["symbols", "now"], 64, "symbols: "),
        ]

        @Test func `every verb says of what it cannot do what, where and what to do`() throws {
            let told = Set(Self.verbs.map { $0.words[0] })
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let help = try instance.run("--help").out.split(separator: "\n")
                let verbs = help.filter { $0.hasPrefix("  ") }.compactMap {
                    $0.split(separator: " ").first.map(String.init)
                }
                #expect(verbs.count > 20)
                #expect(Set(verbs).subtracting(told) == [], "a row for each")
                for (words, status, said) in Self.verbs {
                    let outcome = try instance.start(words).finish()
                    #expect(outcome.status == status && outcome.out == "", "\(words): \(outcome)")
                    let lines = outcome.err.split(separator: "\n")
                    #expect(lines.count == 1, "\(words): \(outcome.err)")
                    #expect(outcome.err.contains(said), "\(words): \(outcome.err)")
                    #expect(lines.first?.last?.isWhitespace == false)
                    #expect(outcome.err.hasPrefix("concentric: \(words[0]): "), "\(outcome.err)")
                }
            }
        }
    }
}
