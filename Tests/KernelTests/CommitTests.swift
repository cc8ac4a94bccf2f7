import Control
import Kernel
import Testing
import Values

/// Regions: commits against a revision, reads that are pinned, and who is told.
@Suite struct CommitTests {
    private func working() throws -> (TestHouse, TestProcess, TestCable.Visit) {
        let house = try TestHouse()
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        return (house, circuit, try circuit.take("Circuit.work"))
    }

    @Test func `a commit changes its region and is told to all who follow it`() throws {
        let (house, circuit, visit) = try working()
        try house.hub.follow(house.client.peer, region: "number")
        circuit.commit(visit, 1, base: 0, to: 5)
        #expect(circuit.heard() == ["1 committed"])
        #expect(house.hub.value(ofRegion: "number") == .int(5))
        #expect(house.hub.counter == 1)
        for cable in [house.client.cable, circuit.cable] {
            #expect(cable.patches.map(\.revision) == [Revision(epoch: 7, counter: 1)])
            #expect(cable.patches.first?.changes.map(\.from) == [0])
        }
    }

    @Test func `a commit on an old revision meets a conflict and is offered again`() throws {
        let (house, circuit, visit) = try working()
        circuit.commit(visit, 1, base: 0, to: 5)
        circuit.commit(visit, 2, base: 0, to: 6)
        #expect(circuit.heard() == ["1 committed", "2 conflict"])
        #expect(house.hub.value(ofRegion: "number") == .int(5))
        circuit.commit(visit, 2, base: 1, to: 11)
        #expect(circuit.heard() == ["2 committed"])
        #expect(house.hub.value(ofRegion: "number") == .int(11))
        #expect(house.hub.counter == 2)
    }

    @Test func `a commit that meets newer values for ever fails`() throws {
        var limits = HubLimits()
        limits.commitAttempts = 3
        let house = try TestHouse(limits)
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for _ in 0..<3 { circuit.commit(visit, 1, base: 99, to: 1) }
        #expect(circuit.heard() == ["1 conflict", "1 conflict", "1 ! conflict"])
    }

    @Test func `two regions change at one revision or not at all`() throws {
        let (house, circuit, visit) = try working()
        circuit.commit(
            visit, 1,
            [.replace("number", base: 0, .int(1)), .replace("letter", base: 0, .text("b"))])
        #expect(house.hub.counter == 1)
        #expect(circuit.cable.patches.map { $0.changes.map(\.region) } == [["number", "letter"]])
        circuit.commit(
            visit, 2,
            [.replace("number", base: 1, .int(2)), .replace("letter", base: 0, .text("c"))])
        #expect(circuit.heard() == ["1 committed", "2 conflict"])
        #expect(house.hub.value(ofRegion: "number") == .int(1))
        #expect(house.hub.value(ofRegion: "letter") == .text("b"))
        #expect(house.hub.counter == 1)
    }

    @Test func `a commit names each region once`() throws {
        let (house, circuit, visit) = try working()
        circuit.commit(
            visit, 1,
            [.replace("number", base: 0, .int(1)), .replace("number", base: 0, .int(2))])
        #expect(circuit.heard() == ["1 ! malformed"])
        #expect(house.hub.counter == 0)
        #expect(circuit.cable.patches.isEmpty)
    }

    static let refusals: [(RegionOffer, String)] = [
        (.replace("log", base: 0, .null), "denied"),
        (.replace("Kernel.Errors", base: 0, .null), "denied"),
        (.replace("Kernel.Devices", base: 0, .null), "denied"),
        (.replace("nowhere", base: 0, .null), "unbound"),
        (
            RegionOffer(region: "number", base: 0, patch: Patch([.remove(["gone"])])),
            "malformed"
        ),
    ]

    @Test(arguments: 0..<refusals.count)
    func `a commit that is not granted or does not apply is refused`(_ index: Int) throws {
        let (offer, code) = Self.refusals[index]
        let (house, circuit, visit) = try working()
        circuit.commit(visit, 1, [offer])
        #expect(circuit.heard() == ["1 ! \(code)"])
        #expect(house.hub.counter == 0)
    }

    @Test func `a commit that changes nothing makes no revision`() throws {
        let (house, circuit, visit) = try working()
        circuit.commit(visit, 1, [RegionOffer(region: "number", base: 0, patch: Patch())])
        #expect(circuit.heard() == ["1 committed"])
        #expect(house.hub.counter == 0)
        #expect(circuit.cable.patches.isEmpty)
    }

