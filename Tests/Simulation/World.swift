import Control
import Supervisor
import Values

@testable import Kernel

/// Processes, cables, the clock and clients around a real hub and the real policy of supervision.
/// All that is left to chance comes from the seed: the world picks one enabled step after another
/// and checks after each.
///
/// It is the twin of the model in which the rules of the hub were found.
final class World {
    /// Something that was sent to the hub.
    struct Command {
        let who: Value
        let program: Program
        let number: Int64
        /// Whose effects they are: two requests with one key share them.
        let owner: Value
        var flow: Flow?
        /// The client's number of the call; 0 while nobody is told of its end.
        var call: UInt64 = 0
    }

    enum Notice {
        case closed(SimProcess)
        case reaped(SimProcess)
        /// A process that was to start is killed before it could say anything.
        case unborn(Start)
    }

    /// A process that the policy has asked for and that has not come up yet.
    struct Start {
        var seat: Seat
        var incarnation: Int
        var isCell: Bool
    }

    enum Fault: CaseIterable {
        case kill, stop, spin, cut, exit, badStart, cancel, leave, swap, restart

        /// How often it strikes in one run, at most.
        var most: Int {
            switch self {
            case .kill: 7
            case .stop, .cut, .cancel, .swap: 2
            case .spin, .exit, .badStart, .leave, .restart: 1
            }
        }
    }

    static let second: UInt64 = 1_000_000_000

    let seed: UInt64
    /// Flows may be refused, or end, because the kernel holds too many bytes.
    let isTight: Bool
    let hub: Hub
    var policy: Policy
    var chance: Chance
    private(set) var steps = 0
    private(set) var trace: [String] = []
    /// Monotonic nanoseconds.
    private(set) var clock: UInt64 = 1
    /// The longest that a message is under way, in nanoseconds.
    private(set) var lag: UInt64 = 0
    var processes: [SimProcess] = []
    var starts: [Start] = []
    var notices: [Notice] = []
    /// What the policy has not been told yet.
    var errands: [PolicyEvent] = []
    var verdicts: [UInt64: Hub.Verdict] = [:]
    var born = 0
    /// The program of each device on the disk.
    var builds: [Kind: UInt64] = [:]
    /// Whom the flows of a root have met last.
    var met: [UInt64: [Kind: SimProcess]] = [:]
    private var queue: [Command] = []
    var commands: [Command] = []
    private var faults: [Fault] = []
    private let kills: [Int: [Kind]]
    var outages: [Kind: UInt64] = [:]
    lazy var store = SimStore(self)
    var traps: [Value: Int64] = [:]
    // See Supervision.
    var badStarts = 0
    var cells = 0
    var swaps = 0
    var excuses = Excuses()
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
    var remembered: [WeakFlow] = []
    /// Flows whose branches have begun.
    var forked: Set<UInt64> = []
    var committed: UInt64 = 0
    /// What was published, and the places of what each follower has handled; see SimChannels.
    var events: [Value] = []
    var heard: [String: [Int]] = [:]
    var broken: String?

    init(
        seed: UInt64, programs: [String]? = nil, faults: Bool = true, kills: [Int: [Kind]] = [:]
    ) throws {
        self.seed = seed
        self.kills = kills
        var chance = Chance(seed: seed)
        var limits = HubLimits()
        limits.waitingRequests = 6
        // In some runs the kernel has room for a few flows only.
        isTight = faults && seed % 8 == 7
        if isTight { limits.flowBytes = 2_000 + Int(seed / 8 % 16) * 500 }
        hub = Hub(epoch: 1, limits: limits) {
            Value.array($0.map { Value(encoded: $0) }).encoded
        }
        var seats: [Seat] = []
        for kind in Kind.allCases {
            let isDouble = faults && Int.random(in: 0..<3, using: &chance) == 0
            seats += isDouble ? [Seat(kind, 1), Seat(kind, 2)] : [Seat(kind, 0)]
        }
        policy = Policy(seats.map { DeviceProfile(name: $0.name, device: $0.kind.rawValue) })
        let names =
            programs
            ?? (0..<Int.random(in: 2...8, using: &chance)).map { _ in
                Program.names.randomElement(using: &chance) ?? "linear"
            }
        if faults {
            for fault in Fault.allCases {
                // Rare ones are excuses, under which less is checked.
                let isRare = fault.most == 1 && Int.random(in: 0..<4, using: &chance) > 0
                self.faults += Array(
                    repeating: fault,
                    count: isRare ? 0 : .random(in: 0...fault.most, using: &chance))
            }
            self.faults.shuffle(using: &chance)
            if Int.random(in: 0..<10, using: &chance) == 0 {
                outages[Kind.allCases.randomElement(using: &chance) ?? .compute] = 0
            }
            if Int.random(in: 0..<3, using: &chance) == 0 {
                lag = .random(in: 1...40_000_000, using: &chance)
            }
        }
        self.chance = chance
        hub.observer = self
        try declare(seats)
        for (index, name) in names.enumerated() { enqueue(name, index, of: names.count) }
        tell(.boot)
    }

