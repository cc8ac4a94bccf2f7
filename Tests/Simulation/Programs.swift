import Control
import Kernel
import Values

/// A route that a client runs, and what must have happened after its success.
struct Program: Sendable {
    var symbol: String
    /// Effects by name, as a function of the payload's number and the result; nil: it must fail.
    var effects: (@Sendable (Int64, Value) -> [String: Value])?
    var isCommand = false
    /// Codes that are no breach.
    var errors: [String] = []
    var number: Int64?
    var hasOwnKey = false
    /// The effect that its `finally` makes.
    var ends: String?
    /// That `finally` is one of a branch, and owed only when the branches have begun.
    var endsBranch = false
    /// The effects of the commands that it sends: they may come after its end.
    var later: Set<String> = []
    /// How often its own code ends its process.
    var traps = 0

    static let all: [String: Program] = [
        "linear": Program(
            symbol: "Circuit.linear",
            effects: { x, _ in
                ["saved": .int(2 * x + 1), "audited": .int(2 * x + 1), "done": .null]
            }, ends: "done"),
        "create": Program(
            symbol: "Circuit.create",
            effects: { x, _ in
                ["busy": .null, "saved": .int(2 * x), "added": .null, "done": .null]
            }, isCommand: true, ends: "done"),
        "update": Program(
            symbol: "Circuit.update",
            effects: { _, result in
                let kept: [String: Value] = ["busy": .null, "done": .null]
                guard let number = result[1].int else { return kept }
                return kept.merging(["saved": .int(number)]) { $1 }
            }, isCommand: true, ends: "done"),
        "imperative": Program(
            symbol: "Circuit.imperative",
            effects: { _, result in
                var made: [String: Value] = [
                    "saved": .int(2 * (result[2].int ?? 0)), "numbered": result[3],
                ]
                if result[1].int == 1 { made["audited"] = result[3] }
                return made
            }),
        "fork": Program(
            symbol: "Circuit.fork",
            effects: { x, _ in ["saved": .int(2 * x), "audited": .int(2 * x)] }),
        "forkfail": Program(
            symbol: "Circuit.forkfail", effects: nil, errors: ["bad"], ends: "done"),
        "deep": Program(
            symbol: "Circuit.deep",
            effects: { x, _ in
                ["saved": .int(2 * x + 2), "audited": .int(2 * x), "done": .null]
            }, ends: "done", endsBranch: true),
        "loop": Program(
            symbol: "Circuit.loop",
            effects: { _, _ in
                var made: [String: Value] = [:]
                for lap in 0..<4 as Range<Int64> {
                    made["row\(lap)"] = .int(lap)
                    made["lap\(lap)"] = .null
                }
                return made
            }, number: 3),
        "mail": Program(
            symbol: "Circuit.mail", effects: { x, _ in ["mail": .int(x)] },
            errors: ["deviceLost"]),
        "own": Program(
            symbol: "Circuit.own", effects: { x, _ in ["saved": .int(x), "audited": .int(x)] },
            number: 7, hasOwnKey: true),
        "race": Program(
            symbol: "Circuit.race",
            effects: { _, _ in ["left": .null, "right": .null, "third": .null] }),
        "outer": Program(
            symbol: "Circuit.outer", effects: { x, _ in ["added": .null, "saved": .int(x)] }),
        "nested": Program(
            symbol: "Circuit.nested", effects: { _, _ in ["added": .null] }, traps: 1),
        "send": Program(
            symbol: "Circuit.send", effects: { _, _ in [:] }, later: ["row1", "row2", "row3"]),
        "watch": Program(
            symbol: "Circuit.watch",
            effects: { x, result in
                let (first, second) = (result[1].int ?? 0, result[2].int ?? 0)
                return [
                    "row\(x)": .int(x), "row\(x + 100)": .int(x + 100),
                    "saved": .int(first), "audited": .int(second),
                ]
            }),
        "trap": Program(symbol: "Compute.trap", effects: { _, _ in [:] }, number: 2, traps: 2),
        "poison": Program(
            symbol: "Compute.trap", effects: nil, errors: ["poisoned"], number: 99),
        "idle": Program(symbol: "Compute.idle", effects: { _, _ in [:] }),
        "wild": Program(
            symbol: "Circuit.wild",
            effects: { _, result in ["row\(result[1].int ?? -1)": result[1]] },
            errors: ["diverged"]),
        "late": Program(symbol: "Circuit.late", effects: nil, errors: ["bad"]),
        "failing": Program(
            symbol: "Circuit.failing", effects: nil, isCommand: true, errors: ["bad"],
            ends: "done"),
    ].merging(channels) { $1 }

