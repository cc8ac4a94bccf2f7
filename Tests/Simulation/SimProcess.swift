import Control
import Kernel
import Supervisor
import Values

/// A process of a device: the SDK's rules as a machine that the world turns.
final class SimProcess: Cable {
    enum Message {
        case visit(Delivery)
        case answer(UInt64, UInt64, Answer)
        case cancel(UInt64)
        case patch(UInt64, [RegionChange])
    }

    /// What a visit carries.
    struct Delivery {
        var number: UInt64
        var symbol: String
        var key: String
        var attempt: UInt32
        var now: Int64
        var lowest: UInt64
        var replay: Bool
        var reads: [RegionRead]
        var value: Value
    }

    /// A handler that runs.
    final class Running {
        let order: Delivery
        var ready: [(SimTask, Result<Value, Failure>)]
        var answers: [(tag: UInt64, Answer)] = []
        var asked: [UInt64: Asked] = [:]
        var lastTag: UInt64 = 0
        /// The closures of the pipes that it runs, by the question.
        var pipes: [UInt64: [String]] = [:]
        var reads: [String: UInt32] = [:]
        var transactions = 0
        var draws: UInt64 = 0

        init(_ order: Delivery) {
            self.order = order
            let body = Handlers.body(of: order.symbol, order.value)
            ready = [(SimTask(body), .success(.null))]
        }
    }

    struct Asked {
        var task: SimTask
        var commit: (regions: [String], change: ([Value]) -> ([Value], Value))?
        var result: Value = .null
    }

    unowned let world: World
    let seat: Seat
    var kind: Kind { seat.kind }
    /// Its incarnation.
    let number: Int
    private(set) var peer: Peer!
    let names: [String]
    let isCell: Bool
    /// What it runs: another number is another build.
    let program: UInt64
    var isReady = false
    var isAlive = true
    /// By a signal; it may be continued.
    var isStopped = false
    /// Its code goes round in circles.
    private var isSpinning = false
    /// Its cable is cut: what it says is lost.
    var isCut = false
    /// It goes as soon as it holds no visit.
    var isDraining = false
    /// The signal that is under way to it.
    var doom: ExitReason?
    /// How it ended.
    var exit = ExitReason()
    /// Visits that came to it, but for closures of the pipes of others here.
    private(set) var orders = 0
    private var inbox: [(at: UInt64, message: Message)] = []
    private var outbox: [(at: UInt64, label: String, say: (Hub, Peer) -> Void)] = []
    var visits: [UInt64: Running] = [:]
    private(set) var mirror: [String: (revision: UInt64, value: Value)] = [:]
    private var marks: [Pair: Mark] = [:]
    private var order: Chance
    // The status page, which survives the process.
    private let hasPage: Bool
    private var turns: UInt64 = 0
    private var begun: UInt64 = 0
    /// The visit whose code runs, or 0.
    private var running: UInt64 = 0
    private var lastHeard = 0.0

    private struct Pair: Hashable {
        var visit: UInt64
        var tag: UInt64
    }

    /// It announces what it binds; the world says when it is ready.
    init(_ world: World, _ start: World.Start, born: Int) throws {
        self.world = world
        isCell = start.isCell
        seat = start.seat
        program = world.builds[start.seat.kind, default: 0]
        number = start.incarnation
        let bindings = start.seat.kind.bindings
        names = Hub.places(of: bindings)
        order = Chance(seed: world.seed &* 1_000 &+ UInt64(born))
        hasPage = Int.random(in: 0..<8, using: &order) > 0
        let slot = world.hub.devices[start.seat.kind.rawValue]
        peer = Peer(
            cable: self, device: slot, incarnation: number, isCell: isCell, name: seat.name,
            seat: seat.number, program: program)
        try world.hub.announce(peer, bindings)
        for region in world.hub.grantedRegions(slot) { try world.hub.follow(peer, region: region) }
    }

    // MARK: - What the world sees

    /// It can be given visits.
    var canServe: Bool { isAlive && !isCell && !isDraining && doom == nil && !peer.away && isReady }

    /// It can do something, and be heard.
    var isFree: Bool { isAlive && !isStopped && !isSpinning && !isCut }

    var page: PageReading? {
        guard hasPage else { return nil }
        let isAsleep = !isSpinning && inbox.isEmpty && runnable.isEmpty
        return PageReading(turns: turns, asleep: isAsleep, begun: begun, running: running)
    }

