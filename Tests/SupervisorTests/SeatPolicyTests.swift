import Supervisor
import Testing

/// A device with several seats: what is the same for all of them, and what is not.
@Suite struct SeatPolicyTests {
    /// Some seats of a device and a device beside it.
    private struct World {
        let seats: [String]
        var policy: Policy
        var now = 5000.0
        var done: [String] = []
        /// The last reason that was shown.
        var shown = ""

        init(seats count: Int = 2) {
            seats = (1...count).map { "d/\($0)" }
            policy = Policy(
                seats.map { DeviceProfile(name: $0, device: "d") } + [DeviceProfile(name: "other")])
        }

        /// What was done since the last look.
        mutating func look() -> [String] {
            defer { done = [] }
            return done
        }

        mutating func handle(_ event: PolicyEvent) {
            for action in policy.handle(event, at: now) {
                switch action {
                case .spawn(let device, let incarnation, let isCell):
                    done.append("\(isCell ? "cell" : "spawn") \(device)#\(incarnation)")
                case .drain(let device, let incarnation):
                    done.append("drain \(device)#\(incarnation)")
                case .kill(let device, let incarnation):
                    done.append("kill \(device)#\(incarnation)")
                case .settle(_, _, let visit, let verdict):
                    done.append("\(verdict.rawValue) \(visit)")
                case .refuse(let device, let state):
                    done.append("refuse \(device) \(state.rawValue)")
                case .cellLost(let device, _): done.append("cell lost \(device)")
                case .swapFailed(let device, _, _): done.append("swap failed \(device)")
                case .swapDropped(let device, let failed):
                    done.append("swap dropped \(device) after \(failed)")
                case .refused(let device, let reason): done.append("\(device): \(reason)")
                case .show(_, _, let reason): shown = reason
                case .term, .ping, .cancel, .buried, .exit: break
                }
            }
        }

        mutating func ready(_ device: String, _ incarnation: Int) {
            handle(.ready(device: device, incarnation: incarnation, until: 10))
        }

        /// A death of its own doing in a visit with a key.
        mutating func trap(_ device: String, _ incarnation: Int, _ symbol: String) {
            let visit = OpenVisit(id: 1, symbol: symbol, digest: 9, deliveredAt: now)
            handle(
                .died(
                    device: device, incarnation: incarnation, exit: ExitReason(signal: "ILL"),
                    page: PageReading(turns: 1, asleep: false, begun: 1, running: 1),
                    load: ProcessLoad(open: [visit], highest: 1)))
        }

        mutating func die(_ device: String, _ incarnation: Int, _ exit: ExitReason) {
            handle(
                .died(
                    device: device, incarnation: incarnation, exit: exit, page: nil,
                    load: ProcessLoad()))
        }

        /// A tick a second.
        mutating func wait(_ seconds: Int) {
            for _ in 0..<seconds {
                now += 1
                handle(.tick([]))
            }
        }

        mutating func boot() {
            handle(.boot)
            for name in seats + ["other"] { ready(name, 1) }
            done = []
        }
    }

    private var world = World()

    init() {
        world.boot()
    }

    @Test mutating func `a word means one seat or all of them`() {
        #expect(world.policy.names(of: "d") == ["d/1", "d/2"])
        #expect(world.policy.names(of: "d/2") == ["d/2"])
        #expect(world.policy.names(of: "d/3").isEmpty)
        world.handle(.kill("d/2"))
        #expect(world.look() == ["kill d/2#1"])
        world.handle(.restart("d"))
        #expect(world.look() == ["drain d/1#1"], "the other one ends already")
        world.handle(.stop("d/3"))
        #expect(world.look().isEmpty)
    }

    @Test mutating func `a seat that dies starts again beside the other`() {
        world.die("d/1", 1, ExitReason(signal: "KILL"))
        #expect(world.look() == ["spawn d/1#2"])
        world.handle(.stop("d/2"))
        world.die("d/2", 1, ExitReason())
        #expect(world.look() == ["drain d/2#1", "refuse d/2 stopped"])
    }

