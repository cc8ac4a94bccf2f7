import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Few descriptors, and many who want them.
    @Suite struct Descriptors {
        static let zoo = [
            Animal(name: "echo", answers: ["echo"]), Animal(name: "letters", answers: ["letters"]),
        ]

        /// Starts a detached kernel under a limit of descriptors.
        private func up(_ instance: Instance, limit: Int) throws -> Outcome {
            let words = ([Programs.shell] + instance.upWords).joined(separator: " ")
            return try instance.start(
                program: "/bin/sh", ["-c", "ulimit -n \(limit); exec \(words)"]
            ).finish()
        }

        private func number(after word: String, in text: String) -> Int? {
            guard let range = text.firstRange(of: word) else { return nil }
            return Int(text[range.upperBound...].prefix { $0.isNumber })
        }

        @Test func `a program without a descriptor for its loop says so in one line`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            // With 4 the loader opens its libraries, and the loop has one of its three.
            for limit in [4, 5] {
                let outcome = try instance.start(
                    program: "/bin/sh", ["-c", "ulimit -n \(limit); exec \(Programs.shell) ps"]
                ).finish()
                #expect(outcome.status == 71, "\(limit): \(outcome)")
                #expect(outcome.err.split(separator: "\n").count == 1, "\(limit): \(outcome)")
                #expect(outcome.err.contains("ulimit -n"), "\(limit): \(outcome)")
            }
        }

        @Test func `a limit too small for the devices is refused with what they need`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let first = try up(instance, limit: 40)
            #expect(first.status == 69, "\(first)")
            for word in ["40", "2 devices", "ulimit"] {
                #expect(first.err.contains(word), "\(first.err)")
            }
            let need = try #require(number(after: "need ", in: first.err))
            let cases: [(limit: Int, starts: Bool)] = [(need - 1, false), (need, true)]
            for (limit, starts) in cases {
                let outcome = try up(instance, limit: limit)
                #expect(outcome.succeeded == starts, "\(limit): \(outcome)")
                #expect(outcome.err.contains("ulimit") != starts, "\(limit): \(outcome)")
                #expect(access(instance.socket, F_OK) == (starts ? 0 : -1))
            }
            // Its devices have the limit that it was given.
            let device = try instance.device("echo").pid
            let line = Files.text("/proc/\(device)/limits").split(separator: "\n")
                .first { $0.hasPrefix("Max open files") }
            #expect(line?.contains("\(need)") == true, "\(line ?? "")")
            #expect(try instance.run("down").succeeded)
        }

        @Test func `a flood of connections starves no restart and is told why it waits`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let outcome = try up(instance, limit: 208)
            let kernel = try #require(Ready(outcome.out)?.pid, "\(outcome)")
            let watch = try Watch(instance, "Kernel.Devices")
            _ = try watch.device("echo") { $0.state == "ready" }
            let start = Clock.now
            var strangers = try (0..<200).map { _ in try Stranger(instance) }
            // They are let in by their order, as long as there is room.
            let message = try #require(strangers[199].heard())
            for word in ["overloaded", "clients are connected", "208"] {
                #expect(message.contains(word), "\(message)")
            }
            let first = strangers.firstIndex { $0.heard(within: 0) != nil }
            #expect(first.map { $0 > 16 } == true, "\(first as Any)")
            let full = try instance.run("ps")
            #expect(full.status == 75, "\(full)")
            #expect(full.err.contains("clients are connected"), "\(full)")
            for _ in 0..<100 { strangers.append(try Stranger(instance)) }

            for round in 1...3 {
                for name in ["echo", "letters"] {
                    let row = try watch.device(name) {
                        $0.state == "ready" && $0.incarnation == round
                    }
                    kill(row.pid, SIGKILL)
                    let next = try watch.device(name) {
                        $0.state == "ready" && $0.incarnation == round + 1
                    }
                    #expect(next.restarts == round)
                }
            }
            #expect(!watch.lines.contains { $0.json().contains("waiting") }, "a restart waited")
            let said = instance.kernelLog.split(separator: "\n").count {
                $0.contains("was turned away")
            }
            #expect(said >= 1 && Double(said) <= Clock.now - start + 1, "\(said) lines")
            strangers.removeAll()
            try Wait.until("they are gone") {
                try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n"
            }
            #expect(try instance.run("call", "Zoo.letters", "2").out == "\"zz\"\n")
            #expect(Proc.isAlive(kernel))
        }

        @Test func `a start without a descriptor is tried again every second, uncounted`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                let first = try watch.device("echo") { $0.state == "ready" }
                // Nothing keeps an administrator from that.
                try limit(instance, 16)
                kill(first.pid, SIGKILL)
                let waiting = try watch.device("echo") { $0.state == "waiting" }
                #expect(waiting.pid == 0)
                // Some tries; that many deaths of its own doing would have failed it.
                usleep(6_500_000)
                try watch.drain()
                try limit(instance, 1_024)
                let back = try watch.device("echo") { $0.state == "ready" && $0.pid != first.pid }
                #expect(back.restarts == 1)
                #expect(back.incarnation == 2)
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
                let lines = Files.text("\(instance.data)/log/echo.log").split(separator: "\n")
                    .filter { $0.contains("Too many open files") }
                #expect(lines.count == 1, "\(lines)")
                #expect(!watch.lines.contains { $0.json().contains("failed") })
                #expect(try instance.device("letters").restarts == 0)
            }
        }

        private func limit(_ instance: Instance, _ soft: Int) throws {
            let outcome = try instance.start(
                program: "/usr/bin/prlimit",
                ["--pid", "\(instance.kernel)", "--nofile=\(soft):"]
            ).finish()
            #expect(outcome.succeeded, "\(outcome)")
        }
    }
}
