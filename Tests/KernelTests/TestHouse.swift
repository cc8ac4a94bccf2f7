import Control
import Kernel
import Testing
import Values

/// A hub with its devices and one client, all in memory; the test says what happens next.
final class TestHouse {
    let hub: Hub
    private(set) var clock: UInt64 = 1_000_000_000
    /// Processes so far, whose numbers are their incarnations.
    fileprivate(set) var started = 0
    private(set) lazy var client = TestClient(self)
    /// A pure device: `Compute.double`, `Compute.other`.
    let computeSlot: DeviceSlot
    /// A device that binds pipes and changes regions.
    let circuitSlot: DeviceSlot
    /// A device that keeps things: `Store.save` keyed, `Store.mail` once, `Store.set` replayable.
    let storeSlot: DeviceSlot

    static let pipe = "Circuit.pipe"

    /// - Parameter seats: processes of compute and of circuit that serve beside each other.
    init(_ limits: HubLimits = HubLimits(), seats: Int = 1) throws {
        hub = Hub(epoch: 7, limits: limits) { Array($0.joined(separator: Array(",".utf8))) }
        computeSlot = try hub.declare(
            DeviceDeclaration(
                name: "compute", pure: true, provides: ["Compute.double", "Compute.other"],
                calls: [], reads: [], writes: [], instances: seats))
        circuitSlot = try hub.declare(
            DeviceDeclaration(
                name: "circuit", pure: false,
                provides: ["Circuit.work", "Circuit.pipe", "Circuit.other"],
                calls: ["Compute.*", "Store.*", "Circuit.*", "Kernel.*"], reads: ["log"],
                writes: ["number", "letter", "short"], publishes: ["news"], instances: seats))
        storeSlot = try hub.declare(
            DeviceDeclaration(
                name: "store", pure: false, provides: ["Store.save", "Store.mail", "Store.set"],
                calls: nil, reads: [], writes: []))
        hub.declare(region: "number", initial: .int(0))
        hub.declare(region: "letter", initial: .text("a"))
        hub.declare(region: "log", initial: .array([]))
        hub.turn(now: clock, wall: 1_000)
    }

    /// A process of each device that serves.
    func startAll(
        stages: [StageDescriptor] = [], finally last: Bool = false, _ traits: Traits = .replayable
    ) throws -> (compute: TestProcess, circuit: TestProcess, store: TestProcess) {
        (try compute(), try circuit(stages: stages, finally: last, traits), try store())
    }

    func compute(
        isCell: Bool = false, seat: Int = 0, program: UInt64 = 0
    ) throws -> TestProcess {
        try TestProcess(
            self, computeSlot, bindings: computeSlot.names.map { .handler($0) }, isCell: isCell,
            seat: seat, program: program)
    }

    func circuit(
        stages: [StageDescriptor] = [], finally last: Bool = false,
        _ traits: Traits = .replayable, isCell: Bool = false, gives: String = "",
        seat: Int = 0, program: UInt64 = 0
    ) throws -> TestProcess {
        try TestProcess(
            self, circuitSlot,
            bindings: [
                .handler("Circuit.work", .replayable), .handler("Circuit.other", .replayable),
                Binding(
                    name: TestHouse.pipe, traits: traits, stages: stages, last: last, gives: gives),
            ], isCell: isCell, seat: seat, program: program)
    }

    func store() throws -> TestProcess {
        try TestProcess(
            self, storeSlot,
            bindings: [
                .handler("Store.save", .keyed), .handler("Store.mail", .once),
                .handler("Store.set", .replayable),
            ])
    }

    /// Time passes; the kernel ran all the while.
    func pass(_ seconds: Double) {
        var left = UInt64(seconds * 1_000_000_000)
        while left > 0 {
            let step = min(left, 500_000_000)
            left -= step
            clock += step
            hub.turn(now: clock, wall: Int64(clock / 1_000_000), tick: true)
            hub.tick()
        }
    }

    /// What `Kernel.Errors` holds, as `symbol code`.
    var errors: [String] {
        (hub.value(ofRegion: "Kernel.Errors")?.array ?? []).map {
            "\($0["symbol"]?.text ?? "") \($0["code"]?.text ?? "")"
        }
    }
}

extension DeviceSlot {
    /// The symbols of the pure device of `TestHouse`.
    var names: [String] { ["Compute.double", "Compute.other"] }
}

extension Binding {
    static func handler(_ name: String, _ traits: Traits = .unstated) -> Binding {
        Binding(name: name, traits: traits, stages: nil, last: false)
    }
}

extension StageDescriptor {
    static func visit(_ kind: Kind, _ symbol: String) -> StageDescriptor {
        StageDescriptor(kind: kind, symbol: symbol, notes: [], shape: "", file: "", line: 0)
    }

    static func stage(_ kind: Kind) -> StageDescriptor {
        StageDescriptor(kind: kind, symbol: nil, notes: [], shape: "", file: "", line: 0)
    }
}

/// A process of a device: it takes visits, and answers and asks as the test says.
final class TestProcess {
    let house: TestHouse
    let cable = TestCable()
    let peer: Peer
    let names: [String]
    private var begun: UInt64 = 0

    init(
        _ house: TestHouse, _ device: DeviceSlot, bindings: [Binding], ready: Bool = true,
        isCell: Bool = false, seat: Int = 0, program: UInt64 = 0
    ) throws {
        self.house = house
        house.started += 1
        peer = Peer(
            cable: cable, device: device, incarnation: house.started, isCell: isCell,
            name: device.name, seat: seat, program: program)
        names = Hub.places(of: bindings)
        try house.hub.announce(peer, bindings)
        for region in house.hub.grantedRegions(device) {
            try house.hub.follow(peer, region: region)
        }
        if ready { house.hub.ready(peer) }
    }

