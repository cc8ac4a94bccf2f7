import Supervisor
import Testing

/// A world of words around one device's policy: a script of steps goes in, what the policy did
/// comes out.
///
/// | step | meaning |
/// |---|---|
/// | `boot` `stop` `start` `restart` `swap` `kill` `shutdown` | as they say |
/// | `cell` | a visit waits for a cell |
/// | `ready` `eof` `drained` `emptied` | said by the newest process, or by n with `ready@n` |
/// | `die KILL` `die 3` `die KILL memory` | a death by signal or exit; what was held goes with it |
/// | `unspawned ENOENT` | the start failed |
/// | `visit A#1 limit=3 once` | a delivery to the newest process |
/// | `return 1` | visit 1 returned; `heard`: some frame was heard |
/// | `page` | it has a page from now on; `begun=2 running=1 asleep=0 turning=1` set what it shows |
/// | `held stopped`, `held traced`, `held no` | for the ticks to come |
/// | `wait 5` | five ticks, one a second; `tick 0.5` one tick after half a second |
/// | `gap 30` | nothing for 30 seconds and then a tick |
/// | `pass 0.5` | time goes by without a tick |
/// | `clear` | forget what was done so far |
struct PolicyWorld {
    struct Process {
        var page: PageReading?
        var isTurning = true
        var stopped = false
        var traced = false
        var load = ProcessLoad()
        /// Another machine's number stands in a visit's key.
        var next: UInt64 = 1
    }

    static let name = "device"
    /// What is said of a visit whose process died.
    static let words: [VisitVerdict: String] = [
        .replay: "replay", .lost: "lost", .poisoned: "poisoned", .cell: "apart",
    ]
    var policy: Policy
    var now = 5000.0
    var processes: [Int: Process] = [:]
    var done: [String] = []
    var shown = ""

    init(transient: Bool = false) {
        policy = Policy([
            DeviceProfile(name: Self.name, restart: transient ? .transient : .permanent)
        ])
    }

    static func run(_ script: String, transient: Bool = false) throws -> PolicyWorld {
        var world = PolicyWorld(transient: transient)
        for step in script.split(separator: ",") {
            try world.step(step.split(separator: " ").map(String.init))
        }
        return world
    }

    var newest: Int { processes.keys.max() ?? 0 }

    mutating func handle(_ event: PolicyEvent) {
        for action in policy.handle(event, at: now) { note(action) }
    }

    private mutating func note(_ action: PolicyAction) {
        switch action {
        case .spawn(_, let incarnation, let isCell):
            processes[incarnation] = Process()
            done.append("\(isCell ? "cell" : "spawn") \(incarnation)")
        case .cellLost(_, let failed): done.append(failed ? "no cell" : "cell lost")
        case .drain(_, let incarnation): done.append("drain \(incarnation)")
        case .term(_, let incarnation): done.append("term \(incarnation)")
        case .kill(_, let incarnation): done.append("kill \(incarnation)")
        case .ping(_, let incarnation): done.append("ping \(incarnation)")
        case .cancel(_, _, let visit):
            done.append("cancel \(visit)")
        case .settle(_, _, let visit, let verdict):
            done.append("\(Self.words[verdict] ?? "") \(visit)")
        case .buried: break
        case .refuse(_, let state): done.append("refuse \(state.rawValue)")
        case .show(_, let state, let reason):
            shown = reason.isEmpty ? state.rawValue : "\(state.rawValue): \(reason)"
        case .swapFailed(_, let reason, let servesOn):
            done.append("swap failed\(servesOn ? "" : ", nobody serves"): \(reason)")
        case .swapDropped(_, let failed): done.append("swap dropped after \(failed)")
        case .refused(_, let reason): done.append("refused: \(reason)")
        case .exit: done.append("exit")
        }
    }

    struct UnknownStep: Error {
        var words: [String]
    }