    /// When it was last heard: whoever turns answers a ping at once.
    func hear(at seconds: Double) -> Double {
        if isFree { lastHeard = seconds }
        return lastHeard
    }

    /// When the next message of each direction arrives.
    var arrivals: [UInt64] {
        [isFree ? inbox.first?.at : nil, outbox.first?.at].compactMap { $0 }
    }

    func spin() {
        isSpinning = true
        running = runnable.first ?? 0
    }

    /// What can happen to it now.
    func steps(at clock: UInt64) -> [(label: String, () -> Void)] {
        let name = "\(seat.name)#\(number)"
        var found: [(String, () -> Void)] = []
        if let (at, label, _) = outbox.first, at <= clock {
            found.append(("hub reads \(label) of \(name)", deliver))
        }
        guard isAlive else { return found }
        if let doom { found.append(("\(name) dies", { [self] in world.die(self, doom) })) }
        guard !isStopped, !isSpinning else { return found }
        if let first = inbox.first, first.at <= clock { found.append(("\(name) reads", read)) }
        for visit in runnable {
            found.append(("\(name) runs \(visit)", { [self] in run(visit) }))
        }
        if isCut || isDraining && visits.isEmpty {
            found.append(("\(name) goes", { [self] in world.die(self, ExitReason()) }))
        }
        return found
    }

    private func deliver() {
        let say = outbox.removeFirst().say
        say(world.hub, peer)
    }

    /// The hub reads all that it has said.
    func readDry() {
        while !outbox.isEmpty { deliver() }
    }

    // MARK: - The cable

    func visit(_ order: borrowing VisitOrder) {
        if order.asker == nil { orders += 1 }
        world.delivered(order, to: self)
        let path = order.path ?? "\(world.hub.epoch)-\(order.flow)"
        receive(
            .visit(
                Delivery(
                    number: order.number, symbol: name(of: order),
                    key: "\(path)/\(order.step)", attempt: order.attempt, now: order.now,
                    lowest: order.lowest, replay: order.replay, reads: order.reads,
                    value: Value(encoded: order.value))))
    }

    private func name(of order: borrowing VisitOrder) -> String {
        guard let asker = order.asker else { return names[order.symbol] }
        let closures = visits[asker.visit]?.pipes[asker.tag] ?? []
        return order.symbol < closures.count ? closures[order.symbol] : "gone"
    }

    func cancel(visit: UInt64) {
        receive(.cancel(visit))
    }

    func answer(visit: UInt64, tag: UInt64, _ answer: Answer) {
        // Every commit here changes something, so a revision that is new is an effect.
        if case .committed(let revision, _) = answer, revision > world.committed {
            world.committed = revision
            if let mark = marks[Pair(visit: visit, tag: tag)] { world.effect(mark) }
        }
        if case .published(let sequence) = answer { world.published(sequence) }
        receive(.answer(visit, tag, answer))
    }

    func snapshot(region: String, at revision: Revision, _ value: Value) {
        mirror[region] = (revision.counter, value)
    }

    func patch(_ update: Update) {
        receive(.patch(update.revision.counter, update.changes))
    }

    func together(_ count: Int) {}

    func reply(call: UInt64, _ result: Result<[UInt8], KernelError>) {}
    func accepted(call: UInt64) {}
    func channel(call: UInt64, _ answer: ChannelAnswer) {}

    private func receive(_ message: Message) {
        inbox.append((max(inbox.last?.at ?? 0, world.arrival()), message))
    }

    private func send(_ label: String, _ message: @escaping (Hub, Peer) -> Void) {
        if !isCut { outbox.append((max(outbox.last?.at ?? 0, world.arrival()), label, message)) }
    }

    // MARK: - Reading