    /// Those that need the most rules are run the most.
    static let names =
        all.keys.sorted() + [
            "race", "race", "imperative", "watch", "mail", "forkfail", "send", "tell", "tell",
        ]
}

extension Value {
    /// An element of an array, or null.
    subscript(index: Int) -> Value {
        guard let array, index < array.count else { return .null }
        return array[index]
    }

    /// Whose the value is that goes along a route: `[who, x]`, or a pair of such.
    var who: Value { self[0].array == nil ? self[0] : self[0][0] }
}

/// The devices of the simulation.
enum Kind: String, CaseIterable {
    case compute, circuit, store

    init(of symbol: String) {
        self =
            symbol.hasPrefix("Compute") ? .compute : symbol.hasPrefix("Store") ? .store : .circuit
    }

    var bindings: [Binding] {
        switch self {
        case .compute:
            ["double", "fail", "trap", "idle"].map { .handler("Compute.\($0)", .replayable) }
        case .store: ["save", "audit", "row", "heard"].map { .handler("Store.\($0)", .keyed) }
        case .circuit: Binding.circuit
        }
    }
}

extension StageDescriptor {
    static func of(
        _ kind: Kind, _ symbol: String? = nil, _ branches: [RouteDescriptor] = []
    ) -> StageDescriptor {
        StageDescriptor(
            kind: kind, symbol: symbol, notes: [], shape: "", file: "", line: 0,
            branches: branches)
    }
}

extension Binding {
    static func handler(_ name: String, _ traits: Traits) -> Binding {
        Binding(name: name, traits: traits, stages: nil, last: false)
    }

    private static func pipe(
        _ name: String, _ stages: [(StageDescriptor.Kind, String?)], last: Bool = false,
        lane: String? = nil
    ) -> Binding {
        pipe(name, stages.map { .of($0.0, $0.1) }, last: last, lane: lane)
    }

    private static func pipe(
        _ name: String, _ stages: [StageDescriptor], last: Bool = false, lane: String? = nil
    ) -> Binding {
        Binding(
            name: name, traits: Traits(.replayable, lane: lane), stages: stages, last: last)
    }

    /// Branches of one or two symbols each.
    private static func fork(_ branches: [(String, String?)]) -> StageDescriptor {
        .of(
            .fork, nil,
            branches.map { first, second in
                let names = [first] + (second.map { [$0] } ?? [])
                return RouteDescriptor(stages: names.map { .of(.pipe, $0) }, last: false)
            })
    }

    static let circuit: [Binding] = [
        pipe(
            "Circuit.linear",
            [
                (.pipe, "Compute.double"), (.closure, nil), (.pipe, "Store.save"),
                (.tap, "Store.audit"), (.pipe, "Compute.double"),
            ], last: true),
        pipe(
            "Circuit.create",
            [
                (.effect, nil), (.pipe, "Compute.double"), (.pipe, "Store.save"),
                (.withRequest, nil), (.effect, nil),
            ], last: true, lane: "library"),
        pipe(
            "Circuit.update", [(.effect, nil), (.closure, nil), (.pipe, "Store.save")],
            last: true, lane: "library"),
        pipe("Circuit.failing", [(.pipe, "Compute.fail")], last: true, lane: "library"),
        pipe(
            "Circuit.fork",
            [
                fork([("Compute.double", "Store.save"), ("Compute.double", "Store.audit")]),
                .of(.closure),
            ]),
        pipe(
            "Circuit.forkfail",
            [fork([("Compute.double", "Store.save"), ("Compute.fail", nil)])], last: true),
        Binding(
            name: "Circuit.deep", traits: .replayable,
            stages: [
                StageDescriptor(
                    kind: .fork, symbol: nil, notes: [], shape: "", file: "", line: 0,
                    branches: [
                        RouteDescriptor(
                            stages: [
                                .of(.closure),
                                fork([("Compute.double", "Store.save"), ("Compute.double", nil)]),
                                .of(.closure),
                            ], last: true),
                        RouteDescriptor(
                            stages: [
                                .of(.pipe, "Compute.double"), .of(.tap, "Store.audit"),
                            ], last: false),
                    ])
            ], last: false),
        pipe("Circuit.loop", [(.pipe, "Store.row"), (.closure, nil)], last: true),
        pipe("Circuit.own", [(.pipe, "Store.save"), (.pipe, "Store.audit")]),
        pipe(
            "Circuit.announce",
            [(.pipe, "Compute.double"), (.effect, nil), (.pipe, "Store.save")]),
        handler("Circuit.tell", .replayable), handler("Circuit.heard", .replayable),
        pipe("Circuit.doubled", [(.pipe, "Compute.double"), (.pipe, "Store.save")]),
        handler("Circuit.imperative", .replayable), handler("Circuit.mail", .once),
        handler("Circuit.race", .replayable), handler("Circuit.outer", .replayable),
        handler("Circuit.inner", .replayable), handler("Circuit.nested", .replayable),
        handler("Circuit.wild", .replayable), handler("Circuit.late", .replayable),
        handler("Circuit.send", .replayable), handler("Circuit.watch", .replayable),
        handler("Circuit.same", .replayable),
        handler("Circuit.note", Traits(.replayable, lane: "notes")),
    ]
}

