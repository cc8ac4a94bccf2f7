import Control
import Kernel
import Testing
import Values

/// What is kept of the changes of a region, and the values that it had.
@Suite struct HistoryTests {
    /// A house in which `number` counts up to the number of commits.
    private func counted(
        _ commits: Int, _ limits: HubLimits = HubLimits()
    ) throws -> (TestHouse, TestProcess, TestCable.Visit) {
        let house = try TestHouse(limits)
        let circuit = try house.circuit()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for number in 0..<commits {
            circuit.commit(
                visit, UInt64(number), base: UInt64(number), to: Int64(number) + 1)
        }
        return (house, circuit, visit)
    }

    /// Looks at a revision of `number` as a client that comes for it.
    private func number(_ house: TestHouse, at counter: UInt64) throws -> Value? {
        let cable = MirroringCable()
        let peer = Peer(cable: cable, device: nil, incarnation: 0, name: "reader")
        defer { house.hub.gone(peer) }
        _ = try house.hub.preview(peer, .revision(Revision(epoch: 7, counter: counter)))
        try house.hub.follow(peer, region: "number")
        #expect(cable.mirrors["number"]?.counter == counter)
        return cable.value("number")
    }

    @Test func `every revision that is kept has its value`() throws {
        let (house, _, _) = try counted(400)
        for counter in UInt64(0)...400 {
            #expect(try number(house, at: counter) == .int(Int64(counter)))
        }
    }

    @Test func `what is older than the limit is not kept, and the error names what is`() throws {
        var limits = HubLimits()
        limits.pastRevisions = 100
        let (house, _, _) = try counted(400, limits)
        #expect(try number(house, at: 300) == .int(300))
        #expect(try number(house, at: 363) == .int(363))
        let error = #expect(throws: KernelError.self) { try number(house, at: 299) }
        #expect(error?.code == .unavailable)
        #expect(error?.outcome == Outcome.none)
        #expect(error?.message.contains("number is not kept at revision 7-299") == true)
        #expect(error?.message.contains("the oldest is 7-300") == true)
    }

    @Test func `bytes are a limit, too, and keyframes count`() throws {
        var limits = HubLimits()
        let (house, circuit, visit) = try counted(0)
        _ = (house, circuit, visit)
        limits.pastBytes = 40_000
        let (small, writer, work) = try counted(0, limits)
        for number in UInt64(0)..<600 {
            let text = String(repeating: "x", count: number.isMultiple(of: 2) ? 900 : 901)
            writer.commit(work, number, [.replace("letter", base: number, .text(text))])
        }
        let page = try small.hub.readHistory(of: "letter", after: nil, last: nil)
        let entries = page["entries"]?.array ?? []
        let bytes = entries.compactMap { $0["bytes"]?.int }.reduce(0, +)
        #expect(entries.count > 4)
        #expect(bytes <= 40_000)
        #expect(page["revision"] == "7-600")
        #expect(entries.last?["revision"] == "7-600")
        #expect(entries.first?["revision"] != "7-1")
    }

