import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// A device of which several processes serve beside each other.
    @Suite struct Seats {
        private static func zoo(
            _ answers: [String], _ behaviour: [String] = [], program: String = Programs.zoo
        ) -> [Animal] {
            [
                Animal(
                    name: "zoo", answers: answers, behaviour: behaviour, executable: program,
                    more: ["instances": 2])
            ]
        }

        /// A call that blocks its process until it is let go.
        private struct Gate {
            let mark: String
            let command: Command

            init(_ instance: Instance, _ name: String) throws {
                mark = "\(instance.folder)/\(name)"
                command = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
            }

            /// The processes that have begun it, in order.
            var begun: [Int32] {
                Files.text(mark).split(separator: "\n").compactMap { Int32($0) }
            }

            func open() throws { try Files.write("", to: "\(mark).go") }
        }

        @Test func `two blocking visits run at once, each in a process of its own`() throws {
            try Instance.with(zoo: Self.zoo(["gate"]), reference: false) { instance in
                let gates = try ["a", "b"].map { try Gate(instance, $0) }
                try Wait.until("both run") { gates.allSatisfy { $0.begun.count == 1 } }
                let rows = try instance.devices()
                #expect(rows.map(\.name) == ["zoo/1", "zoo/2"])
                #expect(rows.map(\.pid).sorted() == gates.flatMap(\.begun).sorted())
                for gate in gates { try gate.open() }
                for gate in gates {
                    #expect(try gate.command.finish().out == "\(gate.begun[0])\n")
                }
            }
        }

        @Test func `of two processes one is killed, and the other goes on`() throws {
            try Instance.with(zoo: Self.zoo(["gate", "echo"]), reference: false) { instance in
                let gates = try ["a", "b"].map { try Gate(instance, $0) }
                try Wait.until("both run") { gates.allSatisfy { $0.begun.count == 1 } }
                let (struck, spared) = (gates[0], gates[1])
                let survivor = spared.begun[0]
                kill(struck.begun[0], SIGKILL)
                // The repeat waits at the process that is left; what comes later goes to the new.
                let watch = try Watch(instance, "Kernel.Devices")
                let seat = try #require(
                    try instance.devices().first { $0.pid != survivor }?.name)
                _ = try watch.device(seat) { $0.state == "ready" && $0.incarnation == 2 }
                let echo = try instance.run("call", "Zoo.echo", "\"x\"")
                #expect(echo.out == "\"x\"\n", "\(echo)")
                #expect(Proc.isAlive(survivor) && spared.begun == [survivor])
                for gate in gates { try gate.open() }
                for gate in gates { #expect(try gate.command.finish().succeeded) }
                #expect(struck.begun.count == 2)
                #expect(
                    spared.begun == [survivor], "the death of the other is none of its business")
                let rows = try instance.devices()
                #expect(rows.map(\.restarts).sorted() == [0, 1])
                #expect(try instance.json("errors") == [])
            }
        }

        @Test func `an operator's word means one of them, or all`() throws {
            try Instance.with(zoo: Self.zoo(["echo"]), reference: false) { instance in
                func incarnations() throws -> [Int64] { try instance.devices().map(\.incarnation) }
                func answers() throws -> Bool {
                    try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n"
                }
                #expect(try instance.run("restart", "zoo/2").succeeded)
                #expect(try incarnations() == [1, 2])
                #expect(try instance.run("restart", "zoo").succeeded)
                #expect(try incarnations() == [2, 3])
                let watch = try Watch(instance, "Kernel.Devices")
                #expect(try instance.run("kill", "zoo").succeeded)
                _ = try watch.device("zoo/1") { $0.state == "ready" && $0.incarnation == 3 }
                _ = try watch.device("zoo/2") { $0.state == "ready" && $0.incarnation == 4 }
                #expect(try instance.run("stop", "zoo/1").succeeded)
                #expect(try instance.devices().map(\.state) == ["stopped", "ready"])
                #expect(try answers(), "the other one serves")
                #expect(try instance.run("stop", "zoo").succeeded)
                let refused = try instance.run("call", "Zoo.echo", "\"x\"")
                #expect(refused.status == 69 && refused.err.contains("zoo is stopped"))
                #expect(try instance.run("start", "zoo/1").succeeded)
                #expect(try answers())
                #expect(try instance.run("start", "zoo").succeeded)
                #expect(try instance.devices().map(\.state) == ["ready", "ready"])
                let unknown = try instance.run("restart", "zoo/3")
                #expect(unknown.status == 69 && unknown.err.contains("zoo/1, zoo/2"), "\(unknown)")
            }
        }

        @Test func `each has a log of its own, and a place in what is shown`() throws {
            try Instance.with(zoo: Self.zoo(["echo", "shout"]), reference: false) { instance in
                #expect(try instance.run("kill", "zoo/2").succeeded)
                let file = "\(instance.data)/log/zoo.2.log"
                try Wait.until("the log") { Files.text(file).contains("ended: kill (signal KILL)") }
                let one = try instance.run("log", "zoo/2")
                #expect(one.out.contains("zoo/2") && one.out.contains("signal KILL"), "\(one)")
                #expect(try instance.run("log", "zoo").out == one.out)
                #expect(try instance.run("log", "zoo/1").out == "")
                #expect(try instance.run("log", "zoo/3").status == 69)
                let said = try instance.run("describe", "Zoo.echo").out
                #expect(said.contains("the least loaded of its 2 processes"), "\(said)")
                let load = try instance.json("buffer", "Kernel.Load")["value"]?["held"]
                #expect(load?.map.map { Set($0.keys) } == ["zoo/1", "zoo/2"])
                #expect(try instance.run("doctor").out.contains("zoo: 2 processes of"))
                #expect(
                    try instance.run("call", "Kernel.Trace.capture", #"{"on": true}"#).succeeded)
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").succeeded)
                let trace = try instance.run("trace").out
                #expect(trace.contains("zoo/1#1") || trace.contains("zoo/2#"), "\(trace)")
            }
        }

        @Test func `swaps under load lose no call and make no second attempt`() throws {
            try Instance.with(zoo: Self.zoo(["echo"]), reference: false) { instance in
                let load = try Watch(instance, "Kernel.Load")
                let visitor = try instance.start(
                    program: Programs.zoo, ["visit", "--window", "16", "Zoo.echo"],
                    variables: ["CONCENTRIC_NAME": "main"])
                try load.wait(for: "the load") { ($0["visits"]?.int ?? 0) > 100 }
                for _ in 0..<5 {
                    let old = try instance.devices().map(\.pid)
                    let outcome = try instance.run("restart", "zoo", "--swap")
                    #expect(outcome.succeeded, "\(outcome)")
                    try Wait.until("the old ones are gone") {
                        !old.contains { Proc.isAlive($0) }
                    }
                }
                #expect(try instance.devices().map(\.incarnation) == [6, 6])
                visitor.send(SIGTERM)
                let end = try visitor.finish()
                let summary = try Value.parse(
                    json: String(end.out.split(separator: "\n").last ?? ""))
                #expect(summary["failures"] == [] && summary["wrong"] == [], "\(end)")
                #expect((summary["right"]?.int ?? 0) > 100)
                let before = load.value?["at"]?.date ?? 0
                try load.wait(for: "the last look") { ($0["at"]?.date ?? 0) > before }
                #expect(load.value?["replays"]?.int == 0)
            }
        }

        @Test func `a swap that does not start leaves both, and is not tried twice`() throws {
            let broken = "/tmp/ce-broken-seat-\(getpid())"
            defer { unlink(broken) }
            let zoo = Self.zoo(["echo"], ["fragile", broken])
            try Instance.with(zoo: zoo, reference: false) { instance in
                let before = try instance.devices().map(\.pid)
                try Files.write("", to: broken)
                let failed = try instance.run("restart", "zoo", "--swap")
                #expect(failed.status == 69 && failed.err.contains("swap failed"), "\(failed)")
                #expect(try instance.devices().map(\.pid) == before)
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").succeeded)
                let told = try instance.json("errors").array ?? []
                #expect(told.map { $0["symbol"] } == ["zoo/1"], "\(told)")
            }
        }

        @Test func `the application runs with two processes of each device, under kills`() throws {
            let names = ["Compute", "Circuit", "Infrastructure"]
            let zoo = try names.map { name in
                let file = "\(Programs.repository)/devices/\(name)/device.json"
                let manifest = try Value.parse(json: Files.text(file)).map ?? [:]
                var members = Dictionary(uniqueKeysWithValues: manifest.map { ($0.key, $0.value) })
                members["instances"] = 2
                members["arguments"] = []
                let more = Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value) })
                return Animal(name: name.lowercased(), more: more)
            }
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            // Their programs are found beside the kernel.
            try instance.up()
            let photos = try instance.photos()
            let seats = try instance.devices().map(\.name)
            #expect(seats.count == 6)
            var made: [String] = []
            for seat in seats + seats.reversed() {
                made.append(Instance.id(made.count + 1))
                let payload = Instance.create(made[made.count - 1], name: seat, photos: photos)
                let call = try instance.start(["call", "Circuit.Slideshow.create", payload])
                kill(try instance.device(seat).pid, SIGKILL)
                let outcome = try call.finish()
                #expect(outcome.succeeded, "\(seat): \(outcome)")
            }
            #expect(try instance.storedIDs() == made)
            #expect(try instance.regionIDs().sorted() == made)
            #expect(try instance.json("errors") == [])
            #expect(try instance.run("down").succeeded)
        }

        @Test func `a swap of three to a new program starts each once`() throws {
            let program = "/tmp/ce-program-\(getpid())"
            defer { unlink(program) }
            func build(_ note: String) throws {
                try Files.write("#!/bin/sh\n# \(note)\nexec \(Programs.zoo) \"$@\"\n", to: program)
                chmod(program, 0o755)
            }
            try build("the first")
            let zoo = Animal(
                name: "zoo", answers: ["echo"], executable: program, more: ["instances": 3])
            try Instance.with(zoo: [zoo], reference: false) { instance in
                let old = try instance.devices().map(\.pid)
                try build("the second, which is longer")
                let outcome = try instance.run("restart", "zoo", "--swap")
                #expect(outcome.succeeded, "\(outcome)")
                try Wait.until("the old ones are gone") { !old.contains { Proc.isAlive($0) } }
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").succeeded)
                #expect(try instance.devices().map(\.restarts) == [1, 1, 1])
            }
        }

        @Test func `the others follow a process that runs a new program`() throws {
            let program = "/tmp/ce-program-\(getpid())"
            defer { unlink(program) }
            func build(_ note: String) throws {
                try Files.write("#!/bin/sh\n# \(note)\nexec \(Programs.zoo) \"$@\"\n", to: program)
                chmod(program, 0o755)
            }
            try build("the first")
            let zoo = Self.zoo(["echo", "gate"], program: program)
            try Instance.with(zoo: zoo, reference: false) { instance in
                let gates = try ["a", "b"].map { try Gate(instance, $0) }
                try Wait.until("both run") { gates.allSatisfy { $0.begun.count == 1 } }
                let old = try instance.devices()
                try build("the second, which is longer")
                kill(old[0].pid, SIGKILL)
                let watch = try Watch(instance, "Kernel.Devices")
                _ = try watch.device("zoo/1") { $0.state == "ready" && $0.incarnation == 2 }
                let next = try watch.device("zoo/2") { $0.state == "ready" && $0.incarnation == 2 }
                #expect(next.pid != old[1].pid && next.restarts == 1)
                #expect(Proc.isAlive(old[1].pid), "flows are inside")
                for gate in gates { try gate.open() }
                for gate in gates {
                    let outcome = try gate.command.finish()
                    #expect(outcome.out == "\(old[1].pid)\n", "builds do not mix: \(outcome)")
                }
                try Wait.until("the old one goes") { !Proc.isAlive(old[1].pid) }
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").succeeded)
                #expect(try instance.devices().map(\.incarnation) == [2, 2])
            }
        }
    }
}