/// The code of the devices: the handler or closure of a name.
enum Handlers {
    static func body(of name: String, _ value: Value) -> Step {
        switch name {
        case "Compute.double": return .done(.array([value[0], .int(2 * (value[1].int ?? 0))]))
        case "Compute.fail": return .asking(.now) { _ in .fail(Failure(code: "bad")) }
        case "Compute.trap":
            return .asking(.trap(value.who, times: value[1].int ?? 0)) { _ in .done(value) }
        case "Compute.idle": return idle(4)
        case "Store.save": return keep("saved", value)
        case "Store.audit": return keep("audited", value)
        case "Store.heard": return channel(name, value) ?? .done(.null)
        case "Store.row": return keep("row\(value[1].int ?? -1)", value)
        case "Circuit.linear#1":
            return .done(.array([value[0], .int((value[1].int ?? 0) + 1)]))
        case "Circuit.create#0", "Circuit.update#0": return busy(value)
        case "Circuit.create#4": return add("added", value[1], then: value)
        case "Circuit.update#1": return choose(value)
        case "Circuit.same": return .asking(.now) { _ in .done(value) }
        case "gone": return .fail(Failure(code: "cancelled"))
        case "Circuit.fork#1", "Circuit.deep#0.0#2": return .done(value[0])
        case "Circuit.deep#0.0#0":
            return .done(.array([value[0], .int((value[1].int ?? 0) + 1)]))
        case "Circuit.loop#1":
            let lap = value[1].int ?? 0
            return lap == 0
                ? .abort(value) : .divert("Circuit.loop", .array([value[0], .int(lap - 1)]))
        case "Circuit.loop#finally": return addLap(value)
        case "Circuit.linear#finally", "Circuit.create#finally", "Circuit.update#finally",
            "Circuit.forkfail#finally", "Circuit.deep#0.0#finally":
            return finish(value)
        case "Circuit.failing#finally":
            return .ask(.call("Circuit.same", value)) { _ in finish(value) }
        default: return Self.circuit(name, value)
        }
    }

    private static func circuit(_ name: String, _ value: Value) -> Step {
        switch name {
        case "Circuit.imperative": imperative(value)
        case "Circuit.inner": add("added", value, then: value)
        case "Circuit.outer":
            .asking(.call("Circuit.inner", value)) { _ in
                .asking(.call("Store.save", value)) { _ in .done(value) }
            }
        case "Circuit.nested":
            .asking(.trap(value.who, times: 1)) { _ in
                .asking(.call("Circuit.inner", value)) { _ in .done(value) }
            }
        case "Circuit.mail":
            .asking(.now) { _ in
                .asking(.outside(Mark(who: value.who, name: "mail", value: value[1]))) { _ in
                    .asking(.call("Compute.double", value)) { _ in .done(value) }
                }
            }
        case "Circuit.race":
            .together(
                [
                    leg("left", value, turns: 1), leg("right", value, turns: 0),
                    leg("third", value, turns: 2),
                ], hashed: false
            ) { _ in .done(value) }
        case "Circuit.late":
            .together(
                [.only(.call("Store.save", value)), .only(.call("Compute.fail", value))],
                hashed: false
            ) { _ in .done(value) }
        case "Circuit.send":
            .together(
                [1, 2, 3].map { .only(.dispatch("Circuit.note", .array([value.who, .int($0)]))) },
                hashed: true
            ) { _ in .asking(.call("Compute.double", value)) { _ in .done(value) } }
        case "Circuit.watch": watch(value)
        case "Circuit.note": .asking(.call("Store.row", value)) { _ in .done(value) }
        case "Circuit.wild": wild(value)
        default: channel(name, value) ?? .fail(Failure(code: "unbound"))
        }
    }

    private static func idle(_ turns: Int) -> Step {
        turns == 0 ? .done(.text("idle")) : .asking(.now) { _ in idle(turns - 1) }
    }

    private static func keep(_ name: String, _ value: Value) -> Step {
        .asking(.transaction(Mark(who: value.who, name: name, value: value[1]))) { _ in .done(value)
        }
    }

    private static func busy(_ value: Value) -> Step {
        let mark = Mark(who: value.who, name: "busy", value: .null)
        let change: ([Value]) -> ([Value], Value) = { _ in ([value.who], .null) }
        return .asking(.commit(["loading"], change, mark)) { _ in .done(value) }
    }

