// Rule by rule: what is published once, and what follows it.

private let followers = "Sources/Kernel/ChannelFollowers.swift"

extension Catalogue {
    static let channels = [
        Mutant(
            "publish_digest", "publishes match by their payload too",
            [
                .init(
                    "Sources/Kernel/Recording.swift", ".publish(channel.name, payload)",
                    ".publish(channel.name, BROKEN ? [] : payload)")
            ],
            [.seeds, .test("KernelTests", "a repeat that publishes again has published once")]),
        Mutant(
            "event_waits", "an event's deadline stands while its follower is away",
            [
                .init(
                    followers, "guard flow.waitsForEver else",
                    "guard !BROKEN, flow.waitsForEver else")
            ],
            [
                .test(
                    "KernelTests", "the deadline of an event stands while its follower is away")
            ]),
        Mutant(
            "events_outlast", "a device that does not come back by itself refuses no event",
            [
                .init(
                    "Sources/Kernel/Refusals.swift", "if flow.waitsForEver {",
                    "if !BROKEN, flow.waitsForEver {")
            ],
            [
                .test(
                    "KernelTests", "events wait for a device that does not come back by itself")
            ]),
        Mutant(
            "one_event", "a follower handles one event at a time",
            [
                .init(
                    followers, "while follower.flow == nil, follower.next",
                    "while BROKEN || follower.flow == nil, follower.next")
            ],
            [.seeds, .test("KernelTests", "events are handled one at a time and in order")]),
        Mutant(
            "gap_told", "what a follower has missed is told",
            [
                .init(
                    followers,
                    """
                            let missed = follower.next...(first - 1)
                    """,
                    """
                            let missed = follower.next...(first - 1)
                            if BROKEN {
                                follower.next = first
                                return
                            }
                    """)
            ],
            [
                .test(
                    "KernelTests",
                    "what retention has overtaken is one gap that names it, and the rest is handled"
                )
            ]),
        Mutant(
            "publish_is_effect", "a repeat that does not publish again has diverged",
            [
                .init(
                    "Sources/Kernel/Recording.swift",
                    "case .commit, .run, .dispatch, .publish: true",
                    "case .publish: !BROKEN\n        case .commit, .run, .dispatch: true")
            ],
            [
                .test(
                    "KernelTests",
                    "a repeat that no longer publishes is diverged, and tells that it has")
            ]),
        Mutant(
            "publish_is_seen", "the outcome of a flow that has published is unknown",
            [
                .init(
                    "Sources/Kernel/Channels.swift", "flow.dirty = true",
                    "if !BROKEN { flow.dirty = true }")
            ],
            [.test("KernelTests", "the outcome of a pure flow that has published is unknown")]),
        Mutant(
            "reader_gap", "a reader is told what it has missed",
            [
                .init(
                    "Sources/Kernel/ChannelReaders.swift",
                    "guard reader.after + 1 >= slot.first else",
                    "guard BROKEN || reader.after + 1 >= slot.first else")
            ],
            [
                .test("KernelTests", "a reader whose place is no longer kept is told the gap")
            ]),
    ]
}
