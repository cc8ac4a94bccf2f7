import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Every connector and verb, through real processes.
    @Suite struct Pipes {
        private static let names = [
            "twice", "length", "patient", "fork", "forkFail", "loop", "ends", "compose", "command",
            "fill",
        ]

        private static func with(_ body: (Instance) throws -> Void) throws {
            let region: [String: Value] = [
                "regions": .array([
                    .map([
                        "name": "ZooState",
                        "initial": .map(["text": .text(""), "count": .int(0)]),
                    ])
                ]), "writes": .array(["ZooState"]), "calls": .array(["Zoo.*"]),
            ]
            let zoo = [Animal(name: "zoo", answers: names, more: region)]
            try Instance.with(zoo: zoo, reference: false, body)
        }

        static let calls: [(symbol: String, payload: String, output: String)] = [
            ("Zoo.fork", "\"ab\"", "\"abab 2\""),
            ("Zoo.loop", "200", "\"done\""),
            ("Zoo.compose", "\"a\"", "\"4 <a!a!a!a!>\""),
            ("Zoo.ends", "\"text\"", "\"text\""),
            ("Zoo.ends", "\"abort\"", "\"early\""),
            ("Zoo.ends", "\"divert\"", "\"divertdivert\""),
        ]

        @Test func `forks, diverts and pipes of handlers give what they should`() throws {
            try Self.with { instance in
                for (symbol, payload, output) in Self.calls {
                    let outcome = try instance.run("call", symbol, payload)
                    #expect(outcome.out == output + "\n", "\(symbol): \(outcome)")
                }
                let failed = try instance.run("call", "Zoo.ends", "\"fail\"")
                #expect(failed.err.contains("zooFailed"), "\(failed)")
                for text in ["number", "astray"] {
                    let outcome = try instance.run("call", "Zoo.ends", "\"\(text)\"")
                    #expect(outcome.err.contains("composeTypeMismatch"), "\(outcome)")
                    #expect(outcome.err.contains("int; the flow of Zoo.ends gives text"))
                }
                // Each flow along the pipe with a finally has ended in it once.
                #expect(try instance.json("buffer", "ZooState")["value"]?["count"]?.int == 6)
            }
        }

        @Test func `the first branch that fails cancels the task of the other`() throws {
            try Self.with { instance in
                let mark = "\(instance.folder)/cancelled"
                let outcome = try instance.run("call", "Zoo.forkFail", Value.text(mark).json())
                #expect(outcome.err.contains("zooFailed"), "\(outcome)")
                #expect(
                    access(mark, F_OK) == 0, "its task has seen the cancel before the end is told")
            }
        }

        @Test(arguments: ["EPOCH-1", "#1", "1"])
        func `an operator cancels a flow, and its handler is told`(_ name: String) throws {
            try Self.with { instance in
                let mark = "\(instance.folder)/cancelled"
                let revision = try instance.json("buffer", "ZooState")["revision"]?.text ?? ""
                let epoch = String(revision.prefix { $0 != "-" })
                let flow = "\(epoch)-1"
                #expect(try instance.run("cancel", flow).err.contains("no flow \(flow) runs"))
                let call = try instance.start(["call", "Zoo.patient", Value.text(mark).json()])
                // A visit that is cancelled before it begins is never told.
                try Wait.until("the handler runs") { access(mark + ".begun", F_OK) == 0 }
                let word = name.hasPrefix("EPOCH") ? flow : name
                let cancelled = try instance.run("cancel", word, "--json")
                #expect(cancelled.out == "{\"flow\":\"\(flow)\"}\n", "\(cancelled)")
                let outcome = try call.finish()
                #expect(outcome.err.contains("cancelled"), "\(outcome)")
                #expect(access(mark, F_OK) == 0)
                let nonsense = try instance.run("cancel", "nonsense")
                #expect(
                    nonsense.status == 64 && nonsense.err.contains("cancel: FLOW is #NUMBER"))
            }
        }

        @Test func `a command that a handler sends runs in its lane`() throws {
            try Self.with { instance in
                let region = try Watch(instance, "ZooState")
                #expect(try instance.run("call", "Zoo.command", "3").succeeded)
                try region.wait(for: "the command") { $0["count"]?.int == 1 }
            }
        }

        @Test func `a swap leaves no gap, and what does not start leaves the old one`() throws {
            let broken = "/tmp/ce-broken-\(getpid())"
            defer { unlink(broken) }
            let zoo = [
                Animal(name: "zoo", answers: ["echo", "gate"], behaviour: ["fragile", broken])
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
                try Wait.until("the visit runs") { !Files.text(mark).isEmpty }
                let old = try instance.device("zoo")
                #expect(try instance.run("restart", "zoo", "--swap").succeeded)
                let new = try instance.device("zoo")
                #expect(new.pid != old.pid && new.incarnation > old.incarnation)
                #expect(Proc.isAlive(old.pid), "a flow is inside")
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
                try Files.write("", to: mark + ".go")
                #expect(try call.finish().out == "\(old.pid)\n", "one attempt, on the old process")
                try Wait.until("the old one goes") { !Proc.isAlive(old.pid) }

                try Files.write("", to: broken)
                let failed = try instance.run("restart", "zoo", "--swap")
                #expect(failed.status == 69, "\(failed)")
                #expect(failed.err.contains("swap failed: exit 3"), "\(failed)")
                #expect(try instance.device("zoo").pid == new.pid)
                #expect(try instance.run("call", "Zoo.echo", "\"y\"").out == "\"y\"\n")
            }
        }
    }
}