    /// Begins the earliest visit that it was given.
    func take(_ symbol: String, _ at: SourceLocation = #_sourceLocation) throws
        -> TestCable.Visit
    {
        try #require(!cable.visits.isEmpty, "no visit waits for \(symbol)", sourceLocation: at)
        let visit = cable.visits.removeFirst()
        begun = max(begun, visit.number)
        let name = visit.asker.map { "tag \($0.tag) #\(visit.symbol)" } ?? names[visit.symbol]
        #expect(name == symbol, sourceLocation: at)
        return visit
    }

    /// Outputs are lent, as those of a real cable are.
    func answer(_ visit: TestCable.Visit, _ verb: EncodedVerb) {
        guard case .next(let bytes) = verb else { return answer(visit, whole: verb) }
        bytes.withUnsafeBytes {
            house.hub.returned(peer, visit: visit.number, output: $0)
        }
    }

    func answer(_ visit: TestCable.Visit, whole verb: EncodedVerb) {
        house.hub.returned(peer, visit: visit.number, verb)
    }

    func answer(_ visit: TestCable.Visit, _ text: String) {
        answer(visit, .next(Array(text.utf8)))
    }

    func call(_ visit: TestCable.Visit, _ tag: UInt64, _ symbol: String, _ payload: String) throws {
        let slot = try #require(house.hub.symbol(symbol))
        house.hub.ask(
            peer, visit: visit.number, tag: tag, .call(slot, Array(payload.utf8), deadline: 0))
    }

    /// Runs a pipe that was built in the handler.
    func run(
        _ visit: TestCable.Visit, _ tag: UInt64, _ stages: [StageDescriptor], _ payload: String,
        last: Bool = false
    ) {
        house.hub.ask(
            peer, visit: visit.number, tag: tag,
            .run(RouteDescriptor(stages: stages, last: last), Array(payload.utf8)))
    }

    /// Offers a new integer for `number`, made on its value at `base`.
    func commit(_ visit: TestCable.Visit, _ tag: UInt64, base: UInt64, to value: Int64) {
        commit(visit, tag, [.replace("number", base: base, .int(value))])
    }

    func commit(_ visit: TestCable.Visit, _ tag: UInt64, _ offers: [RegionOffer]) {
        house.hub.ask(peer, visit: visit.number, tag: tag, .commit(offers))
    }

    func parked(_ visit: TestCable.Visit) {
        house.hub.parked(peer, visit: visit.number)
    }

    /// The answers that came since the last look, as `tag text`.
    func heard() -> [String] {
        defer { cable.answers = [] }
        return cable.answers.map { "\($0.tag) \($0.answer.text)" }
    }

    /// The process dies by a kill from outside; what it had begun is told by its page.
    func die(begun known: UInt64? = nil, _ verdict: Hub.Verdict = .replay) {
        die(begun: known) { _ in verdict }
    }

    func die(begun known: UInt64? = nil, _ verdict: (UInt64) -> Hub.Verdict) {
        house.hub.away(peer)
        house.hub.lost(peer, begun: known ?? begun, reason: "signal KILL", verdict: verdict)
        cable.visits = []
    }

    /// Sends a command.
    func dispatch(
        _ visit: TestCable.Visit, _ tag: UInt64, _ symbol: String, _ payload: String
    ) throws {
        let slot = try #require(house.hub.symbol(symbol))
        house.hub.ask(
            peer, visit: visit.number, tag: tag, .dispatch(slot, Array(payload.utf8)))
    }
}

extension RegionOffer {
    static func replace(_ region: String, base: UInt64, _ value: Value) -> RegionOffer {
        RegionOffer(
            region: region, base: base,
            patch: Patch([.replace([], value)]))
    }
}

/// A client of the public socket.
final class TestClient {
    let house: TestHouse
    let cable = TestCable()
    let peer: Peer
    private var last: UInt64 = 0

    init(_ house: TestHouse) {
        self.house = house
        peer = Peer(cable: cable, device: nil, incarnation: 0, name: "test")
    }

    func nextID() -> UInt64 {
        last += 1
        return last
    }

    struct Call {
        let id: UInt64
        let client: TestClient

        /// How it ended: the output, or `! code outcome`; nil while it has not, `twice` for ever.
        var end: String? {
            let mine = client.cable.replies.filter { $0.call == id }
            guard let only = mine.first else { return nil }
            guard mine.count == 1 else { return "twice" }
            switch only.result {
            case .success(let bytes): return String(decoding: bytes, as: UTF8.self)
            case .failure(let error): return "! \(error.code.rawValue) \(error.outcome)"
            }
        }

        var error: KernelError? {
            guard
                case .failure(let error) = client.cable.replies.first(where: { $0.call == id })?
                    .result
            else { return nil }
            return error
        }

        var accepted: Bool { client.cable.accepted.contains(id) }

        func cancel() { client.house.hub.cancel(client.peer, call: id) }
    }

    @discardableResult
    func call(
        _ symbol: String, _ payload: String = "x", deadline: UInt32 = 0, key: String? = nil
    ) -> Call {
        last += 1
        house.hub.call(
            peer, last, house.hub.symbol(symbol), Array(payload.utf8), deadline: deadline, key: key)
        return Call(id: last, client: self)
    }

    @discardableResult
    func dispatch(_ symbol: String, _ payload: String = "x", key: String? = nil) -> Call {
        last += 1
        house.hub.dispatch(peer, last, house.hub.symbol(symbol), Array(payload.utf8), key: key)
        return Call(id: last, client: self)
    }
}
