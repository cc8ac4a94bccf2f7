// Rule by rule: what flows hold in the kernel, and how it is bounded.

private let account = "Sources/Kernel/FlowBytes.swift"

extension Catalogue {
    static let bytes = [
        Mutant(
            "bytes_of_the_stage", "what a stage has asked and was told is given back at its end",
            [
                .init(
                    account, "hold(flow, -record.held)\n        for",
                    "if !BROKEN { hold(flow, -record.held) }\n        for")
            ],
            [
                .seeds,
                .test("KernelTests", "what a stage asks and is told counts until the stage ends"),
            ]),
        Mutant(
            "bytes_of_reads", "the values of regions that a record keeps are given back",
            [
                .init(
                    "Sources/Kernel/Pins.swift", "pin.holders -= 1",
                    "if !BROKEN { pin.holders -= 1 }")
            ],
            [
                .seeds,
                .test(
                    "KernelTests",
                    "a read or commit keeps a value, which counts once for all that keep it"),
            ]),
        Mutant(
            "bytes_bounded", "a flow that would hold too much ends",
            [
                .init(
                    account, "flowBytes + bytes <= limits.flowBytes",
                    "BROKEN || flowBytes + bytes <= limits.flowBytes")
            ],
            [
                .test(
                    "KernelTests",
                    "a new flow beyond the bound is refused, and one that fits is not"
                ),
                .test("KernelTests", "a record beyond the bound ends its flow"),
            ]),
        Mutant(
            "room_for_finally", "a kernel that is full still runs what ends its flows",
            [
                .init(
                    "Sources/Kernel/Flow.swift", "last || isBelowSpared }",
                    "!BROKEN && (last || isBelowSpared) }")
            ],
            [.test("KernelTests", "a kernel that is full still runs what ends its flows")]),
        Mutant(
            "late_reads", "a read that is told late is repeated as well",
            [
                .init(
                    "Sources/Kernel/LateReads.swift", "steps[gone].visits < visit ||",
                    "steps[gone].visits < visit || BROKEN ||")
            ],
            [
                .test("KernelTests", "a read that is told 2,000 commits late is repeated as well")
            ]),
        Mutant(
            "waiting_cells", "a cell whose visit waits keeps no suspect from one",
            [
                .init(
                    "Sources/Kernel/Cells.swift", "&& all - idle(device) < limits.cells",
                    "&& all - (BROKEN ? 0 : idle(device)) < limits.cells")
            ],
            [
                .test(
                    "KernelTests", "a cell that waits for another device keeps no suspect from one")
            ]),
        Mutant(
            "finally_hears", "what a `finally` asks for is answered",
            [
                .init(
                    "Sources/Kernel/Flow.swift", "guard last else {",
                    "guard last && !BROKEN else {")
            ],
            [
                .test(
                    "KernelTests",
                    "what it asks for is answered, and what it leaves comes to rest first")
            ]),
    ]
}
