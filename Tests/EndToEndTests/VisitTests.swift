import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// What becomes of a visit whose device dies, hangs, sleeps or fails.
    @Suite struct Visits {
        @Test func `a visit that traps is poisoned, and others go on`() throws {
            let zoo = [Animal(name: "zoo", answers: ["trap", "echo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let bad = try instance.start(["call", "Zoo.trap", "\"trap\""])
                let others = try (0..<4).map { number in
                    try instance.start(["call", "Zoo.trap", "\"\(number)\""])
                }
                let outcome = try bad.finish()
                #expect(outcome.status == 70)
                #expect(outcome.err.contains("poisoned"), "\(outcome.err)")
                for (number, other) in others.enumerated() {
                    #expect(try other.finish().out == "\"\(number)\"\n")
                }
                let row = try instance.device("zoo")
                #expect(row.restarts == 1)
                #expect(["signal ILL", "signal TRAP"].contains(row.lastExit), "\(row)")
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
            }
        }

        @Test func `a poisoned command is reported, and its lane goes on`() throws {
            let zoo = [Animal(name: "zoo", answers: ["trap", "fill"], more: Self.region)]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let region = try Watch(instance, "ZooState")
                let errors = try Watch(instance, "Kernel.Errors")
                #expect(try instance.run("dispatch", "Zoo.trap", "\"trap\"").succeeded)
                #expect(try instance.run("dispatch", "Zoo.fill", "3").succeeded)
                try errors.wait(for: "the report") {
                    $0.array?.contains { $0["code"]?.text == "poisoned" } == true
                }
                try region.wait(for: "the next command") { $0["count"]?.int == 1 }
            }
        }

        @Test func `a suspect is tried in a cell, and others go on beside it`() throws {
            let zoo = [Animal(name: "zoo", answers: ["trap", "gate", "echo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                #expect(try instance.run("call", "Zoo.trap", "\"trap\"").status == 70)
                let served = try instance.device("zoo")
                // Its two further deaths were those of cells, which nobody saw.
                #expect(served.restarts == 1, "\(served)")
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
                // The payload is known by now: it costs no process any more.
                let again = try instance.run("call", "Zoo.trap", "\"trap\"")
                #expect(again.err.contains("poisoned"), "\(again.err)")
                #expect(try instance.device("zoo") == served)
                let log = Files.text("\(instance.data)/log/zoo.log")
                #expect(
                    log.split(separator: "\n").filter { $0.contains("cell ended: signal") }.count
                        == 2)
                // A restart forgives.
                #expect(try instance.run("restart", "zoo").succeeded)
                #expect(try instance.run("call", "Zoo.trap", "\"trap\"").status == 70)
            }
        }

        @Test(arguments: ["stop", "raise 9", "raise 15"])
        func `a visit that kills its process from outside holds up no other`(_ deed: String) throws
        {
            let zoo = [Animal(name: "zoo", answers: ["obey.zoo", "echo.zoo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let bad = try instance.start([
                    "call", "Zoo.obey.zoo", "\"\(deed)\"", "--deadline", "10000",
                ])
                let watch = try Watch(instance, "Kernel.Devices")
                // The first deaths are anybody's; after them it dies in cells alone.
                let deaths = deed == "stop" ? 1 : 3
                try watch.wait(for: "the deaths") {
                    ($0.array?.first?["restarts"]?.int ?? 0) >= deaths
                        && $0.array?.first?["state"]?.text == "ready"
                }
                let served = try instance.device("zoo")
                for number in 0..<20 {
                    let good = try instance.run("call", "Zoo.echo.zoo", "\"\(number)\"")
                    #expect(good.out == "\"\(number)\"\n", "\(good)")
                }
                #expect(!(try bad.finish()).succeeded)
                #expect(try instance.device("zoo") == served, "the process that serves lives")
            }
        }

        @Test func `a visit that may not be repeated is lost once`() throws {
            let zoo = [Animal(name: "zoo", answers: ["gateOnce", "echo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gateOnce", Value.text(mark).json()])
                try Wait.until("the visit runs") { !Files.text(mark).isEmpty }
                // This one has not begun, so it is played on the next process.
                let waiting = try instance.start(["call", "Zoo.echo", "\"after\""])
                kill(try instance.device("zoo").pid, SIGKILL)
                let outcome = try call.finish()
                #expect(outcome.status == 70)
                #expect(outcome.err.contains("deviceLost"), "\(outcome.err)")
                #expect(try waiting.finish().out == "\"after\"\n")
                #expect(Files.text(mark).split(separator: "\n").count == 1)
                #expect(try instance.device("zoo").restarts == 1)
            }
        }

        @Test func `a visit that may be repeated is played again`() throws {
            let zoo = [Animal(name: "zoo", answers: ["gate"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
                for attempt in 1...5 {
                    try Wait.until("attempt \(attempt)") {
                        Files.text(mark).split(separator: "\n").count == attempt
                    }
                    // After some deaths it is tried in a process of its own.
                    let pids = Files.text(mark).split(separator: "\n")
                    kill(try #require(pids.last.flatMap { Int32($0) }), SIGKILL)
                }
                try Wait.until("the last attempt") {
                    Files.text(mark).split(separator: "\n").count == 6
                }
                try Files.write("", to: mark + ".go")
                let outcome = try call.finish()
                #expect(outcome.succeeded, "\(outcome.err)")
                let pids = Files.text(mark).split(separator: "\n")
                #expect(pids.count == 6)
                #expect(outcome.out == "\(pids[5])\n")
            }
        }

        @Test func `a handler that hangs is killed, and its call ends within its limits`() throws {
            let zoo = [Animal(name: "zoo", answers: ["hang"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let start = Clock.now
                let outcome = try instance.run("call", "Zoo.hang", "\"hang\"")
                #expect(outcome.status == 70 || outcome.status == 75, "\(outcome)")
                if outcome.status == 70 {
                    // Not as if somebody had killed it from outside.
                    #expect(outcome.err.contains("(hang (signal KILL))"), "\(outcome)")
                }
                #expect(Clock.now - start < 60)
                let row = try instance.device("zoo")
                #expect(row.restarts == 1)
                #expect(row.lastExit == "hang (signal KILL)")
                #expect(try instance.run("call", "Zoo.hang", "\"x\"").out == "\"x\"\n")
            }
        }

        @Test func `a handler that waits too long is cancelled, and its process stays`() throws {
            let zoo = [Animal(name: "zoo", answers: ["dream", "echo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let dream = try instance.start(["call", "Zoo.dream"])
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
                let outcome = try dream.finish()
                #expect(outcome.status == 75, "\(outcome)")
                #expect(outcome.err.contains("attempt"), "\(outcome.err)")
                #expect(try instance.device("zoo").restarts == 0)
            }
        }

        @Test func `a stopped device is shown, and killed once it holds a visit`() throws {
            let zoo = [Animal(name: "zoo", answers: ["echo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                let first = try watch.device("zoo") { $0.state == "ready" }
                kill(first.pid, SIGSTOP)
                _ = try watch.device("zoo") { $0.state == "late" }
                #expect(Proc.status(first.pid)?.state == "T")
                kill(first.pid, SIGCONT)
                let same = try watch.device("zoo") { $0.state == "ready" }
                #expect(same == first)

                kill(first.pid, SIGSTOP)
                let outcome = try instance.run("call", "Zoo.echo", "\"x\"")
                #expect(outcome.out == "\"x\"\n", "\(outcome)")
                let row = try watch.device("zoo") { $0.state == "ready" && $0.restarts == 1 }
                #expect(row.lastExit.contains("stop"), "\(row.lastExit)")
            }
        }

        @Test func `down ends a device that neither drains nor heeds SIGTERM`() throws {
            let zoo = [
                Animal(
                    name: "zoo", answers: ["gate"], behaviour: ["stubborn"],
                    more: ["drainSeconds": 0.3, "termSeconds": 0.3])
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
                try Wait.until("the visit runs") { !Files.text(mark).isEmpty }
                let processes = [instance.kernel, try instance.device("zoo").pid]
                let start = Clock.now
                #expect(try instance.run("down").succeeded)
                #expect(Clock.now - start < 60)
                #expect(Proc.survivors(of: processes) == [])
                #expect(try call.finish().status == 69)
            }
        }

        @Test func `helpers of a device die with it`() throws {
            let zoo = [Animal(name: "zoo", answers: ["helpers"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let call = try instance.run("call", "Zoo.helpers", "3", "--json")
                let pids = try Value.parse(json: call.out).array?.compactMap(\.int) ?? []
                let helpers = pids.map { Int32($0) }
                #expect(helpers.count == 3 && helpers.allSatisfy(Proc.isAlive))
                let watch = try Watch(instance, "Kernel.Devices")
                kill(try instance.device("zoo").pid, SIGKILL)
                _ = try watch.device("zoo") { $0.state == "ready" && $0.restarts == 1 }
                #expect(Proc.survivors(of: helpers) == [])
            }
        }

        @Test func `a flood on the log streams and a large output hold nobody up`() throws {
            let zoo = [Animal(name: "zoo", answers: ["shout", "letters", "echo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let before = Proc.resident(instance.kernel)
                #expect(try instance.run("call", "Zoo.shout", "\(8 << 20)").succeeded)
                #expect(Proc.resident(instance.kernel) - before < 16 << 10)
                let large = try instance.run("call", "Zoo.letters", "\(8 << 20)")
                #expect(large.out.utf8.count == 8 << 20 + 3)
                let tooLarge = try instance.run("call", "Zoo.letters", "\(17 << 20)")
                #expect(tooLarge.status == 65)
                #expect(tooLarge.err.contains("tooLarge"), "\(tooLarge.err)")
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
                #expect(try instance.device("zoo").restarts == 0)
            }
        }

        static let region: [String: Value] = [
            "reads": ["ZooState"], "writes": ["ZooState"],
            "regions": [["name": "ZooState", "initial": ["text": "", "count": 0]]],
        ]
    }
}
