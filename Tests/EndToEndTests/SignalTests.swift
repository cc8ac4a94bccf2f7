import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// How a kernel ends that is told by a signal, and which signals it takes.
    @Suite struct Signals {
        static let zoo = [
            Animal(name: "first", answers: ["echo"]), Animal(name: "second", answers: ["letters"]),
        ]

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
        func `one signal stops the devices through the protocol, the last first`(
            _ signal: Int32
        ) throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let kernel = try Foreground(instance)
            try kernel.ready()
            let processes = Proc.using(instance.folder)
            #expect(processes.count == 3)
            kernel.command.send(signal)
            let outcome = try kernel.command.finish()
            #expect(outcome.status == 0, "\(outcome)")
            let said = outcome.err.split(separator: "\n").map(String.init)
            #expect(said.count == 3, "\(outcome.err)")
            #expect(said[0].contains("a second Ctrl-C or SIGTERM kills"), "\(said)")
            #expect(said[1].contains("second: ended: stop (exit 0)"), "\(said)")
            #expect(said[2].contains("first: ended: stop (exit 0)"), "\(said)")
            #expect(Proc.survivors(of: processes) == [])
            #expect(access(instance.socket, F_OK) != 0)
        }

        static let pairs: [(first: Int32, second: Int32, code: Int32)] = [
            (SIGINT, SIGINT, 130), (SIGINT, SIGTERM, 143), (SIGTERM, SIGINT, 130),
            (SIGTERM, SIGTERM, 143), (SIGHUP, SIGHUP, 0), (SIGHUP, SIGINT, 0),
            (SIGINT, SIGHUP, 0), (SIGTERM, SIGHUP, 0),
        ]

        @Test(arguments: 0..<pairs.count)
        func `a second interrupt or termination kills at once, a hangup never does`(
            _ index: Int
        ) throws {
            let (first, second, code) = Self.pairs[index]
            // In order it takes longer than the test waits for a kill.
            let drain = code == 0 ? 3 : 2 * Wait.patience
            let zoo = [
                Animal(
                    name: "gate", answers: ["gate", "helpers"], behaviour: ["stubborn"],
                    more: ["drainSeconds": .double(drain), "termSeconds": 1]),
                Animal(name: "idle", answers: ["echo"]),
            ]
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            let kernel = try Foreground(instance)
            try kernel.ready()
            #expect(try instance.run("call", "Zoo.helpers", "2").succeeded)
            let mark = "\(instance.folder)/mark"
            #expect(
                try instance.run("dispatch", "Zoo.gate", Value.text(mark).json()).succeeded)
            try Wait.until("the visit runs") { access(mark, F_OK) == 0 }
            let processes = Proc.using(instance.folder)
            #expect(processes.count == 5)
            kernel.command.send(first)
            try Wait.until("it has stopped the idle one") {
                instance.ends(of: "idle") == ["stop (exit 0)"]
            }
            #expect(instance.ends(of: "gate") == [])
            kernel.command.send(second)
            let outcome = try kernel.command.finish()
            #expect(outcome.status == code, "\(outcome)")
            #expect(outcome.err.contains("killing what is left") == (code != 0), "\(outcome)")
            #expect(instance.ends(of: "gate") == ["stop (signal KILL)"])
            #expect(Proc.survivors(of: processes) == [])
            #expect(access(instance.socket, F_OK) != 0)
        }

        @Test(arguments: ["HUP", "INT", "TERM"])
        func `a signal that was ignored at the start stays ignored`(_ name: String) throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let kernel = try Foreground(instance, before: "trap '' \(name)")
            try kernel.ready()
            let numbers = ["HUP": SIGHUP, "INT": SIGINT, "TERM": SIGTERM]
            for _ in 0..<3 { kernel.command.send(try #require(numbers[name])) }
            #expect(try instance.devices().allSatisfy { $0.state == "ready" && $0.restarts == 0 })
            // It is the kernel that ignores it, not its devices.
            let device = try instance.device("first").pid
            let ignored = Files.text("/proc/\(device)/status").split(separator: "\n")
                .first { $0.hasPrefix("SigIgn:") }
            #expect(
                ignored?.hasSuffix("0000000000001000") == true, "only SIGPIPE: \(ignored ?? "")")
            kernel.command.send(name == "TERM" ? SIGINT : SIGTERM)
            let outcome = try kernel.command.finish()
            #expect(outcome.status == 0, "\(outcome)")
            #expect(instance.ends(of: "first") == ["stop (exit 0)"])
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
        func `a signal while devices still start ends them at once`(_ signal: Int32) throws {
            let zoo = [
                Animal(name: "mute", behaviour: ["mute"], more: ["startSeconds": 60]),
                Animal(name: "sibling", answers: ["echo"]),
            ]
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            let kernel = try Foreground(instance)
            try Wait.until("both run") {
                Proc.using(instance.folder).count == 3
                    && Proc.all.count { $0.parent == kernel.command.pid } == 2
            }
            kernel.command.send(signal)
            let outcome = try kernel.command.finish()
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.out == "")
            #expect(!outcome.err.contains("not start"), "\(outcome.err)")
            #expect(instance.ends(of: "mute") == ["stop (signal KILL)"])
            #expect(Proc.using(instance.folder) == [])
            #expect(access(instance.socket, F_OK) != 0)
        }

        @Test func `a stop of the kernel takes nothing from the time of a start`() throws {
            let slow = Animal(
                name: "slow", answers: ["echo"], executable: "slow", more: ["startSeconds": 4])
            let instance = try Instance(zoo: [slow], reference: false)
            defer { instance.end() }
            let go = "\(instance.folder)/go"
            let script = "\(instance.folder)/devices/slow/slow"
            try Files.write(
                """
                #!/bin/sh
                while [ ! -e \(go) ]; do sleep 0.05; done
                exec \(Programs.zoo) "$@"
                """, to: script)
            chmod(script, 0o755)
            let kernel = try Foreground(instance)
            try Wait.until("it runs") { Proc.all.contains { $0.parent == kernel.command.pid } }
            kernel.command.send(SIGSTOP)
            // Longer than the device and all of the start may take.
            usleep(7_000_000)
            kernel.command.send(SIGCONT)
            usleep(300_000)
            try Files.write("", to: go)
            try kernel.ready()
            #expect(try instance.device("slow").restarts == 0)
            kernel.command.send(SIGTERM)
            #expect(try kernel.command.finish().status == 0)
        }

        @Test func `down twice and then a signal is still an end in order`() throws {
            let zoo = [
                Animal(name: "gate", answers: ["gate"], more: ["drainSeconds": 60])
            ]
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            let kernel = try Foreground(instance)
            try kernel.ready()
            let mark = "\(instance.folder)/mark"
            #expect(
                try instance.run("dispatch", "Zoo.gate", Value.text(mark).json()).succeeded)
            try Wait.until("the visit runs") { access(mark, F_OK) == 0 }
            let downs = try (0..<2).map { _ in try instance.start(["down"]) }
            try Wait.until("it stops") { try instance.device("gate").state == "draining" }
            kernel.command.send(SIGTERM)
            try Files.write("", to: mark + ".go")
            let outcome = try kernel.command.finish()
            #expect(outcome.status == 0, "\(outcome)")
            #expect(instance.ends(of: "gate") == ["stop (exit 0)"])
            for down in downs { _ = try down.finish() }
        }
    }
}
