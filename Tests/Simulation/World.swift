import Control
import Values

@testable import Kernel

/// Processes, cables, the clock and clients around a real hub. All that is left to chance comes
/// from the seed: the world picks one enabled step after another and checks after each.
///
/// It is the twin of the model in which the rules of the hub were found; what that model knows and
/// this kernel does not do yet (channels) is not here.
final class World {
    /// Something that was sent to the hub.
    struct Command {
        let who: Value
        let program: Program
        let number: Int64
        /// Whose effects they are: two requests with one key share them.
        let owner: Value
        var flow: Flow?
        var call: UInt64 = 0
    }

    enum Notice {
        case closed(SimProcess)
        case reaped(SimProcess)
    }

    enum Fault { case kill, hang, cut, cancel, outage, swap }

    static let second: UInt64 = 1_000_000_000

    let seed: UInt64
    let hub: Hub
    var chance: Chance
    private(set) var steps = 0
    private(set) var trace: [String] = []
    var processes: [SimProcess] = []
    private(set) var up: [Kind: SimProcess] = [:]
    private var notices: [Notice] = []
    var born = 0
    private var queue: [Command] = []
    var commands: [Command] = []
    private var faults: [Fault] = []
    private let kills: [Int: [Kind]]
    var outages: [Kind: UInt64] = [:]
    lazy var store = SimStore(self)
    var traps: [Value: Int64] = [:]
    // See Cells.
    var charges: [String: Int] = [:]
    var cellsWanted: [Kind: Int] = [:]
    var emptied: Set<Int> = []
    var retired: Set<Int> = []
    var cells = 0
    var swaps = 0
    lazy var client = SimClient(self)
    // What was seen; see WorldChecks.
    var made: [Mark.Key: Value] = [:]
    var outcomes: [Value: Result<Value, KernelError>] = [:]
    var complaints: Set<Value> = []
    var cancelled: Set<Value> = []
    var readErrors = 0
    /// The most requests that waited for one device.
    var fullest = 0
    var laneOrder: [String: UInt64] = [:]
    var broken: String?

    init(
        seed: UInt64, programs: [String]? = nil, faults: Bool = true, kills: [Int: [Kind]] = [:]
    ) throws {
        self.seed = seed
        self.kills = kills
        var chance = Chance(seed: seed)
        var limits = HubLimits()
        limits.waitingRequests = 6
        hub = Hub(epoch: 1, limits: limits) {
            Value.array($0.map { Value(encoded: $0) }).encoded
        }
        let names =
            programs
            ?? (0..<Int.random(in: 2...8, using: &chance)).map { _ in
                Program.names.randomElement(using: &chance) ?? "linear"
            }
        if faults {
            let most: [(Fault, Int)] = [
                (.kill, 5), (.hang, 2), (.cut, 2), (.cancel, 2), (.swap, 2),
            ]
            for (fault, count) in most {
                self.faults += Array(
                    repeating: fault, count: .random(in: 0...count, using: &chance))
            }
            if Int.random(in: 0..<10, using: &chance) == 0 { self.faults.append(.outage) }
            self.faults.shuffle(using: &chance)
        }
        self.chance = chance
        hub.observer = self
        try declare()
        for (index, name) in names.enumerated() { enqueue(name, index, of: names.count) }
        for kind in Kind.allCases { spawn(kind) }
    }

    private func declare() throws {
        for kind in Kind.allCases {
            let isCircuit = kind == .circuit
            try hub.declare(
                DeviceDeclaration(
                    name: kind.rawValue, pure: kind == .compute,
                    provides: kind.bindings.map(\.name), calls: nil, reads: [],
                    writes: isCircuit ? ["library", "loading", "number"] : []))
        }
        hub.declare(region: "library", initial: .array([]))
        hub.declare(region: "loading", initial: .null)
        hub.declare(region: "number", initial: .int(0))
        hub.turn(now: 1, wall: 1)
    }

    private func enqueue(_ name: String, _ index: Int, of count: Int) {
        guard let program = Program.all[name] else { return }
        let owner = Value.text("\(name)\(index)")
        let number = program.number ?? Int64(count - index)
        queue.append(Command(who: owner, program: program, number: number, owner: owner))
        if program.hasOwnKey {
            queue.append(
                Command(
                    who: .text("\(name)\(index)'"), program: program, number: number, owner: owner))
        }
    }

    func breach(_ what: String) {
        broken = broken ?? what
    }

    func note(_ text: @autoclosure () -> String) {
        trace.append("\(steps) \(text())")
    }

    // MARK: - Faults and processes

    func spawn(_ kind: Kind) {
        born += 1
        do {
            let process = try SimProcess(self, kind, number: born)
            processes.append(process)
            up[kind] = process
        } catch {
            breach("\(kind) was refused: \(error)")
        }
    }

    func die(_ process: SimProcess) {
        process.isAlive = false
        notices += [.closed(process), .reaped(process)]
    }

