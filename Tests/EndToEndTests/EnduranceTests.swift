import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The figures that a release must keep.
    @Suite struct Endurance {
        static let names = ["compute", "circuit", "infrastructure"]

        @Test func `a thousand kills and restarts leave the kernel as it was`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                func cycle(_ number: Int) throws {
                    let name = Self.names[number % Self.names.count]
                    let row = try watch.device(name) { $0.state == "ready" }
                    kill(row.pid, SIGKILL)
                    _ = try watch.device(name) {
                        $0.state == "ready" && $0.restarts == row.restarts + 1
                    }
                }
                for number in 0..<50 { try cycle(number) }
                let before = Holding(of: instance)
                for number in 0..<1_000 { try cycle(number) }
                try Wait.until("descriptors and threads are as before") {
                    let now = Holding(of: instance)
                    return now.descriptors == before.descriptors && now.threads == before.threads
                }
                let resident = Proc.resident(instance.kernel)
                #expect(resident <= before.resident * 11 / 10, "\(before.resident) KiB before")
                #expect(Proc.zombies(of: instance.kernel) == [])
                let rows = try instance.devices()
                #expect(rows.allSatisfy { $0.state == "ready" })
                #expect(rows.map(\.restarts).reduce(0, +) == 1_050)
                #expect(!watch.lines.contains { $0.json().contains("\"failed\"") })
                let payload = Instance.create(
                    Instance.id(1), name: "A", photos: try instance.photos())
                #expect(try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
            }
        }

        @Test func `eighty thousand increments of eight writers are all there`() throws {
            try EndToEnd.Subscriptions().writers(each: 10_000)
        }

        @Test func `sixteen processes that write one region at full speed all finish`() throws {
            try EndToEnd.Subscriptions().contest(processes: 16, each: 400)
        }

        @Test func `a thousand followers see every change beside a stopped and a slow one`() throws
        {
            try EndToEnd.Subscriptions().crowd(1_000, commits: 200)
        }

        @Test func `a thousand lost connections and twenty kernels leave a mirror right`() throws {
            try EndToEnd.Subscriptions().stumble(falls: 1_000, kernels: 20)
        }

        @Test func `five thousand kills at any moment cost no call and no device`() throws {
            let seed = UInt64.random(in: 1 ... .max)
            print("the seed of the kills is \(seed)")
            let own = (1...7).map { "zoo-\($0)" }
            let zoo = own.map { Animal(name: $0, answers: ["echo.\($0)", "tally.\($0)"]) }
            try Instance.with(zoo: zoo) { instance in
                let photos = try instance.photos()
                let watch = try Watch(instance, "Kernel.Devices")
                let clients = try [
                    Visitor(instance, own.map { "Zoo.echo.\($0)" }, window: 2, pause: 5),
                    Visitor(instance, own.map { "Zoo.tally.\($0)" }, pause: 10),
                    Visitor(instance, own.reversed().map { "Zoo.tally.\($0)" }, pause: 10),
                    Visitor(instance, ["Circuit.Slideshow"], window: 2, pause: 20, photos: photos),
                ]
                var random = Xorshift(state: seed)
                let deadline = Clock.now + 2 * Wait.patience
                while try watch.restarts() < 5_000 {
                    guard Clock.now < deadline else {
                        throw Failure("only \(try watch.restarts()) kills have hit")
                    }
                    try watch.killSomebody(&random, of: instance.kernel)
                    // A moment that nothing but chance decides; a device that is killed more than
                    // twenty times a second would be paused.
                    let moment = Clock.now + Double(random.next() % 14) / 1_000
                    while try watch.next(until: moment) {}
                    try watch.drain()
                }
                let visits = try clients.map { try $0.end() }
                for (visit, least) in zip(visits, [1_000, 100, 100, 3] as [Int64]) {
                    #expect(
                        visit.failures == [] && visit.wrong == [] && visit.right >= least,
                        "\(visit)")
                }
                for name in own + Self.names { _ = try watch.device(name) { $0.state == "ready" } }
                #expect(!watch.lines.contains { $0.json().contains("\"failed\"") })
                #expect(try instance.json("errors") == [])
                // Each keyed call has had its effect, once.
                let effects = own.map { name in
                    Files.names(in: "\(instance.data)/\(name).tally").filter {
                        !$0.hasPrefix(".")
                    }.count
                }
                #expect(Int64(effects.reduce(0, +)) == visits[1].right + visits[2].right)
                #expect(try instance.storedIDs() == [], "what was made was deleted")
            }
        }

        @Test func `a follower killed 200 times among 20,000 events handles each once, in order`()
            throws
        {
            try ChannelHouse.with { try $0.kills(200, among: 20_000) }
        }

        @Test(arguments: [("obey", "trap"), ("drift", "exit 3")])
        func `two poisons among ten thousand calls cost two calls and nothing else`(
            word: String, deed: String
        ) throws {
            let zoo = [
                Animal(name: "zoo", answers: ["\(word).zoo"]),
                Animal(name: "steady", answers: ["echo.steady"]),
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                let other = try Visitor(instance, ["Zoo.echo.steady"], pause: 5)
                let client = try Visitor(
                    instance, ["Zoo.\(word).zoo"], window: 16, count: 10_000,
                    poisons: [deed, "\(deed) "])
                let visits = try client.end(byItself: true)
                #expect(visits.right == 10_000)
                #expect(visits.failures == [] && visits.wrong == [], "\(visits)")
                #expect(
                    visits.poisoned.map { $0.text ?? "" }.sorted()
                        == ["\(deed) : poisoned", "\(deed): poisoned"], "\(visits.poisoned)")
                try watch.drain()
                let row = try watch.device("zoo") { $0.state == "ready" }
                #expect((2...6).contains(row.restarts), "\(row)")
                let visited = try other.end()
                #expect(visited.failures == [] && visited.wrong == [] && visited.right > 20)
                #expect(try instance.device("steady").restarts == 0)
                #expect(try instance.json("errors") == [], "calls are told to their callers")
            }
        }

        @Test func `nothing is killed when a house wakes up after thirty seconds`() throws {
            let zoo = [Animal(name: "zoo", answers: ["echo.zoo", "dare.zoo", "gate"])]
            try Instance.with(zoo: zoo) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                let before = try instance.devices()
                #expect(before.count == 4)
                let client = try Visitor(instance, ["Zoo.echo.zoo"], pause: 5)
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
                try Wait.until("the visit runs") { !Files.text(mark).isEmpty }
                try Files.write("", to: "\(instance.data)/zoo.dare")
                // Waits behind the one that runs, with a limit of its own.
                let waiting = try instance.start(["call", "Zoo.dare.zoo", "\"busy 200\""])
                let tree = Proc.using(instance.folder)
                #expect(tree.count == 1 + 4 + 4, "kernel, devices, clients")
                for pid in tree { kill(pid, SIGSTOP) }
                // The time is the test's subject.
                sleep(30)
                // The kernel first, for it must not take sleepers for dead.
                kill(instance.kernel, SIGCONT)
                for pid in tree.reversed() { kill(pid, SIGCONT) }
                try Files.write("", to: mark + ".go")
                #expect(try call.finish().out == "\(before[3].pid)\n")
                let second = try waiting.finish()
                #expect(second.out == "\"busy 200\"\n", "\(second)")
                let visits = try client.end()
                #expect(visits.failures == [] && visits.wrong == [], "\(visits)")
                let payload = Instance.create(
                    Instance.id(1), name: "A", photos: try instance.photos())
                #expect(try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                for row in before {
                    let same = try watch.device(row.name) { $0.state == "ready" }
                    #expect(same == row, "same process, no restart")
                }
            }
        }

        @Test func `ten idle seconds cost the kernel ten milliseconds at most`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                try watch.next()
                try watch.drain()
                let pids = try [instance.kernel] + instance.devices().map(\.pid)
                #expect(pids.count == 4)
                let time = Proc.runTime(instance.kernel)
                let switches = pids.map(Proc.voluntarySwitches)
                // Nothing happens in this time: that is what is measured.
                #expect(try watch.next(until: Clock.now + 10) == false)
                let used = Proc.runTime(instance.kernel) - time
                #expect(time > 0 && used < 10, "\(used) ms in 10 s")
                for (pid, before) in zip(pids, switches) {
                    let count = Proc.voluntarySwitches(pid) - before
                    #expect(count <= 20, "\(pid) was woken \(count) times in 10 s")
                }
                let resident = Proc.resident(instance.kernel)
                print("the kernel holds \(resident) KiB and used \(used) ms in 10 s")
                if Programs.isRelease { #expect(resident < 16 << 10) }
            }
        }
    }
}

