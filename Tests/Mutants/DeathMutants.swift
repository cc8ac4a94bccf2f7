// Rule by rule: what a death does, who is blamed for it, and what time and limits mean.

private let visiting = "Sources/Kernel/Visits.swift"
private let policy = "Sources/Supervisor/Policy+Death.swift"

extension Catalogue {
    static let visits = [
        Mutant(
            "wait_for_reap", "nothing is replayed before its process is known to be dead",
            [
                .init(
                    visiting, "package func away(_ peer: Peer) {\n        peer.away = true",
                    """
                    package func away(_ peer: Peer) {
                        if BROKEN, !peer.away {
                            peer.away = true
                            lost(peer, begun: 0, reason: "") { _ in .replay }
                        }
                        peer.away = true
                    """)
            ]),
        Mutant(
            "once_is_once", "a once visit that has begun is never sent again",
            [
                .init(
                    visiting, ".replay == .once || verdict == .lost",
                    ".replay == .once && !BROKEN || verdict == .lost"),
                .init(
                    policy, "if begun, !visit.replayable {",
                    "if begun, !visit.replayable, !BROKEN {"),
            ]),
        Mutant(
            "replay_unstarted_once", "a once visit that had not begun is sent again",
            [.init(visiting, "if started && ", "if (started || BROKEN) && ")]),
        Mutant(
            "page_counts", "the page tells the last visit begun, not only the one that runs",
            [
                .init(
                    policy, "begun: page?.begun ?? .max,",
                    "begun: (BROKEN ? page?.running : page?.begun) ?? .max,"),
                .init(
                    policy, "let begun = page.map { visit.id <= $0.begun } ?? true",
                    "let begun = page.map { BROKEN ? visit.id == $0.running : visit.id <= $0.begun "
                        + "} ?? true"),
            ]),
        Mutant(
            "stay_with_elder", "a flow stays with the process under which it began",
            [
                .init(
                    "Sources/Kernel/Swap.swift", "return device.generation(of: flow).leastLoaded()",
                    "return (BROKEN ? device.serving : device.generation(of: flow)).leastLoaded()")
            ],
            [
                .test(
                    "KernelTests",
                    "flows finish on the process under which they began, new ones start on the new")
            ]),
        Mutant(
            "leave_elder", "the old process of a swap goes when the last of its flows has ended",
            [
                .init(
                    "Sources/Kernel/Flows.swift", "if elders > 0 { leaveElders(flow) }",
                    "if elders > 0, !BROKEN { leaveElders(flow) }")
            ]),
    ]

    static let supervision = [
        Mutant(
            "outside_is_free", "a kill from outside is charged to no visit",
            [
                .init(
                    policy, "PolicyNumbers.outside.contains(exit.signal)",
                    "PolicyNumbers.outside.contains(exit.signal), !BROKEN")
            ]),
        Mutant(
            "own_cell", "a charged visit is tried again in a process of its own",
            [
                .init(
                    visiting, "case .cell: waitForCell(flow, symbol)",
                    "case .cell: if BROKEN { visit(flow, symbol, peer) } else { waitForCell(flow, "
                        + "symbol) }")
            ]),
        Mutant(
            "poison_ends", "a visit that was charged three times is not tried again",
            [
                .init(
                    policy, "return charge.weight >= PolicyNumbers.strikes ? .poisoned : .cell",
                    "return charge.weight >= PolicyNumbers.strikes && !BROKEN ? .poisoned : .cell")
            ]),
        Mutant(
            "suspects_unpaid", "of several suspects none is charged",
            [
                .init(
                    policy, "weight: old + (accused.count == 1 ? weight : 0),",
                    "weight: old + (accused.count == 1 || BROKEN ? weight : 0),")
            ]),
    ]

    static let limits = [
        Mutant(
            "waiting_is_free", "an attempt's clock stands while its visit waits for the kernel",
            [
                .init(
                    visiting, "since: patient(flow) ? seen : visit.since",
                    "since: patient(flow) && !BROKEN ? seen : visit.since")
            ]),
        Mutant(
            "cancelled_counts", "the clock of a cancelled visit runs, whatever it still waits for",
            [
                .init(
                    visiting, "guard flow.ending == nil, let record = flow.record else",
                    "guard flow.ending == nil || BROKEN, let record = flow.record else")
            ],
            [
                .test(
                    "KernelTests",
                    "the clock of a cancelled visit runs, whatever it still waits for")
            ]),
        Mutant(
            "no_busy_tick", "a deadline that has passed asks for no further tick",
            [
                .init(
                    "Sources/Kernel/Deadlines.swift", "if seen < flow.deadline, flow.ending == nil",
                    "if seen < flow.deadline || BROKEN, flow.ending == nil")
            ],
            [.test("KernelTests", "one that is beyond its time does not keep the kernel awake")]),
        Mutant(
            "replay_has_room", "the limit on what waits refuses new requests only",
            [
                .init(
                    visiting, "flow.attempt > 0 || flow.last",
                    "flow.attempt > 0 && !BROKEN || flow.last")
            ],
            [
                .test(
                    "KernelTests",
                    "a visit that was delivered before is never refused for want of room")
            ]),
        Mutant(
            "waiting_bytes", "what no longer waits no longer counts against the limit",
            [
                .init(
                    visiting,
                    """
                            device.waitingBytes -= flow.value.count
                            flow.waiting = nil
                        }
                    """,
                    """
                            if !BROKEN { device.waitingBytes -= flow.value.count }
                            flow.waiting = nil
                        }
                    """)
            ]),
    ]
}