    private func declare(_ seats: [Seat]) throws {
        for kind in Kind.allCases {
            let isCircuit = kind == .circuit
            try hub.declare(
                DeviceDeclaration(
                    name: kind.rawValue, pure: kind == .compute,
                    provides: kind.bindings.map(\.name), calls: nil, reads: [],
                    writes: isCircuit ? ["library", "loading", "number", "heard"] : [],
                    publishes: isCircuit ? [Self.news] : [],
                    instances: seats.count { $0.kind == kind }))
        }
        hub.declare(region: "library", initial: .array([]))
        hub.declare(region: "loading", initial: .null)
        hub.declare(region: "number", initial: .int(0))
        try declareChannel()
        hub.turn(now: clock, wall: 1)
        client.follow(["library", "number"])
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

    /// When a message that is sent now arrives.
    func arrival() -> UInt64 {
        lag == 0 ? 0 : clock + .random(in: 0...lag, using: &chance)
    }

    // MARK: - Faults and commands

    private func strike(_ fault: Fault) {
        note("FAULT \(fault)")
        switch fault {
        case .cancel:
            let open = commands.filter { $0.call > 0 && outcomes[$0.who] == nil }
            guard let victim = open.randomElement(using: &chance) else { return }
            cancelled.insert(victim.who)
            hub.cancel(client.peer, call: victim.call)
        case .leave: leave()
        case .swap: if let kind = Kind.allCases.randomElement(using: &chance) { swap(kind) }
        case .restart:
            if let kind = Kind.allCases.randomElement(using: &chance) {
                tell(.restart(kind.rawValue))
            }
        case .badStart: badStarts += 1
        case .kill, .stop, .spin, .cut, .exit:
            let alive = processes.filter(\.isAlive)
            if let victim = alive.randomElement(using: &chance) { harm(victim, fault) }
        }
    }

    /// The client is gone, and another one comes: nobody is told how its calls end.
    private func leave() {
        let old = client
        for index in commands.indices where commands[index].call > 0 {
            if outcomes[commands[index].who] == nil { cancelled.insert(commands[index].who) }
            commands[index].call = 0
        }
        client = SimClient(self)
        client.follow(["library", "number"])
        hub.gone(old.peer)
    }

    private func submit() {
        var command = queue.removeFirst()
        let payload = Value.array([command.owner, .int(command.number)]).encoded
        let slot = hub.symbol(command.program.symbol)
        let before = hub.numbers
        client.lastCall += 1
        if command.program.isCommand {
            hub.dispatch(client.peer, client.lastCall, slot, payload)
        } else {
            command.call = client.lastCall
            hub.call(
                client.peer, command.call, slot, payload,
                key: command.program.hasOwnKey ? command.owner.text : nil)
        }
        if hub.numbers > before { command.flow = hub.flows.first { $0.number == before + 1 } }
        client.owners[client.lastCall] = command.who
        commands.append(command)
        client.deliver()
        // A command that ended at once is known by what it left.
        if command.program.isCommand, hub.numbers > before, command.flow == nil,
            let code = hub.errors.last?["code"]?.text
        {
            told(command.who, .failure(KernelError(.init(rawValue: code), "", outcome: .none)))
        }
    }

    // MARK: - One step

    private func enabled() -> [(label: String, () -> Void)] {
        var found: [(String, () -> Void)] = []
        for process in processes { found += process.steps(at: clock) }
        for index in notices.indices {
            found.append(("notice \(notices[index])", { [self] in take(index) }))
        }
        for index in starts.indices {
            let start = starts[index]
            found.append(
                (
                    "\(start.seat.name)#\(start.incarnation) starts",
                    { [self] in comeUp(starts.remove(at: index)) }
                ))
        }
        if let errand = errands.first {
            found.append(("the policy hears \(errand)", { [self] in tell(errands.removeFirst()) }))
        }
        if client.isBehind { found.append(("the client reads", client.read)) }
        if let next = queue.first { found.append(("client sends \(next.who)", submit)) }
        for kind in Kind.allCases where hub.devices[kind.rawValue]?.refused != nil {
            found.append(("\(kind) is restarted", { [self] in tell(.restart(kind.rawValue)) }))
        }
        return found
    }

    /// Does one thing; false when there is nothing left to do.
    private func step() -> Bool {
        steps += 1
        hub.turn(now: clock, wall: wall)
        for kind in kills[steps] ?? [] {
            guard let victim = processes.first(where: { $0.isAlive && $0.kind == kind }) else {
                continue
            }
            note("KILL \(kind)#\(victim.number)")
            die(victim, ExitReason(signal: "KILL"))
        }
        if !faults.isEmpty, Int.random(in: 0..<100, using: &chance) < 4 {
            strike(faults.removeLast())
            return true
        }
        if let stopped = processes.first(where: { $0.isAlive && $0.isStopped }),
            Int.random(in: 0..<100, using: &chance) == 0
        {
            stopped.isStopped = false
        }
        if let (label, act) = enabled().randomElement(using: &chance) {
            note(label)
            act()
            return true
        }
        return wait()
    }

    /// Milliseconds since 1970; each step takes one, for what happens at once is not the rule.
    private var wall: Int64 { Int64(clock / 1_000_000) + Int64(steps) }

    /// Nothing can happen now: time passes until something is due.
    private func wait() -> Bool {
        var times = processes.flatMap { $0.arrivals }
        guard hub.liveFlows > 0 || times.contains(where: { $0 > clock }) else { return false }
        times += [clock + World.second] + outages.values
        if hub.due != .max { times.append(clock + max(hub.due, hub.seen + 1) - hub.seen) }
        if let due = policy.dueIn { times.append(clock + UInt64(due * 1e9) + 1) }
        guard let next = times.filter({ $0 > clock }).min() else { return false }
        clock = next
        note("clock \(Double(clock) / 1e9)")
        hub.turn(now: clock, wall: wall)
        hub.tick()
        tell(.tick(readings()))
        return true
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