    @Test func `a change that is larger than all that may be kept leaves no past`() throws {
        var limits = HubLimits()
        limits.pastBytes = 1_000
        let (house, circuit, visit) = try counted(3, limits)
        circuit.commit(
            visit, 9, [.replace("letter", base: 0, .text(String(repeating: "y", count: 2_000)))])
        #expect(house.hub.counter == 4)
        let cable = MirroringCable()
        let peer = Peer(cable: cable, device: nil, incarnation: 0, name: "reader")
        try house.hub.follow(peer, region: "letter")
        let error = #expect(throws: KernelError.self) {
            try house.hub.preview(peer, .revision(Revision(epoch: 7, counter: 3)))
        }
        #expect(error?.message.contains("the oldest is 7-4") == true)
        let page = try house.hub.readHistory(of: "letter", after: nil, last: nil)
        #expect(page["entries"] == [])
        #expect(page["oldest"] == "7-4")
    }

    @Test func `a revision between two of a region is that of the earlier one`() throws {
        let (house, circuit, visit) = try counted(3)
        circuit.commit(visit, 10, [.replace("letter", base: 0, .text("b"))])
        circuit.commit(visit, 11, [.replace("letter", base: 4, .text("c"))])
        #expect(try number(house, at: 4) == .int(3))
        #expect(try number(house, at: 5) == .int(3))
        #expect(try number(house, at: 2) == .int(2))
    }

    static let revisions: [(Revision, String)] = [
        (Revision(epoch: 6, counter: 1), "another start"),
        (Revision(epoch: 8, counter: 1), "another start"),
        (Revision(epoch: 7, counter: 4), "not made yet: the latest is 7-3"),
        (Revision(epoch: 7, counter: .max), "not made yet"),
    ]

    @Test(arguments: 0..<revisions.count)
    func `a revision that never was is refused`(_ index: Int) throws {
        let (revision, words) = Self.revisions[index]
        let (house, _, _) = try counted(3)
        let peer = Peer(cable: MirroringCable(), device: nil, incarnation: 0, name: "reader")
        let error = #expect(throws: KernelError.self) {
            try house.hub.preview(peer, .revision(revision))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(peer.preview == nil)
    }

    @Test(arguments: [0, 1, 5, 100])
    func `a region that keeps little shows so much of its past, and a late read still has it`(
        _ depth: Int
    ) throws {
        let house = try TestHouse()
        try house.hub.declare(region: "short", initial: .int(0), history: depth)
        var circuit = try house.circuit()
        house.client.call("Circuit.work")
        let visit = try circuit.take("Circuit.work")
        for number in UInt64(0)..<80 {
            circuit.commit(
                visit, number, [.replace("short", base: number, .int(Int64(number) + 1))])
        }
        #expect(house.hub.counter == 80)
        let page = try house.hub.readHistory(of: "short", after: nil, last: nil)
        let shown = min(depth, 80)
        let entries = (page["entries"]?.array ?? []).map { $0["revision"] ?? .null }
        #expect(entries == (0..<shown).map { .text("7-\(81 - shown + $0)") })
        #expect(page["depth"] == .int(Int64(depth)))
        #expect(page["oldest"] == .text("7-\(80 - shown)"))
        let late = try house.hub.readHistory(of: "short", after: 0, last: nil)
        #expect(late["lost"] == .int(Int64(80 - shown)))
        let peer = Peer(cable: MirroringCable(), device: nil, incarnation: 0, name: "reader")
        try house.hub.follow(peer, region: "short")
        for counter in UInt64(0)...80 {
            let isShown = counter >= UInt64(80 - shown)
            let place = try? house.hub.preview(peer, .revision(.init(epoch: 7, counter: counter)))
            #expect((place != nil) == isShown, "\(counter)")
        }
        // What a visit tells late that it has read is there for its repeat.
        house.hub.note(circuit.peer, visit: visit.number, region: "short", number: 0, revision: 30)
        circuit.die()
        circuit = try house.circuit()
        #expect(try circuit.take("Circuit.work").reads.map(\.value) == [.int(30)])
    }

    @Test(arguments: [-1, 1_025])
    func `a region that would keep more than any may is refused`(_ depth: Int) throws {
        let house = try TestHouse()
        let error = #expect(throws: KernelError.self) {
            try house.hub.declare(region: "deep", initial: .null, history: depth)
        }
        #expect(error?.message.contains("deep has a history of 0 to 1024") == true)
        #expect(!house.hub.regionNames.contains("deep"))
    }

    // MARK: - Pages

    @Test func `a history says when, by whom and how much`() throws {
        let (house, _, _) = try counted(2)
        let page = try house.hub.readHistory(of: "number", after: nil, last: nil)
        let entries = page["entries"]?.array ?? []
        #expect(entries.map { $0["revision"] } == ["7-1", "7-2"])
        #expect(entries.map { $0["number"] } == [.int(1), .int(2)])
        for entry in entries {
            #expect(entry["symbol"] == "Circuit.work")
            #expect(entry["device"] == "circuit")
            #expect(entry["flow"] == "7-1")
            #expect(entry["at"] == .date(1_000))
            #expect(entry["operations"] == .int(1))
            #expect((entry["bytes"]?.int ?? 0) > 0)
            #expect(entry.map?.count == 8)
        }
        #expect(page["oldest"] == "7-0")
        #expect(page["revision"] == "7-2")
    }

    @Test func `a reader takes pages, and is told what it has missed`() throws {
        var limits = HubLimits()
        limits.pastRevisions = 50
        limits.historyPage = 20
        let (house, _, _) = try counted(130, limits)
        var after: UInt64?
        var seen: [Value] = []
        var pages = 0
        while true {
            let page = try house.hub.readHistory(of: "number", after: after, last: nil)
            #expect(page["lost"] == .int(0))
            seen += (page["entries"]?.array ?? []).compactMap { $0["number"] }
            pages += 1
            after = UInt64(page["next"]?.int ?? 0)
            if page["next"] == page["last"] { break }
        }
        #expect(seen == (81...130).map { .int($0) })
        #expect(pages == 3)
        let late = try house.hub.readHistory(of: "number", after: 30, last: nil)
        #expect(late["lost"] == .int(50))
        let newest = try house.hub.readHistory(of: "number", after: nil, last: 3)
        #expect(
            (newest["entries"]?.array ?? []).map { $0["number"] } == [
                .int(128), .int(129), .int(130),
            ])
        let other = try house.hub.readHistory(of: "number", after: 9_999, last: nil)
        #expect(other["entries"]?.array?.first?["number"] == .int(81))
        let end = try house.hub.readHistory(of: "number", after: 130, last: nil)
        #expect(end["entries"] == [])
        #expect(end["next"] == .int(130))
        let none = try house.hub.readHistory(of: "number", after: nil, last: 0)
        #expect(none["entries"] == [])
    }

    @Test(arguments: [
        ("Kernel.Devices", "denied"), ("Kernel.Errors", "denied"), ("nowhere", "unbound"),
    ])
    func `what has no history is refused by name`(_ region: String, _ code: String) throws {
        let (house, _, _) = try counted(1)
        let error = #expect(throws: KernelError.self) {
            try house.hub.readHistory(of: region, after: nil, last: nil)
        }
        #expect(error?.code.rawValue == code)
        #expect(error?.message.contains(region) == true)
    }
}
