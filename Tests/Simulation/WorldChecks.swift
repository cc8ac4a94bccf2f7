import Control
import Supervisor
import Values

@testable import Kernel

extension Mark {
    /// An effect is made once for its owner.
    struct Key: Hashable {
        var who: Value
        var name: String
    }
}

/// What must hold after each step and at the end.
extension World {
    /// An effect is made: never twice, and never after its flow's end was told.
    func effect(_ mark: Mark) {
        note("effect \(mark.name) of \(mark.who)")
        let key = Mark.Key(who: mark.who, name: mark.name)
        if made[key] != nil { breach("doubled: \(mark)") }
        made[key] = mark.value
        handled(mark)
        let mayBeLate = commands.contains {
            $0.owner == mark.who && ($0.program.hasOwnKey || $0.program.later.contains(mark.name))
        }
        if outcomes[mark.who] != nil, !mayBeLate { breach("after the end: \(mark)") }
    }

    /// The end of a flow is told.
    func told(_ who: Value, _ result: Result<Value, KernelError>) {
        note("end of \(who): \(result)")
        if outcomes[who] != nil { breach("ended twice: \(who)") }
        outcomes[who] = result
        guard case .success(let value) = result,
            let command = commands.first(where: { $0.who == who })
        else { return }
        judge(command, value)
    }

    func check() {
        readComplaints()
        remember()
        for command in commands where command.call == 0 && outcomes[command.who] == nil {
            guard let flow = command.flow, flow.ended, let ending = flow.ending else { continue }
            switch ending {
            case .success(let bytes): told(command.who, .success(Value(encoded: bytes)))
            case .divert: breach("ended on its way: \(command.who)")
            case .failure(var error):
                error.outcome = flow.dirty ? .unknown : .none
                told(command.who, .failure(error))
            }
        }
        for device in hub.devices.values {
            fullest = max(fullest, device.waiting.count + device.apart.count)
            // Who waits for a cell while all of them are taken waits for somebody else's visit.
            if !device.apart.isEmpty, device.cellsBusy + device.cellsComing >= hub.limits.cells,
                let kind = Kind(rawValue: device.name)
            {
                excuses.away.insert(kind)
                excuses.delays = true
            }
        }
        for lane in hub.lanes.values {
            let running = lane.queue.filter(\.running)
            if running.count > 1 { breach("two commands of a lane run at once") }
            guard let flow = running.first else { continue }
            if flow.number < laneOrder[lane.name, default: 0] {
                breach("lane \(lane.name) out of order")
            }
            laneOrder[lane.name] = flow.number
        }
        var size = hub.liveFlows
        for flow in hub.flows {
            size += (flow.record?.entries.count ?? 0) + (flow.record?.reads.count ?? 0)
            if flow.running, flow.standsSince == nil, hub.seen > flow.deadline + 16 * World.second {
                breach("beyond its deadline: \(flow.symbol.name)")
            }
        }
        if size > 40 * (commands.count + 1) { breach("memory of the hub: \(size)") }
        let counted = hub.countedFlowBytes
        if hub.flowBytes != counted {
            breach("the account of flow bytes says \(hub.flowBytes), there are \(counted)")
        }
        if hub.flowBytes > hub.limits.flowBytes + hub.limits.sparedBytes {
            breach("\(hub.flowBytes) bytes of flows")
        }
    }

    /// `finallyLost` may stand in `Kernel.Errors` only if the device was away for all its time.
    private func readComplaints() {
        let all = hub.errors
        defer { readErrors = all.count }
        for error in all[min(readErrors, all.count)...]
        where error["code"]?.text == KernelError.Code.finallyLost.rawValue {
            let number = error["flow"]?.text?.split(separator: "-").last.flatMap { UInt64($0) }
            // The finally of a branch is told under the branch's own number.
            let name = error["symbol"]?.text ?? ""
            let mine =
                commands.first { $0.flow?.number == number }.map { [$0] }
                ?? commands.filter { name.hasPrefix($0.program.symbol + "#") }
            if mine.isEmpty { breach("a finally of nobody was lost") }
            complaints.formUnion(mine.map(\.who))
            let kind = Kind(of: name)
            if !excuses.away.contains(kind), excuses.strikes < PolicyNumbers.strikes {
                breach("a finally was given up: \(error)")
            }
        }
    }

    /// A successful flow has made exactly the effects that its result speaks of.
    private func judge(_ command: Command, _ result: Value) {
        guard let effects = command.program.effects else {
            return breach("succeeded: \(command.who)")
        }
        var wanted = effects(command.number, result)
        var done: [String: Value] = [:]
        for (key, value) in made where key.who == command.owner { done[key.name] = value }
        for name in command.program.later { done[name] = nil }
        readComplaints()
        if complaints.contains(command.who) {
            // A loop has one at each lap.
            for name in Set(done.keys).union(wanted.keys)
            where name == command.program.ends || name.hasPrefix("lap") {
                wanted[name] = nil
                done[name] = nil
            }
        }
        if done != wanted {
            breach("effects of \(command.who): \(done) instead of \(wanted), result \(result)")
        }
    }