    mutating func step(_ words: [String]) throws {
        let parts = words[0].split(separator: "@")
        let process = parts.count > 1 ? try #require(Int(parts[1])) : newest
        let arguments = Array(words.dropFirst())
        switch parts[0] {
        case "boot": handle(.boot)
        case "stop": handle(.stop(Self.name))
        case "start": handle(.start(Self.name))
        case "restart": handle(.restart(Self.name))
        case "swap": handle(.swap(Self.name))
        case "kill": handle(.kill(Self.name))
        case "cell": handle(.cell(Self.name))
        case "emptied": handle(.emptied(device: Self.name, incarnation: process))
        case "shutdown": handle(.shutdown)
        case "ready":
            processes[process]?.load.lastHeard = now
            handle(.ready(device: Self.name, incarnation: process, until: 10))
        case "eof": handle(.cableClosed(device: Self.name, incarnation: process))
        case "drained": handle(.drained(device: Self.name, incarnation: process))
        case "die": die(process, arguments)
        case "unspawned":
            processes[process] = nil
            handle(
                .unspawned(
                    device: Self.name, incarnation: process, error: arguments[0],
                    detail: arguments[0]))
        case "visit": deliver(process, arguments)
        case "return": giveBack(process, try #require(UInt64(arguments[0])))
        case "heard": processes[process]?.load.lastHeard = now
        case "page": setPage(process, arguments)
        case "held":
            processes[process]?.stopped = arguments == ["stopped"]
            processes[process]?.traced = arguments == ["traced"]
        case "wait": for _ in 0..<(try #require(Int(arguments[0]))) { tick(after: 1) }
        case "tick", "gap": tick(after: try #require(Double(arguments[0])))
        case "pass": now += try #require(Double(arguments[0]))
        case "clear": done = []
        default: throw UnknownStep(words: words)
        }
    }

    private mutating func die(_ incarnation: Int, _ arguments: [String]) {
        guard let process = processes.removeValue(forKey: incarnation) else { return }
        let code = Int32(arguments[0])
        let exit = ExitReason(
            signal: code == nil ? arguments[0] : "", code: code ?? 0,
            memory: arguments.contains("memory"))
        handle(
            .died(
                device: Self.name, incarnation: incarnation, exit: exit, page: process.page,
                load: process.load))
    }

    private mutating func deliver(_ incarnation: Int, _ arguments: [String]) {
        guard var process = processes[incarnation] else { return }
        let key = arguments[0].split(separator: "#")
        var visit = OpenVisit(
            id: process.next, symbol: String(key[0]), digest: UInt64(key[1]) ?? 0,
            replayable: !arguments.contains("once"), deliveredAt: now)
        for argument in arguments where argument.hasPrefix("limit=") {
            visit.limit = Double(argument.dropFirst(6)) ?? 0
        }
        process.load.open.append(visit)
        process.load.highest = process.next
        process.next += 1
        processes[incarnation] = process
    }

    private mutating func giveBack(_ incarnation: Int, _ id: UInt64) {
        guard let visit = processes[incarnation]?.load.open.first(where: { $0.id == id }) else {
            return
        }
        processes[incarnation]?.load.open.removeAll { $0.id == id }
        processes[incarnation]?.load.lastHeard = now
        processes[incarnation]?.load.lastReply = now
        if policy.watchesReturns(Self.name) {
            handle(.returned(device: Self.name, incarnation: incarnation, key: visit.key))
        }
    }

    private mutating func setPage(_ incarnation: Int, _ arguments: [String]) {
        var page = processes[incarnation]?.page ?? PageReading(turns: 1)
        for argument in arguments {
            let parts = argument.split(separator: "=")
            let value = UInt64(parts[1]) ?? 0
            switch parts[0] {
            case "begun": page.begun = value
            case "running": page.running = value
            case "asleep": page.asleep = value == 1
            case "turning": processes[incarnation]?.isTurning = value == 1
            default: break
            }
        }
        processes[incarnation]?.page = page
    }

    private mutating func tick(after seconds: Double) {
        now += seconds
        var readings: [ProcessReading] = []
        for (incarnation, process) in processes.sorted(by: { $0.key < $1.key }) {
            if process.isTurning { processes[incarnation]?.page?.turns += 1 }
            readings.append(
                ProcessReading(
                    device: Self.name, incarnation: incarnation,
                    page: processes[incarnation]?.page, stopped: process.stopped,
                    traced: process.traced, load: process.load))
        }
        handle(.tick(readings))
    }
}

/// A script, and what must come of it.
struct Scenario: Sendable, CustomTestStringConvertible {
    var name: String
    var script: String
    var done: String
    var shown: String
    var transient = false

    init(
        _ name: String, _ script: String, done: String, shown: String, transient: Bool = false
    ) {
        self.name = name
        self.script = script
        self.done = done
        self.shown = shown
        self.transient = transient
    }

    var testDescription: String { name }

    func check() throws {
        let world = try PolicyWorld.run(script, transient: transient)
        #expect(world.done.joined(separator: ", ") == done)
        #expect(world.shown == shown)
    }
}