    @Test mutating func `a visit is charged over all seats`() {
        world.trap("d/1", 1, "S")
        #expect(world.look() == ["cell 1", "spawn d/1#2"])
        let key = VisitKey(symbol: "S", digest: 9)
        #expect(world.policy.verdict("d", key) == .cell)
        #expect(world.policy.verdict("d/2", key) == .cell)
        #expect(world.policy.verdict("other", key) == .free)
        world.trap("d/2", 1, "S")
        world.ready("d/1", 2)
        _ = world.look()
        world.trap("d/1", 2, "S")
        #expect(world.look().first == "poisoned 1")
        #expect(world.policy.verdict("d", key) == .poisoned)
        world.handle(.restart("d/2"))
        #expect(world.policy.verdict("d", key) == .free, "a restart forgives")
    }

    @Test mutating func `a return to one seat clears the key for all`() {
        world.trap("d/1", 1, "S")
        let key = VisitKey(symbol: "S", digest: 9)
        world.handle(.returned(device: "d/2", incarnation: 1, key: key))
        #expect(world.policy.verdict("d", key) == .free)
        #expect(!world.policy.watchesReturns("d"))
    }

    @Test mutating func `the budget of a seat is its own`() {
        for round in 1...5 {
            world.die("d/1", round, ExitReason(code: 3))
            world.wait(9)
        }
        let deaths = world.look()
        #expect(deaths.contains("refuse d/1 failed"))
        #expect(!deaths.contains("refuse d/2 failed"))
    }

    @Test mutating func `a cell is started by a seat that serves`() {
        world.handle(.kill("d/1"))
        _ = world.look()
        world.handle(.cell("d"))
        #expect(world.look() == ["cell d/2#2"])
        world.die("d/1", 1, ExitReason(signal: "KILL"))
        _ = world.look()
        world.handle(.cell("d"))
        #expect(world.look() == ["cell d/2#3"], "the other one is not ready yet")
        world.ready("d/1", 2)
        world.handle(.cell("d"))
        #expect(world.look() == ["cell d/1#3"], "it has fewer processes")
    }

    @Test mutating func `a seat that rests gives back the cells it was asked for`() {
        for name in ["d/1", "d/2"] { world.die(name, 1, ExitReason(signal: "KILL")) }
        world.handle(.cell("d"))
        _ = world.look()
        world.handle(.stop("d"))
        for name in ["d/1", "d/2"] { world.die(name, 2, ExitReason(signal: "KILL")) }
        #expect(world.look().contains("cell lost d/1"))
    }

    @Test mutating func `a swap goes from seat to seat`() {
        world.handle(.swap("d"))
        #expect(world.look() == ["spawn d/1#2"])
        world.handle(.swap("d/2"))
        #expect(world.look() == ["d/2: a swap is under way"])
        world.ready("d/1", 2)
        #expect(world.look() == ["spawn d/2#2"], "the old one of the first need not be gone")
        world.handle(.drained(device: "d/1", incarnation: 1))
        world.ready("d/2", 2)
        #expect(world.look() == ["drain d/1#1"])
    }

    @Test mutating func `what does not start in one seat is not tried in the next`() {
        world.handle(.swap("d"))
        world.handle(.cableClosed(device: "d/1", incarnation: 2))
        #expect(world.look() == ["spawn d/1#2"], "it may still be dying")
        world.die("d/1", 2, ExitReason(code: 3))
        #expect(world.look() == ["swap failed d/1", "swap dropped d/2 after d/1"])
        world.wait(5)
        #expect(world.look().isEmpty)
    }

