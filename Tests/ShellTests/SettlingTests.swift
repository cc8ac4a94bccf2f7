import DeviceKit
import Testing

@testable import Shell
@testable import Supervisor

/// Every word that waits against everything that may happen meanwhile: all sequences of a length
/// are walked, on the supervisor's own machine, and the one who waits is asked after each step.
@Suite struct SettlingTests {
    /// A device, how it is seen, and one who waits for it.
    struct World {
        let seats: [String]
        var policy: Policy
        var now = 5000.0
        var states: [String: DeviceState] = [:]
        var reasons: [String: String] = [:]
        var waiting: Awaited?

        init(seats count: Int) {
            seats = count == 1 ? ["d"] : (1...count).map { "d/\($0)" }
            policy = Policy(seats.map { DeviceProfile(name: $0, device: "d", restart: .transient) })
            handle(.boot)
            for seat in seats { handle(.ready(device: seat, incarnation: 1, until: 10)) }
        }

        /// As the real half of the supervisor shows it.
        mutating func handle(_ event: PolicyEvent) {
            if case .swap(let word) = event {
                for seat in policy.names(of: word) { reasons[seat] = "" }
            }
            for action in policy.handle(event, at: now) {
                switch action {
                case .show(let seat, let state, let reason):
                    states[seat] = state
                    reasons[seat] = reason
                case .swapFailed(let seat, let reason, _):
                    reasons[seat] = PolicyAction.shown(failedSwap: reason)
                case .swapDropped(let seat, let failed):
                    reasons[seat] = PolicyAction.shown(failedSwap: failed)
                default: break
                }
            }
        }

        func row(_ seat: String) -> Value {
            .map([
                "name": .text(seat), "state": .text(states[seat]?.rawValue ?? "stopped"),
                "asked": .text(policy.asked(of: seat)?.rawValue ?? ""),
                "reason": .text(reasons[seat] ?? ""),
                "incarnation": .int(Int64(device(seat).shownIncarnation)),
            ])
        }

        func device(_ seat: String) -> PolicyDevice {
            policy.devices.first { $0.name == seat } ?? PolicyDevice(DeviceProfile(name: seat))
        }

        /// Says the word of the one who waits from now on, about every seat.
        mutating func ask(_ verb: String, swaps: Bool) {
            let before = seats.map { ($0, Int64(device($0).shownIncarnation)) }
            let word: PolicyEvent =
                switch verb {
                case "stop": .stop("d")
                case "start": .start("d")
                default: swaps ? .swap("d") : .restart("d")
                }
            handle(word)
            waiting = Awaited(
                verb: verb, swaps: swaps, before: Dictionary(uniqueKeysWithValues: before))
        }

        var judgements: [Awaited.Judgement] {
            seats.compactMap { seat in waiting?.judge(row(seat)) }
        }

        /// The wait goes on.
        var isPending: Bool {
            let judgements = judgements
            let isOver = judgements.contains {
                if case .failed = $0 { true } else { false }
            }
            return !isOver && judgements.contains(.pending)
        }

        /// Nothing of the device is on its way any more: only time or somebody's word changes it.
        var isSettled: Bool {
            policy.rollouts.isEmpty
                && seats.map(device).allSatisfy { device in
                    device.due == nil
                        && device.processes.allSatisfy { $0.role == .elder || $0.phase == .ready }
                }
        }
    }

    /// What may happen next.
    private func events(_ world: World) -> [PolicyEvent] {
        var events: [PolicyEvent] = [.shutdown]
        for word in Set(["d"] + world.seats).sorted() {
            events += [.start(word), .stop(word), .restart(word), .swap(word), .kill(word)]
        }
        for seat in world.seats {
            for process in world.device(seat).processes {
                let number = process.incarnation
                for exit in [ExitReason(), ExitReason(code: 3), ExitReason(signal: "KILL")] {
                    events.append(
                        .died(
                            device: seat, incarnation: number, exit: exit, page: nil,
                            load: ProcessLoad()))
                }
                if process.phase == .starting {
                    events.append(.ready(device: seat, incarnation: number, until: 10))
                    events.append(
                        .unspawned(
                            device: seat, incarnation: number, error: "ENOENT", detail: "no file"))
                }
                if process.phase == .finishing {
                    events.append(.drained(device: seat, incarnation: number))
                }
            }
        }
        return events
    }

    private struct Walk {
        var steps = 0
        var ends: [String: Int] = [:]
        var faults: [String] = []
    }

    /// Walks on from where somebody still waits.
    private func walk(_ world: World, _ path: [String], _ depth: Int, _ walk: inout Walk) {
        walk.steps += 1
        check(world, path, &walk)
        guard depth > 0, world.isPending else { return }
        for event in events(world) {
            var next = world
            next.handle(event)
            self.walk(next, path + ["\(event)"], depth - 1, &walk)
        }
        // All limits of the starts and of the ends that run now pass.
        var late = world
        for _ in 0..<15 {
            late.now += 1
            late.handle(.tick([]))
        }
        self.walk(late, path + ["15 s"], depth - 1, &walk)
    }

    private func check(_ world: World, _ path: [String], _ walk: inout Walk) {
        func fault(_ what: String) {
            let rows = world.seats.map { world.row($0).json() }.joined(separator: " ")
            walk.faults.append("\(what): \(path.joined(separator: ", ")): \(rows)")
        }
        if world.isPending {
            if world.isSettled { fault("waits for nothing") }
            return
        }
        let failures = world.judgements.filter { if case .failed = $0 { true } else { false } }
        walk.ends[failures.isEmpty ? "wanted" : "failed", default: 0] += 1
        guard failures.isEmpty, let waiting = world.waiting else { return }
        for seat in world.seats {
            let device = world.device(seat)
            // One that was ready and is being killed is shown as it was until its death.
            let main = device.index(.main).map { device.processes[$0] }
            let serves = main?.wasReady ?? false
            let isTrue =
                switch waiting.verb {
                case "stop": device.processes.isEmpty && !device.wanted
                case "start": serves || device.status == .done
                default:
                    device.status == .done
                        || serves && Int64(main?.incarnation ?? 0) > waiting.before[seat] ?? 0
                }
            if !isTrue { fault("is told a success") }
        }
    }

    @Test(arguments: 0..<AwaitedTests.verbs.count, [1, 2])
    func `no wait outlasts what it waits for, whatever comes meanwhile`(verb: Int, seats: Int) {
        let (verb, swaps) = AwaitedTests.verbs[verb]
        var result = Walk()
        for isDown in [false, true] {
            var world = World(seats: seats)
            // `start` has something to wait for where nothing runs.
            if isDown || verb == "start" {
                world.handle(.stop("d"))
                for seat in world.seats {
                    world.handle(
                        .died(
                            device: seat, incarnation: 1, exit: ExitReason(), page: nil,
                            load: ProcessLoad()))
                }
            }
            world.ask(verb, swaps: swaps)
            walk(world, ["\(verb)\(swaps ? " --swap" : "")"], seats == 1 ? 4 : 3, &result)
        }
        #expect(result.faults.isEmpty, "\(result.faults.count): \(result.faults.prefix(3))")
        #expect(result.ends["wanted", default: 0] > 0 && result.ends["failed", default: 0] > 0)
        #expect(result.steps > 500)
    }
}

extension PolicyDevice {
    /// As the status has it: of the process that serves or is to serve, or of the last one.
    fileprivate var shownIncarnation: Int {
        index(.main).map { processes[$0].incarnation } ?? last
    }
}
