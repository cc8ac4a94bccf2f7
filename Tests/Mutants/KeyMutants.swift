// Rule by rule: the keys under which effects are recognised, and how long they are kept.

private let invocations = "devices/Infrastructure/Invocations.swift"

extension Catalogue {
    static let keys = [
        Mutant(
            "step_keys", "a step never repeats, whatever a divert does",
            [
                .init(
                    "Sources/Kernel/Flows.swift",
                    """
                            flow.route = nil
                            flow.forgetStage()
                    """,
                    """
                            flow.route = nil
                            flow.forgetStage()
                            if BROKEN { flow.step = 0 }
                    """)
            ]),
        Mutant(
            "branch_keys", "the branches of a fork have keys of their own",
            [
                .init(
                    "Sources/Kernel/Flows.swift", "path: \"\\(key(of: flow))/\\(index)\"",
                    "path: BROKEN ? key(of: flow) : \"\\(key(of: flow))/\\(index)\"")
            ]),
        Mutant(
            "operation_keys", "what a stage asks has keys below that of its step",
            [
                .init(
                    "Sources/Kernel/Recording.swift",
                    "/\\(symbol.name):\\(place)\"",
                    "/\\(symbol.name):\\(BROKEN ? \":0\" : place)\"")
            ]),
        Mutant(
            "own_key_is_root", "a caller's own key is the root of a path, not the whole key",
            [
                .init(
                    "Sources/Kernel/Flow.swift", "step += 1",
                    "if !BROKEN || path?.hasPrefix(\"own:\") != true { step += 1 }")
            ]),
        Mutant(
            "own_key_payload", "a caller's own key stands for one symbol and payload",
            [
                .init(
                    "Sources/Kernel/Keys.swift",
                    "\"\\(Hub.ownRoot)\\($0)/\\(symbol.name):\\(StrongDigest.text(payload))\"",
                    "BROKEN ? \"own:\\($0)\""
                        + " : \"own:\\($0)/\\(symbol.name):\\(StrongDigest.text(payload))\"")
            ],
            [.test("KernelTests", "a caller's key with another payload is another key")]),
        Mutant(
            "digest_rank", "different payloads of one digest have different keys",
            [
                .init(
                    "Sources/Kernel/Record.swift", "entry.rank = (known.last?.rank ?? -1) + 1",
                    "entry.rank = BROKEN ? 0 : (known.last?.rank ?? -1) + 1")
            ],
            [
                .test(
                    "KernelTests",
                    "two calls of one digest have keys of their own, in a repeat too")
            ]),
        Mutant(
            "command_keys", "a command of a handler has keys of its own, for it outlives the flow",
            [
                .init(
                    "Sources/Kernel/Lanes.swift",
                    "Hub.isOwn(flow.path)",
                    "Hub.isOwn(flow.path) || BROKEN")
            ],
            [
                .test(
                    "KernelTests",
                    "a command of a handler has a key of its own, unless its caller chose one")
            ]),
        Mutant(
            "keep_live_keys", "keys of live flows are kept",
            [
                .init(
                    "Sources/Kernel/Visits.swift", "lowest: lowestLiveFlow,",
                    "lowest: BROKEN ? flow.number + 1 : lowestLiveFlow,")
            ]),
        Mutant(
            "key_check", "a repeat of a keyed effect is recognised",
            [
                .init(
                    invocations, "if let reply = known.first { return reply }",
                    "if let reply = known.first, !BROKEN { return reply }"),
                .init(
                    "Tests/Simulation/WorldChecks.swift",
                    "if let reply = replies[key] { return reply }",
                    "if let reply = replies[key], !BROKEN { return reply }"),
            ],
            [
                .seeds,
                .test(
                    "InfrastructureTests",
                    "the same key runs the effect once, for the next process too"),
            ]),
        Mutant(
            "check_in_transaction", "a key is looked up within the transaction of its effect",
            [
                .init(
                    invocations,
                    """
                            return try database.transaction {
                                let known = try database.rows(
                                    "SELECT reply FROM invocation WHERE key = ?", .text(key.text)
                                ) { try $0.blob(0) }
                    """,
                    """
                            func lookUp() throws -> [[UInt8]] {
                                try database.rows(
                                    "SELECT reply FROM invocation WHERE key = ?", .text(key.text)
                                ) { try $0.blob(0) }
                            }
                            let early = BROKEN ? try lookUp() : []
                            return try database.transaction {
                                let known = BROKEN ? early : try lookUp()
                    """)
            ],
            [
                .test(
                    "InfrastructureTests",
                    "a key that another process writes meanwhile is found, and the effect not made")
            ]),
    ]
}