    /// Takes one message. Taking a visit begins it: the page is written first.
    private func read() {
        turns += 1
        switch inbox.removeFirst().message {
        case .visit(let order):
            begun = order.number
            if kind == .store { world.store.prune(below: order.lowest, epoch: world.hub.epoch) }
            visits[order.number] = Running(order)
        case .answer(let visit, let tag, let answer):
            guard let running = visits[visit], running.asked[tag] != nil else { return }
            running.answers.append((tag, answer))
        case .cancel(let visit):
            guard visits.removeValue(forKey: visit) != nil else { return }
            send("reply cancelled") {
                $0.returned($1, visit: visit, .fail(KernelError(.cancelled, "")))
            }
        case .patch(let counter, let changes):
            for change in changes {
                guard let old = mirror[change.region], old.revision == change.from,
                    let new = try? change.patch.apply(to: old.value)
                else { return world.breach("a patch does not fit its mirror: \(change.region)") }
                mirror[change.region] = (counter, new)
            }
        }
    }

    private var runnable: [UInt64] {
        visits.filter { !$0.value.ready.isEmpty || !$0.value.answers.isEmpty }.keys.sorted()
    }

    /// Runs one task of a visit to its next question, or hands over one answer.
    private func run(_ number: UInt64) {
        guard let visit = visits[number] else { return }
        turns += 1
        running = number
        if visit.ready.isEmpty {
            handOver(visit)
        } else {
            let (task, input) = visit.ready.removeFirst()
            if !task.isDead { resume(visit, task, input) }
        }
        guard isAlive else { return }
        let waits = visit.ready.isEmpty && visit.answers.isEmpty
        if waits || visits[number] == nil { running = 0 }
        guard visits[number] != nil, waits, visit.order.replay else { return }
        send("parked") { $0.parked($1, visit: number) }
    }

    private func handOver(_ visit: Running) {
        let (tag, answer) = visit.answers.removeFirst()
        guard let asked = visit.asked.removeValue(forKey: tag) else { return }
        let value: Result<Value, Failure>
        switch answer {
        case .conflict:
            guard let (regions, change) = asked.commit else { return }
            return offer(visit, asked.task, tag, regions, change)
        case .output(let bytes): value = .success(Value(encoded: bytes))
        case .failure(let error): value = .failure(Failure(code: error.code.rawValue))
        case .published(let sequence): value = .success(.int(Int64(sequence)))
        case .committed(_, let values?):
            value = .success(asked.commit?.change(values).1 ?? .null)
        case .committed(_, nil): value = .success(asked.result)
        }
        if !asked.task.isDead { visit.ready.append((asked.task, value)) }
    }

    // MARK: - Handlers

    private func resume(_ visit: Running, _ task: SimTask, _ input: Result<Value, Failure>) {
        guard let next = task.next else { return }
        switch next(input) {
        case .done(let value): complete(visit, task, .success(value))
        case .abort(let value): reply(visit, .abort(value.encoded))
        case .fail(let failure): complete(visit, task, .failure(failure))
        case .divert(let name, let value): reply(visit, .divert(name, value.encoded))
        case .ask(let question, let then):
            task.next = then
            ask(visit, task, question)
        case .together(let steps, let hashed, let then):
            task.children = steps.indices.map { SimTask(steps[$0], parent: task, index: $0) }
            task.results = Array(repeating: .null, count: steps.count)
            task.waits = steps.count
            task.join = then
            var children = task.children
            if hashed { children.shuffle(using: &order) }
            visit.ready += children.map { ($0, .success(.null)) }
        }
    }

    private func complete(
        _ visit: Running, _ task: SimTask, _ value: Result<Value, Failure>
    ) {
        guard let group = task.parent else {
            switch value {
            case .success(let value): return reply(visit, .next(value.encoded))
            case .failure(let failure):
                return reply(visit, .fail(KernelError(.init(rawValue: failure.code), "")))
            }
        }
        switch value {
        case .failure(let failure):
            group.children.forEach { $0.isDead = true }
            guard group.waits > 0 else { return }
            group.waits = 0
            group.next = { _ in .fail(failure) }
            visit.ready.append((group, .failure(failure)))
        case .success(let value):
            group.results[task.index] = value
            group.waits -= 1
            guard group.waits == 0, let join = group.join else { return }
            let results = group.results
            group.next = { _ in join(results) }
            visit.ready.append((group, .success(.null)))
        }
    }

    private func reply(_ visit: Running, _ verb: EncodedVerb) {
        let number = visit.order.number
        visits[number] = nil
        send("reply of \(visit.order.symbol)") { hub, peer in
            // Outputs are lent, as those of a real cable are.
            guard case .next(let bytes) = verb else {
                return hub.returned(peer, visit: number, verb)
            }
            bytes.withUnsafeBytes { hub.returned(peer, visit: number, output: $0) }
        }
    }