    /// The end of a pipe, in two regions at once.
    private static func finish(_ value: Value) -> Step {
        let mark = Mark(who: value.who, name: "done", value: .null)
        let change: ([Value]) -> ([Value], Value) = { old in
            ([.null, .int((old[1].int ?? 0) + 1)], .null)
        }
        return .asking(.commit(["loading", "number"], change, mark)) { _ in .done(value) }
    }

    private static func add(_ name: String, _ item: Value, then value: Value) -> Step {
        let mark = Mark(who: item.who, name: name, value: .null)
        let change: ([Value]) -> ([Value], Value) = { old in
            ([.array((old[0].array ?? []) + [item])], .null)
        }
        return .asking(.commit(["library"], change, mark)) { _ in .done(value) }
    }

    private static func addLap(_ value: Value) -> Step {
        let mark = Mark(who: value.who, name: "lap\(value[1].int ?? -1)", value: .null)
        let change: ([Value]) -> ([Value], Value) = { old in
            ([.int((old[0].int ?? 0) + 1)], .null)
        }
        return .asking(.commit(["number"], change, mark)) { _ in .done(value) }
    }

    private static func choose(_ value: Value) -> Step {
        .asking(.read("library")) { library in
            let count = library.array?.count ?? 0
            guard count % 2 == 0 else {
                return .abort(.array([value.who, .text("odd"), .int(Int64(count))]))
            }
            return .done(.array([value.who, .int(Int64(count))]))
        }
    }

    /// Two rows at once, and what it read before and after them is saved: `[who, first, second]`.
    private static func watch(_ value: Value) -> Step {
        let who = value.who
        let x = value[1].int ?? 0
        func count(_ library: Value) -> Value { .int(Int64(library.array?.count ?? 0)) }
        let rows = [x, x + 100].map { Step.only(.call("Store.row", .array([who, .int($0)]))) }
        return .asking(.read("library")) { library in
            let first = count(library)
            return .asking(.call("Store.save", .array([who, first]))) { _ in
                .together(rows, hashed: true) { _ in
                    .asking(.read("library")) { library in
                        let second = count(library)
                        return .asking(.call("Store.audit", .array([who, second]))) { _ in
                            .asking(.call("Compute.double", value)) { _ in
                                .done(.array([who, first, second]))
                            }
                        }
                    }
                }
            }
        }
    }

    /// The more turns, the later it commits after its answer.
    private static func leg(_ name: String, _ value: Value, turns: Int) -> Step {
        func commit(_ doubled: Value, after turns: Int) -> Step {
            turns == 0
                ? add(name, doubled, then: value)
                : .asking(.now) { _ in commit(doubled, after: turns - 1) }
        }
        return .asking(.call("Compute.double", value)) { commit($0, after: turns) }
    }

    private static func wild(_ value: Value) -> Step {
        .asking(.wild) { attempt in
            let row: Value = .array([value.who, attempt])
            return .asking(.call("Compute.double", row)) { _ in
                .asking(.call("Store.row", row)) { _ in .done(row) }
            }
        }
    }

    /// Calls in hash order, a read, the time, chance, a pipe, a commit, and a call that depends on
    /// the read. Its result is `[who, odd, dice, number]`.
    private static func imperative(_ value: Value) -> Step {
        let who = value.who
        let x = value[1].int ?? 0
        let calls = [x, x + 1].map { Step.only(.call("Compute.double", .array([who, .int($0)]))) }
        return .together(calls, hashed: true) { _ in
            .asking(.read("library")) { library in
                .asking(.now) { now in
                    .asking(.random) { dice in
                        let odd = Int64((library.array?.count ?? 0) % 2)
                        return .asking(.call("Compute.double", .array([who, now]))) { _ in
                            finish(who, odd, dice)
                        }
                    }
                }
            }
        }
    }

    private static func finish(_ who: Value, _ odd: Int64, _ dice: Value) -> Step {
        let count: ([Value]) -> ([Value], Value) = { old in
            let next = Value.int((old[0].int ?? 0) + 1)
            return ([next], next)
        }
        let mark = Mark(who: who, name: "numbered", value: .null)
        let stages: [StageDescriptor] = [
            .of(.pipe, "Compute.double"), .of(.closure), .of(.pipe, "Store.save"),
        ]
        let pipe = Question.run(stages, closures: ["Circuit.same"], .array([who, dice]))
        return .asking(pipe) { _ in
            .asking(.commit(["number"], count, mark)) { number in
                let result = Value.array([who, .int(odd), dice, number])
                guard odd == 1 else { return .done(result) }
                return .asking(.call("Store.audit", .array([who, number]))) { _ in .done(result) }
            }
        }
    }
}
