private let generation = "Sources/Kernel/Generation.swift"

extension Catalogue {
    /// Several processes of one device.
    static let seats = [
        Mutant(
            "least_loaded", "a visit goes to the process that holds the fewest",
            [
                .init(
                    generation, "if peers[index].visits.count < peers[best].visits.count {",
                    "if !BROKEN, peers[index].visits.count < peers[best].visits.count {")
            ],
            [.test("KernelTests", "a visit goes to the process that holds the fewest")]),
        Mutant(
            "another_program", "processes of different programs are of different builds",
            [
                .init(
                    generation, "guard peer.program == program,",
                    "guard peer.program == program || BROKEN,")
            ],
            [
                .seeds,
                .test(
                    "KernelTests", "another program is another build though it announces the same"),
            ]),
        Mutant(
            "every_seat_refused", "a device is refused only when all of its seats are",
            [
                .init(
                    "Sources/Kernel/Refusals.swift",
                    "guard device.refusals.count >= device.seats else",
                    "guard device.refusals.count >= device.seats || BROKEN else")
            ],
            [.test("KernelTests", "a device is refused when all of its seats are")]),
        Mutant(
            "flows_of_the_dead", "the flows of a dead build are counted with the next",
            [
                .init(
                    "Sources/Kernel/Swap.swift",
                    "if index < device.elders.count { device.elders",
                    "if index < device.elders.count, !BROKEN { device.elders")
            ],
            [.test("KernelTests", "the flows of a dead build are finished by the next")]),
    ]
}