    @Test mutating func `a swap that fails takes back that of another seat, whoever asked for it`()
    {
        world.handle(.swap("d/1"))
        world.handle(.swap("d/2"))
        #expect(world.look() == ["spawn d/1#2"])
        #expect(["d/1", "d/2"].map { world.policy.asked(of: $0) } == [.swap, .swap])
        // It is the restart of the old one, and fails as such.
        world.die("d/1", 1, ExitReason(signal: "KILL"))
        world.die("d/1", 2, ExitReason(code: 3))
        #expect(
            world.look() == ["swap failed d/1", "spawn d/1#3", "swap dropped d/2 after d/1"])
        world.ready("d/1", 3)
        world.wait(5)
        #expect(world.look().isEmpty)
    }

    @Test mutating func `in a swap of all a seat that does not serve is only restarted`() {
        world.handle(.stop("d/1"))
        world.die("d/1", 1, ExitReason())
        _ = world.look()
        world.handle(.swap("d"))
        #expect(world.look() == ["spawn d/1#2"], "one at a time")
        world.ready("d/1", 2)
        #expect(world.look() == ["spawn d/2#2"])
    }

    @Test mutating func `a seat of an old build follows, once no other starts`() {
        world.die("d/1", 1, ExitReason(signal: "KILL"))
        world.ready("d/1", 2)
        _ = world.look()
        world.handle(.outdated(device: "d/2", incarnation: 1))
        #expect(world.look() == ["spawn d/2#2"])
        #expect(world.policy.asked(of: "d/2") == .start, "nobody has asked for it")
        world.handle(.outdated(device: "d/2", incarnation: 1))
        #expect(world.look().isEmpty)
        world.ready("d/2", 2)
        world.handle(.drained(device: "d/2", incarnation: 1))
        #expect(world.look() == ["drain d/2#1"])
        world.handle(.outdated(device: "other", incarnation: 1))
        #expect(world.look().isEmpty, "who is alone follows nobody")
    }

    @Test(arguments: [true, false])
    func `a swap of three seats to a new build swaps each once`(isToldFirst: Bool) {
        var world = World(seats: 3)
        world.boot()
        world.handle(.swap("d"))
        var spawned = world.look()
        for seat in 1...3 {
            // The hub learns of the new build as the supervisor does, or a little later.
            let others = (seat + 1..<4).map {
                PolicyEvent.outdated(device: "d/\($0)", incarnation: 1)
            }
            if isToldFirst { others.forEach { world.handle($0) } }
            world.ready("d/\(seat)", 2)
            others.forEach { world.handle($0) }
            world.handle(.drained(device: "d/\(seat)", incarnation: 1))
            world.die("d/\(seat)", 1, ExitReason())
            world.wait(2)
            spawned += world.look().filter { $0.hasPrefix("spawn") }
        }
        world.wait(20)
        spawned += world.look()
        #expect(spawned == ["spawn d/1#2", "spawn d/2#2", "spawn d/3#2"])
    }

    @Test mutating func `two builds do not swap each other for ever`() {
        world.handle(.outdated(device: "d/2", incarnation: 1))
        world.ready("d/2", 2)
        world.handle(.drained(device: "d/2", incarnation: 1))
        world.die("d/2", 1, ExitReason())
        _ = world.look()
        world.handle(.outdated(device: "d/2", incarnation: 2))
        #expect(world.look().isEmpty)
        world.wait(5)
        #expect(world.look().isEmpty)
        world.wait(6)
        #expect(world.look() == ["spawn d/2#3"])
    }

    @Test(arguments: [false, true])
    mutating func `a build that does not fit is tried again only if that may pass`(heals: Bool) {
        world.die("other", 1, ExitReason(signal: "KILL"))
        world.handle(
            .mismatched(device: "other", incarnation: 2, reason: "no", heals: heals))
        world.handle(.cableClosed(device: "other", incarnation: 2))
        world.die("other", 2, ExitReason(code: 78))
        let last = heals ? "spawn other#3" : "refuse other failed"
        #expect(world.look() == ["spawn other#2", last])
        #expect(world.shown == "no")
        world.handle(.restart("other"))
        world.ready("other", 3)
        world.handle(.mismatched(device: "other", incarnation: 3, reason: "no", heals: heals))
        world.die("other", 3, ExitReason(signal: "KILL"))
        #expect(world.look().last == "spawn other#4", "who was ready did fit")
    }

    @Test mutating func `a shutdown forgets the swaps that were to come`() {
        world.handle(.swap("d"))
        world.handle(.shutdown)
        world.wait(20)
        #expect(world.look().filter { $0.hasPrefix("spawn") } == ["spawn d/1#2"])
    }
}