    private func strike(_ fault: Fault) {
        let alive = processes.filter(\.isAlive)
        note("FAULT \(fault)")
        if fault == .cancel {
            let open = commands.filter { $0.call > 0 && outcomes[$0.who] == nil }
            guard let victim = open.randomElement(using: &chance) else { return }
            cancelled.insert(victim.who)
            return hub.cancel(client.peer, call: victim.call)
        }
        if fault == .swap { return swap() }
        guard let victim = alive.randomElement(using: &chance) else { return }
        switch fault {
        case .hang: victim.isHung = true
        case .cut:
            victim.isCut = true
            notices.append(.closed(victim))
        case .outage:
            die(victim)
            outages[victim.kind] = hub.seen + 12 * World.second
        case .kill, .cancel, .swap: die(victim)
        }
    }

    private func take(_ index: Int) {
        switch notices.remove(at: index) {
        case .closed(let process):
            process.isDoomed = true
            hub.away(process.peer)
        case .reaped(let process):
            if up[process.kind] === process { up[process.kind] = nil }
            let verdicts = judge(process)
            hub.lost(process.peer, begun: process.begun, reason: "signal KILL") {
                verdicts[$0] ?? .replay
            }
        }
    }

    private func submit() {
        var command = queue.removeFirst()
        let payload = Value.array([command.owner, .int(command.number)]).encoded
        let slot = hub.symbol(command.program.symbol)
        let before = hub.numbers
        if command.program.isCommand {
            client.lastCall += 1
            hub.dispatch(client.peer, client.lastCall, slot, payload)
        } else {
            client.lastCall += 1
            command.call = client.lastCall
            hub.call(
                client.peer, command.call, slot, payload,
                key: command.program.hasOwnKey ? command.owner.text : nil)
        }
        if hub.numbers > before { command.flow = hub.flows.first { $0.number == before + 1 } }
        client.owners[client.lastCall] = command.who
        commands.append(command)
        client.deliver()
    }

    // MARK: - One step

    private func enabled() -> [(label: String, () -> Void)] {
        var found: [(String, () -> Void)] = []
        for process in processes {
            let name = "\(process.kind)#\(process.number)"
            if process.isAlive && !process.isHung {
                if !process.inbox.isEmpty { found.append(("\(name) reads", process.read)) }
                for visit in process.runnable {
                    found.append(("\(name) runs \(visit)", { process.run(visit) }))
                }
            }
            if let (label, say) = process.outbox.first {
                found.append(
                    (
                        "hub reads \(label) of \(name)",
                        { [hub] in
                            process.outbox.removeFirst()
                            say(hub, process.peer)
                        }
                    ))
            }
            if process.isAlive && process.isDoomed {
                found.append(("\(name) dies", { [self] in die(process) }))
            }
        }
        for index in notices.indices {
            found.append(("notice \(notices[index])", { [self] in take(index) }))
        }
        for kind in Kind.allCases where up[kind] == nil && hub.seen >= outages[kind, default: 0] {
            found.append(("\(kind) starts", { [self] in spawn(kind) }))
        }
        found += cellSteps()
        if let next = queue.first { found.append(("client sends \(next.who)", submit)) }
        return found
    }

    /// Does one thing; false when there is nothing left to do.
    private func step() -> Bool {
        steps += 1
        for kind in kills[steps] ?? [] {
            guard let victim = processes.first(where: { $0.isAlive && $0.kind == kind }) else {
                continue
            }
            note("KILL \(kind)#\(victim.number)")
            die(victim)
        }
        if !faults.isEmpty, Int.random(in: 0..<100, using: &chance) < 4 {
            strike(faults.removeLast())
            return true
        }
        if let hung = processes.first(where: { $0.isAlive && $0.isHung }),
            Int.random(in: 0..<100, using: &chance) == 0
        {
            hung.isHung = false
        }
        if let (label, act) = enabled().randomElement(using: &chance) {
            note(label)
            act()
            return true
        }
        return wait()
    }

    /// Nothing can happen now: time passes until something is due.
    private func wait() -> Bool {
        guard hub.liveFlows > 0 else { return false }
        var times = Array(outages.values) + limits()
        if hub.due != .max { times.append(max(hub.due, hub.seen + 1)) }
        guard let next = times.filter({ $0 > hub.seen }).min() else {
            breach("waits for ever: \(hub.flows.map(\.symbol.name))")
            return false
        }
        note("clock \(Double(next) / 1e9)")
        while hub.seen < next {
            let now = min(next, hub.seen + World.second)
            hub.turn(now: now + 1, wall: Int64(now / 1_000_000) + 1)
        }
        hub.tick()
        supervise()
        return true
    }

    /// When an attempt will be judged.
    private func limits() -> [UInt64] {
        processes.filter { $0.isAlive && !$0.isDoomed }.flatMap { process in
            hub.open(process.peer, digests: false)
                .filter { !$0.cancelled || process.isHung }
                .map { $0.since + UInt64($0.limit * 1e9) }
        }
    }

    /// A process that turns is asked to cancel; one that hangs is killed.
    private func supervise() {
        for process in processes where process.isAlive && !process.isDoomed {
            for visit in hub.open(process.peer, digests: false)
            where hub.seen >= visit.since + UInt64(visit.limit * 1e9) {
                if process.isHung {
                    process.isDoomed = true
                } else if !visit.cancelled {
                    hub.attemptOver(process.peer, visit: visit.number)
                }
            }
        }
    }

    /// Runs to the end; what broke, or nil.
    func run() -> String? {
        while broken == nil, step() {
            check()
            if steps > 20_000 { breach("never ends") }
        }
        if broken == nil { checkEnd() }
        return broken
    }
}