    @Test func `a commit meets a conflict when a region that it only read has changed`() throws {
        let (house, circuit, visit) = try working()
        let read = { (base: UInt64) in RegionOffer(region: "letter", base: base, patch: nil) }
        circuit.commit(visit, 1, [.replace("number", base: 0, .int(1)), read(0)])
        circuit.commit(visit, 2, [.replace("letter", base: 0, .text("b"))])
        circuit.commit(visit, 3, [.replace("number", base: 1, .int(2)), read(0)])
        #expect(circuit.heard() == ["1 committed", "2 committed", "3 conflict"])
        #expect(house.hub.value(ofRegion: "number") == .int(1))
        circuit.commit(visit, 3, [.replace("number", base: 1, .int(2)), read(2)])
        #expect(circuit.heard() == ["3 committed"])
        #expect(circuit.cable.patches.last?.changes.map(\.region) == ["number"])
        // Whoever only writes the other region is not held up by it.
        circuit.commit(visit, 4, [.replace("letter", base: 2, .text("c"))])
        #expect(circuit.heard() == ["4 committed"])
    }

    @Test func `a region is read in a commit where reading is granted`() throws {
        let (house, circuit, visit) = try working()
        let read = { RegionOffer(region: $0, base: 0, patch: nil) }
        circuit.commit(visit, 1, [.replace("number", base: 0, .int(1)), read("log")])
        circuit.commit(visit, 2, [.replace("number", base: 1, .int(2)), read("Kernel.Errors")])
        circuit.commit(visit, 3, [read("log")])
        #expect(circuit.heard() == ["1 committed", "2 ! denied", "3 committed"])
        #expect(house.hub.counter == 1, "reading alone makes no revision")
    }

    @Test func `a repeat is told the values of the regions that were read, too`() throws {
        let (house, old, visit) = try working()
        old.commit(
            visit, 1,
            [.replace("number", base: 0, .int(5)), .init(region: "log", base: 0, patch: nil)])
        old.die()
        let new = try house.circuit()
        let repeated = try new.take("Circuit.work")
        // The same regions, but both written: another commit.
        new.commit(
            repeated, 1,
            [.replace("number", base: 1, .int(6)), .init(region: "log", base: 0, patch: nil)])
        new.parked(repeated)
        guard case .committed(_, let values) = new.cable.answers.first?.answer else {
            Issue.record("the commit was not repeated")
            return
        }
        #expect(values == [.int(0), .array([])])
    }