/// What the kernel holds.
private struct Holding {
    var descriptors: Int
    var threads: Int
    var resident: Int

    init(of instance: Instance) {
        descriptors = Proc.descriptors(instance.kernel).count
        threads = Files.names(in: "/proc/\(instance.kernel)/task").count
        resident = Proc.resident(instance.kernel)
    }
}

/// A generator that a seed repeats.
struct Xorshift {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

extension Watch {
    /// How often devices were started again, all together.
    func restarts() throws -> Int64 {
        try (value?.array ?? []).map { try DeviceRow($0).restarts }.reduce(0, +)
    }

    /// SIGKILL to the process of some device: of one that serves, and at times of one that does not
    /// yet. Who is always killed before it serves could answer nobody.
    func killSomebody(_ random: inout Xorshift, of kernel: Int32) throws {
        let anybody = random.next().isMultiple(of: 10)
        let rows = try (value?.array ?? []).map(DeviceRow.init).filter {
            $0.pid != 0 && (anybody || $0.state == "ready")
        }
        guard !rows.isEmpty else { return }
        let pid = rows[Int(random.next() % UInt64(rows.count))].pid
        // What was shown may be old: only a child of the kernel is hit.
        if Proc.status(pid)?.parent == kernel { kill(pid, SIGKILL) }
    }
}