    /// Local answers are ready at once; the others go through the hub.
    private func ask(_ visit: Running, _ task: SimTask, _ question: Question) {
        let order = visit.order
        let value: Value
        switch question {
        case .call(let symbol, let payload):
            visit.lastTag += 1
            let tag = visit.lastTag
            visit.asked[tag] = Asked(task: task)
            return send("ask \(symbol)") { hub, peer in
                guard let slot = hub.symbol(symbol) else { return }
                hub.ask(
                    peer, visit: order.number, tag: tag, .call(slot, payload.encoded, deadline: 0))
            }
        case .dispatch(let symbol, let payload):
            visit.lastTag += 1
            let tag = visit.lastTag
            visit.asked[tag] = Asked(task: task)
            return send("dispatch \(symbol)") { hub, peer in
                guard let slot = hub.symbol(symbol) else { return }
                hub.ask(peer, visit: order.number, tag: tag, .dispatch(slot, payload.encoded))
            }
        case .publish(let mark): return publish(visit, task, mark)
        case .run(let stages, let closures, let payload):
            visit.lastTag += 1
            let tag = visit.lastTag
            visit.asked[tag] = Asked(task: task)
            visit.pipes[tag] = closures
            return send("ask a pipe") { hub, peer in
                hub.ask(
                    peer, visit: order.number, tag: tag,
                    .run(RouteDescriptor(stages: stages, last: false), payload.encoded))
            }
        case .commit(let regions, let change, let mark):
            visit.lastTag += 1
            marks[Pair(visit: order.number, tag: visit.lastTag)] = mark
            return offer(visit, task, visit.lastTag, regions, change)
        case .read(let region): value = read(visit, region)
        case .now: value = .int(order.now)
        case .wild: value = .int(Int64(order.attempt))
        case .random:
            visit.draws += 1
            var chance = Chance(seed: Digest.of(Array(order.key.utf8)) &+ visit.draws)
            value = .int(Int64.random(in: 0..<1_000, using: &chance))
        case .transaction(let mark):
            value = world.store.transact("\(order.key) \(visit.transactions)", mark)
            visit.transactions += 1
        case .outside(let mark):
            world.effect(mark)
            value = .null
        case .trap(let who, let times):
            if world.traps[who, default: 0] < times {
                world.traps[who, default: 0] += 1
                // Now and then nobody knows whose code ran.
                if Int.random(in: 0..<4, using: &self.order) == 0 { running = 0 }
                return world.die(self, ExitReason(signal: "TRAP"))
            }
            value = .null
        }
        visit.ready.append((task, .success(value)))
    }

    private func publish(_ visit: Running, _ task: SimTask, _ mark: Mark) {
        visit.lastTag += 1
        let (number, tag) = (visit.order.number, visit.lastTag)
        visit.asked[tag] = Asked(task: task)
        send("publish \(mark.name)") {
            $0.askPublish($1, visit: number, tag: tag, channel: World.news, mark.event.encoded)
        }
    }

    private func read(_ visit: Running, _ region: String) -> Value {
        let n = visit.reads[region, default: 0]
        visit.reads[region] = n + 1
        if let kept = visit.order.reads.first(where: { $0.region == region && $0.number == n }) {
            return kept.value
        }
        let here = mirror[region] ?? (0, .null)
        let number = visit.order.number
        send("note \(region)") {
            $0.note($1, visit: number, region: region, number: n, revision: here.revision)
        }
        return here.value
    }

    private func offer(
        _ visit: Running, _ task: SimTask, _ tag: UInt64, _ regions: [String],
        _ change: @escaping ([Value]) -> ([Value], Value)
    ) {
        let base = regions.map { mirror[$0] ?? (0, .null) }
        let (after, result) = change(base.map(\.value))
        visit.asked[tag] = Asked(task: task, commit: (regions, change), result: result)
        let offers = regions.indices.map { index in
            RegionOffer(
                region: regions[index], base: base[index].revision,
                patch: Patch.difference(from: base[index].value, to: after[index]))
        }
        let number = visit.order.number
        marks[Pair(visit: number, tag: tag)]?.value = result
        send("offer \(regions)") { $0.ask($1, visit: number, tag: tag, .commit(offers)) }
    }
}
