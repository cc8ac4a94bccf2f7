// Rule by rule: what a repeat is told, and what it may ask.

private let recording = "Sources/Kernel/Recording.swift"
private let visiting = "Sources/Kernel/Visits.swift"

extension Catalogue {
    static let answers = [
        Mutant(
            "answer_order", "a repeat gets its answers in the order in which they were given",
            [
                .init(
                    recording, "given.min(by: { ($0.order ?? 0) < ($1.order ?? 0) })",
                    "given.min(by: { (($0.order ?? 0) < ($1.order ?? 0)) != BROKEN })")
            ]),
        Mutant(
            "one_answer", "an answer is handed over only when all tasks wait",
            [
                .init(
                    "Sources/DeviceKit/DeviceRuntime.swift", "work.append(.answer(visit))",
                    "if BROKEN { visit.handOver() } else { work.append(.answer(visit)) }"),
                .init(
                    "Tests/Simulation/SimProcess.swift", "running.answers.append((tag, answer))",
                    "running.answers.append((tag, answer)); if BROKEN { handOver(running) }"),
            ],
            [
                .seeds,
                .test(
                    "DeviceKitTests", "answers that come together are handed over one by one"),
            ]),
        Mutant(
            "judge_at_park", "a repeat is compared when all its tasks wait, not at a new question",
            [
                .init(
                    recording,
                    """
                            if visit.replay {
                                hold(back:
                    """,
                    """
                            if visit.replay {
                                if BROKEN, !unmatched(flow).isEmpty, differs(flow) { return }
                                hold(back:
                    """)
            ]),
        Mutant(
            "any_effect", "a record that holds any effect may not be dropped",
            [
                .init(
                    recording, "if record.entries.contains(where: \\.effect) {",
                    "if record.entries.contains(where: { $0.effect && (!BROKEN || $0.tag != nil) })"
                        + " {")
            ]),
        Mutant(
            "match_by_name", "a question is found in the record by its content, not by its place",
            [
                .init(
                    recording, "$0.tag == nil && $0.name == name && $0.number == n",
                    "$0.tag == nil && (BROKEN || $0.name == name && $0.number == n)")
            ]),
        Mutant(
            "dispatch_digest", "commands of a handler match by their payload, too",
            [
                .init(
                    recording,
                    "case .dispatch(let symbol, let payload): .dispatch(symbol.name, payload)",
                    "case .dispatch(let symbol, let payload): .dispatch(symbol.name, BROKEN ? [] :"
                        + " payload)")
            ]),
        Mutant(
            "join_in_flight", "a call in flight is joined by the repeat, not made again",
            [
                .init(
                    recording, "resumeClosures(of: entry)",
                    "if BROKEN { perform(flow, entry, operation) } else { resumeClosures(of: entry)"
                        + " }")
            ]),
        Mutant(
            "commit_once", "a recorded commit is not made again",
            [
                .init(
                    recording, "if entry.answer != nil {",
                    """
                    var again = false
                    if case .commit = operation { again = BROKEN }
                    if entry.answer != nil, !again {
                    """),
                .init(
                    recording, "guard entry.answer == nil, let visit = flow.visit,",
                    "guard entry.answer == nil || BROKEN, let visit = flow.visit,"),
            ]),
        Mutant(
            "commit_base", "a recorded commit returns what its closure returned",
            [
                .init(
                    recording, "if case .committed(let revision, _) = answer, !recorded {",
                    "if case .committed(let revision, _) = answer, !recorded || BROKEN {")
            ],
            [
                .test(
                    "KernelTests",
                    "a repeated commit is made once and is told the values that it was made on")
            ]),
        Mutant(
            "record_reads", "a read is recorded",
            [
                .init(
                    recording, "let value = slot.value(at: revision)",
                    "let value = slot.value(at: revision), !BROKEN")
            ]),
        Mutant(
            "pin_reads", "a recorded read keeps its value when the region moves on",
            [
                .init(
                    visiting, "reads: flow.record?.reads ?? [], value: flow.value",
                    """
                    reads: (flow.record?.reads ?? []).filter { [regions] read in
                        !BROKEN || regions[read.region]?.counter == read.revision
                    }, value: flow.value
                    """)
            ]),
        Mutant(
            "fixed_now", "the time of a step is that of its first delivery",
            [
                .init(
                    visiting, "if flow.now == 0 { flow.now = wall }",
                    "if flow.now == 0 || BROKEN { flow.now = wall }")
            ]),
        Mutant(
            "hold_new", "while a repeat asks what is recorded, new operations are held",
            [
                .init(
                    recording,
                    """
                                return
                            }
                            hold(flow, record, size)
                    """,
                    """
                                if !BROKEN { return }
                                flow.visit?.held.removeLast()
                                record.pending -= size + operation.patchBytes
                                hold(flow, record, -size - operation.patchBytes)
                            }
                            hold(flow, record, size)
                    """)
            ]),
        Mutant(
            "drop_stale", "a reply of an attempt that is over counts for nothing",
            [
                .init(
                    "Sources/Kernel/VisitTable.swift",
                    "if flow?.visit?.number == number { return flow }",
                    "if flow?.visit?.number == number || BROKEN { return flow }"),
                .init(
                    visiting,
                    """
                                remove(visit.number, from: peer)
                                if tracing { keep(flow, visit, nil) }
                    """,
                    """
                                if !BROKEN { remove(visit.number, from: peer) }
                                if tracing { keep(flow, visit, nil) }
                    """),
            ],
            [
                .seeds,
                .test("KernelTests", "an answer of an attempt that is over counts for nothing"),
            ]),
    ]
}