    @Test func `a recorded commit is built on the one before it of the same regions`() throws {
        let (house, old, visit) = try working()
        for base in 0..<3 as Range<UInt64> {
            old.commit(visit, base + 1, base: base, to: Int64(base) + 5)
        }
        // Other regions are another kind of commit.
        let log = RegionOffer(region: "log", base: 0, patch: nil)
        old.commit(visit, 4, [.replace("number", base: 3, 8), log])
        #expect(old.cable.builtOn == [])
        old.die()
        for life in 1...2 {
            let new = try house.circuit()
            let repeated = try new.take("Circuit.work")
            for tag in 11...13 as ClosedRange<UInt64> {
                new.commit(repeated, tag, base: 9, to: 0)
                new.parked(repeated)
            }
            new.commit(repeated, 14, [.replace("number", base: 9, 0), log])
            new.parked(repeated)
            #expect(
                new.heard() == [
                    "11 committed on [\"0\"]", "12 committed on [\"5\"]", "13 committed on [\"6\"]",
                    "14 committed on [\"7\", \"-1\"]",
                ], "life \(life)")
            // What another process was told is not built on.
            #expect(new.cable.builtOn == [11, 12])
            new.die()
        }
    }

    @Test func `a region that readers would not accept is refused at the commit`() throws {
        var limits = HubLimits()
        limits.regionBytes = 1_000
        let house = try TestHouse(limits)
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        let text = { Value.text(String(repeating: "x", count: $0)) }
        circuit.commit(visit, 1, [.replace("number", base: 0, .array([text(900)]))])
        let grow = { (base: UInt64) in
            RegionOffer(
                region: "number", base: base, patch: Patch([.add(["-"], text(200))]))
        }
        circuit.commit(visit, 2, [grow(1)])
        #expect(circuit.heard() == ["1 committed", "2 ! tooLarge"])
        // What is taken away makes room again, and so does what a copy would not fit into.
        circuit.commit(visit, 3, [.replace("number", base: 1, .array([text(400)]))])
        circuit.commit(visit, 4, [grow(2)])
        let copy = RegionOffer(
            region: "number", base: 3, patch: Patch([.copy(from: ["0"], to: ["-"])]))
        circuit.commit(visit, 5, [copy])
        #expect(circuit.heard() == ["3 committed", "4 committed", "5 ! tooLarge"])
        #expect(house.hub.counter == 3)
    }

    @Test func `a repeated commit is made once and is told the values that it was made on`() throws
    {
        let (house, old, visit) = try working()
        old.commit(visit, 1, base: 0, to: 5)
        old.die()
        let new = try house.circuit()
        let repeated = try new.take("Circuit.work")
        new.commit(repeated, 1, base: 1, to: 6)
        new.parked(repeated)
        #expect(new.heard() == ["1 committed on [\"0\"]"])
        #expect(house.hub.value(ofRegion: "number") == .int(5))
        #expect(house.hub.counter == 1)
    }

    @Test func `a commit that had only met a conflict is new when it is repeated`() throws {
        let (house, old, visit) = try working()
        old.commit(visit, 1, base: 0, to: 1)
        old.commit(visit, 2, base: 0, to: 2)
        #expect(old.heard() == ["1 committed", "2 conflict"])
        old.die()
        let new = try house.circuit()
        let repeated = try new.take("Circuit.work")
        new.commit(repeated, 1, base: 1, to: 1)
        new.commit(repeated, 2, base: 1, to: 2)
        #expect(house.hub.counter == 1)
        new.parked(repeated)
        new.parked(repeated)
        #expect(new.heard() == ["1 committed on [\"0\"]", "2 committed"])
        #expect(house.hub.value(ofRegion: "number") == .int(2))
    }

    @Test func `a repeat that leaves a commit unasked ends diverged`() throws {
        let (house, old, visit) = try working()
        old.commit(visit, 1, base: 0, to: 5)
        old.die()
        let new = try house.circuit()
        new.answer(try new.take("Circuit.work"), "out")
        #expect(
            house.client.cable.replies.map { "\($0.result)".contains("diverged") } == [true])
    }

    @Test func `a read is pinned for the repeats of its stage`() throws {
        let (house, old, visit) = try working()
        house.hub.note(old.peer, visit: visit.number, region: "number", number: 0, revision: 0)
        house.hub.note(old.peer, visit: visit.number, region: "log", number: 0, revision: 0)
        house.hub.note(old.peer, visit: visit.number, region: "log", number: 1, revision: 99)
        house.hub.note(old.peer, visit: visit.number, region: "gone", number: 0, revision: 0)
        old.commit(visit, 1, base: 0, to: 5)
        house.hub.note(old.peer, visit: visit.number, region: "number", number: 1, revision: 1)
        house.hub.note(old.peer, visit: visit.number, region: "number", number: 0, revision: 1)
        old.die()
        let repeated = try house.circuit().take("Circuit.work")
        #expect(
            repeated.reads.map { "\($0.region) \($0.number) \($0.revision)" } == [
                "number 0 0", "log 0 0", "number 1 1",
            ])
        #expect(repeated.reads.map(\.value) == [.int(0), .array([]), .int(5)])
    }

    @Test func `a read of the kernel's own region is pinned though it has changed since`() throws {
        let (house, old, visit) = try working()
        house.hub.set(region: "Kernel.Devices", .array([.int(1)]))
        house.hub.set(region: "Kernel.Devices", .array([.int(2)]))
        house.hub.note(
            old.peer, visit: visit.number, region: "Kernel.Devices", number: 0, revision: 1)
        old.die()
        let repeated = try house.circuit().take("Circuit.work")
        #expect(repeated.reads.map(\.value) == [.array([.int(1)])])
        #expect(house.hub.counter == 0, "the kernel's regions count for themselves")
    }

    // MARK: - Following

    @Test func `a follower is sent the region first, and nothing after it has left`() throws {
        let (house, circuit, visit) = try working()
        let client = house.client
        try house.hub.follow(client.peer, region: "number")
        #expect(client.cable.snapshots.map(\.region) == ["number"])
        circuit.commit(visit, 1, base: 0, to: 1)
        house.hub.unfollow(client.peer, region: "number")
        circuit.commit(visit, 2, base: 1, to: 2)
        #expect(client.cable.patches.map(\.revision.counter) == [1])
        #expect(circuit.cable.patches.map(\.revision.counter) == [1, 2])
    }

    @Test func `a follower of one region is told of that one alone`() throws {
        let (house, circuit, visit) = try working()
        try house.hub.follow(house.client.peer, region: "letter")
        circuit.commit(
            visit, 1,
            [.replace("number", base: 0, .int(1)), .replace("letter", base: 0, .text("b"))])
        #expect(house.client.cable.patches.map { $0.changes.map(\.region) } == [["letter"]])
        circuit.commit(visit, 2, base: 1, to: 2)
        #expect(house.client.cable.patches.count == 1)
    }

    @Test func `a resync sends every followed region whole`() throws {
        let (house, circuit, visit) = try working()
        for name in ["number", "letter"] { try house.hub.follow(house.client.peer, region: name) }
        circuit.commit(visit, 1, base: 0, to: 1)
        house.client.cable.snapshots = []
        house.hub.resync(house.client.peer)
        let sent = house.client.cable.snapshots
        #expect(sent.map(\.region) == ["number", "letter"])
        #expect(sent.map(\.revision.counter) == [1, 0])
        #expect(sent.map(\.value) == [.int(1), .text("a")])
    }

    @Test func `a region that does not exist or is not granted is not followed`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        #expect(throws: KernelError.self) {
            try house.hub.follow(house.client.peer, region: "nowhere")
        }
        let denied = #expect(throws: KernelError.self) {
            try house.hub.follow(compute.peer, region: "number")
        }
        #expect(denied?.code == .denied)
        #expect(denied?.message.contains("compute") == true)
    }
}