    /// A failed flow has a reason, tells the truth about its effects, and has run its `finally`.
    private func judge(_ command: Command, _ error: KernelError) {
        let program = command.program
        let code = error.code.rawValue
        let reasons = [
            "cancelled": cancelled.contains(command.who), "deadline": excuses.delays,
            "attempt": excuses.spins, "overloaded": isTight,
            "unavailable": isCrowded || excuses.refusals,
            "poisoned": excuses.strikes + program.traps >= PolicyNumbers.strikes,
        ]
        if !program.errors.contains(code), reasons[code] != true {
            breach("\(command.who) failed with \(error)")
        }
        let names = made.keys.filter { $0.who == command.owner }.map(\.name)
        if error.outcome == .none {
            if names.contains(where: { $0 != program.ends }), !program.hasOwnKey {
                breach("\(command.who) says none, but made \(names)")
            }
            if code == "deviceLost" { breach("lost, but never begun: \(command.who)") }
        }
        // Before its device has said what its route is, nothing of it has run; and no branch has
        // begun for which there was no room.
        guard let last = program.ends, let flow = command.flow, flow.route != nil else { return }
        let isOwed = !program.endsBranch || code != "overloaded" || forked.contains(flow.number)
        if isOwed, !names.contains(last), !complaints.contains(command.who) {
            breach("finally lost: \(command.who)")
        }
    }

    /// A fork queues several within one step, which are gone at the end of it.
    private var isCrowded: Bool { fullest + 2 >= hub.limits.waitingRequests }

    /// Keeps an eye on every flow.
    private func remember() {
        let known = remembered.last?.number ?? 0
        guard hub.numbers > known else { return }
        for flow in hub.flows where flow.number > known {
            remembered.append(WeakFlow(number: flow.number, flow: flow))
            if case .branch(let parent, _) = flow.origin { forked.insert(parent.number) }
        }
    }

    func checkEnd() {
        for command in commands {
            guard let outcome = outcomes[command.who] else {
                breach("never ended: \(command.who)")
                continue
            }
            if case .failure(let error) = outcome { judge(command, error) }
        }
        checkLate()
        checkChannel()
        if hub.liveFlows != 0 || hub.first != nil || hub.newest != nil {
            breach("\(hub.liveFlows) flows are left in the hub")
        }
        for device in hub.devices.values where !device.waiting.isEmpty || device.waitingBytes != 0 {
            breach("\(device.name) still holds \(device.waitingBytes) waiting bytes")
        }
        checkProcesses()
        if hub.flowBytes != 0 || hub.regions.values.contains(where: { !$0.pins.isEmpty }) {
            breach("the account of flow bytes is left at \(hub.flowBytes)")
        }
        for lane in hub.lanes.values where !lane.queue.isEmpty || lane.bytes != 0 {
            breach("the lane \(lane.name) still holds \(lane.bytes) bytes")
        }
        if client.peer.open != 0 || client.peer.openBytes != 0 { breach("open calls are left") }
        if hub.value(ofRegion: "loading") != .null, complaints.isEmpty {
            breach("isLoading stays true")
        }
        client.checkMirror()
        for process in processes where process.isFree {
            if process.peer.visits.count != 0 { breach("\(process.kind) still holds visits") }
            for (region, state) in process.mirror where state.value != hub.value(ofRegion: region) {
                breach("\(process.kind) mirrors another value of \(region)")
            }
        }
        for index in commands.indices { commands[index].flow = nil }
        let kept = remembered.compactMap(\.flow)
        if !kept.isEmpty { breach("kept after their end: \(kept.map(\.symbol.name))") }
    }

    /// The commands that were sent by what succeeded have been done.
    private func checkLate() {
        guard !excuses.delays, !excuses.refusals, !isCrowded, !isTight else { return }
        for command in commands {
            guard case .success = outcomes[command.who] else { continue }
            for name in command.program.later
            where made[Mark.Key(who: command.owner, name: name)] == nil {
                breach("the command \(name) of \(command.who) was not done")
            }
        }
    }
}

/// A flow that must be gone when it has ended.
struct WeakFlow {
    let number: UInt64
    weak var flow: Flow?
}

/// The store's database: rows and `invocation(key, reply)` change in one transaction.
final class SimStore {
    private unowned let world: World
    private var replies: [String: Value] = [:]

    init(_ world: World) {
        self.world = world
    }

    func transact(_ key: String, _ mark: Mark) -> Value {
        if let reply = replies[key] { return reply }
        world.effect(mark)
        replies[key] = mark.value
        return mark.value
    }

    /// Keys of flows that have ended are forgotten; those that a caller chose are kept.
    func prune(below lowest: UInt64, epoch: UInt64) {
        replies = replies.filter { entry in
            let root = entry.key.prefix { $0 != "/" }
            guard root.hasPrefix("\(epoch)-"),
                let flow = UInt64(root.drop { $0 != "-" }.dropFirst())
            else { return true }
            return flow >= lowest
        }
    }
}
