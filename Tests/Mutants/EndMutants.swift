// Rule by rule: how a flow ends, once, after all that it started.

private let flows = "Sources/Kernel/Flows.swift"
private let visiting = "Sources/Kernel/Visits.swift"

extension Catalogue {
    static let endings = [
        Mutant(
            "settle_first", "a flow goes on only when the cancelled visit has answered or died",
            [
                .init(
                    flows, "due = min(due, settleTime(flow.visit) ?? .max)",
                    """
                    due = min(due, settleTime(flow.visit) ?? .max)
                    if BROKEN {
                        remove(visit.number, from: visit.peer)
                        touch(flow, visit)
                        flow.visit = nil
                    }
                    """)
            ]),
        Mutant(
            "cancel_children", "what a stage asked for and left ends before the flow goes on",
            [
                .init(
                    flows, "cancelChildren(flow, \"the flow that asked has ended\")",
                    """
                    if BROKEN, flow.results.isEmpty { flow.children = [] }
                    cancelChildren(flow, \"the flow that asked has ended\")
                    """),
                .init(
                    visiting,
                    "cancelChildren(flow, \"its stage answered without waiting for it\")",
                    """
                    if BROKEN { flow.children = [] }
                    cancelChildren(flow, \"its stage answered without waiting for it\")
                    """),
            ]),
        Mutant(
            "cancel_siblings", "a branch that fails ends the others before the flow goes on",
            [
                .init(
                    flows,
                    "case .failure(let error): finish(flow, .failure(error))\n"
                        + "            case .success(let bytes):\n"
                        + "                flow.results[index] = bytes",
                    """
                    case .failure(let error):
                        if BROKEN { flow.children = [] }
                        finish(flow, .failure(error))
                    case .success(let bytes):
                        flow.results[index] = bytes
                    """)
            ]),
        Mutant(
            "finally_on_failure", "a `finally` runs after a failure, too",
            [
                .init(
                    flows, "!flow.last, flow.running else { return end(flow) }",
                    """
                    !flow.last, flow.running,
                        !(BROKEN && { if case .failure = flow.ending { true } else { false } }())
                    else { return end(flow) }
                    """)
            ]),
        Mutant(
            "divert_finally", "a divert runs the `finally` of the route that it leaves",
            [
                .init(
                    flows, "guard let last = flow.route?.last,",
                    """
                    var leaves = false
                    if case .divert = flow.ending { leaves = BROKEN }
                    guard !leaves, let last = flow.route?.last,
                    """)
            ]),
        Mutant(
            "finally_deadline", "a `finally` has a deadline of its own",
            [
                .init(
                    flows,
                    "flow.deadline = max(flow.deadline, seen + limits.finallyDeadline)",
                    """
                    if !BROKEN {
                        flow.deadline = max(flow.deadline, seen + limits.finallyDeadline)
                    }
                    """)
            ], [.test("KernelTests", "it runs after a deadline and has a time of its own")]),
        Mutant(
            "tell_once", "an end is told once",
            [
                .init(
                    flows, "guard let ending = flow.ending, !flow.ended else { return }",
                    "guard let ending = flow.ending, !flow.ended || BROKEN else { return }"),
                .init(
                    flows,
                    """
                                flow.children.isEmpty, !flow.ended
                            else { return }
                    """,
                    """
                                flow.children.isEmpty, !flow.ended || BROKEN
                            else { return }
                    """),
            ]),
        Mutant(
            "lane_in_order", "the commands of a lane run one at a time",
            [
                .init(
                    "Sources/Kernel/Lanes.swift",
                    "if flow.lane?.queue.first === flow { begin(flow) }",
                    "if flow.lane?.queue.first === flow || BROKEN { begin(flow) }")
            ]),
        Mutant(
            "free_records", "what a flow held is given back at its end",
            [.init(flows, "entry.child = nil", "if !BROKEN { entry.child = nil }")]),
        Mutant(
            "touched", "a visit of a device that is not pure may have changed something",
            [
                .init(
                    visiting,
                    "if visit.symbol.device?.pure != true || visit.symbol.replay == .once {",
                    "if !BROKEN, visit.symbol.device?.pure != true || visit.symbol.replay == .once"
                        + " {")
            ]),
    ]
}
