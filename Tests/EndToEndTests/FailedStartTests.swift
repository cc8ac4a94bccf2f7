import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Devices that do not start.
    @Suite struct FailedStarts {
        struct Case {
            var animal: Animal
            /// What the message must name besides the device and its program.
            var why: [String]
            /// Makes what the animal needs, in the folder of its manifest.
            var script = ""
            /// Nothing but another build or manifest helps: it is not tried again.
            var isMismatch = false
            /// Seconds that a start may take, at least; nil if that is not what ends it.
            var limit: Double?

            /// What is told is the time since there is a process: less than the limit by what it
            /// takes to make one, and more by as long as others are busy.
            func tellsItsTime(_ line: Substring) -> Bool {
                guard let limit else { return true }
                return why.contains { words in
                    guard let place = line.firstRange(of: words) else { return false }
                    let time = Double(line[place.upperBound...].prefix { $0 != " " }) ?? 0
                    return (limit / 2...limit * 2 + 10).contains(time)
                }
            }
        }

        /// A program that stands beside its manifest, made by the case's script.
        private static func made(
            _ name: String, _ why: [String], start: Int64? = nil, _ script: String
        ) -> Case {
            Case(
                animal: Animal(
                    name: name, executable: "program",
                    more: start.map { ["startSeconds": .int($0)] } ?? [:]),
                why: why, script: script, limit: start.map { Double($0) })
        }

        /// A shell script that says hello in a wire, and then what the test wants.
        private static func hello(wire: String, then: String) -> String {
            // [1, 0, {"name": "test", "wire": …, "build": "9.9"}] of the protocol's vectors.
            let body =
                #"\203\001\000\243\144name\144test\144wire"# + wire + #"\145build\1439.9"#
            let length = wire == #"\001"# ? #"\036"# : #"\037"#
            return """
                printf '#!/bin/sh\n. ./words\n' > program; chmod +x program
                cat > ../../words <<'END'
                printf '\\000\\000\\000\(length)\(body)' >&3
                \(then)
                END
                sed -i "s,\\./words,$PWD/../../words," program
                """
        }

        static let cases = [
            Case(
                animal: Animal(name: "ghost", executable: "/nowhere/ghost"),
                why: ["/nowhere/ghost", "No such file"]),
            Case(
                animal: Animal(name: "folder", executable: "/tmp"),
                why: ["/tmp", "Permission denied", "it is a directory"]),
            made("closed", ["Permission denied", "0644"], "echo > program; chmod 644 program"),
            made(
                "foreign", ["Exec format error", "machine 2, this machine is"],
                // The header of a program for a machine of another kind: e_machine is 2, SPARC.
                """
                cp /bin/true program
                printf '\\002\\000' | dd of=program bs=1 seek=18 conv=notrunc status=none
                """),
            made(
                "script", ["No such file", "interpreter is missing"],
                "printf '#!/nowhere/interpreter\\n' > program; chmod +x program"),
            made(
                "lonely", ["libgone.so", "exit 127"],
                """
                echo 'int gone(void) { return 0; }' > gone.c
                echo 'int gone(void); int main(void) { return gone(); }' > main.c
                cc -shared -fPIC -o libgone.so gone.c && cc -o program main.c -L. -lgone
                rm libgone.so
                """),
            Case(
                animal: Animal(name: "quitter", behaviour: ["quits", "3", "no luck today"]),
                why: ["exit 3", "no luck today", "had not said hello"]),
            Case(
                animal: Animal(name: "leaver", behaviour: ["quits", "0", "good bye"]),
                why: ["exit 0", "good bye", "had not said hello"]),
            Case(
                animal: Animal(name: "older", executable: "program"),
                why: ["9.9", "wire 99", "wire 1", "rebuild the older kernel"],
                script: hello(wire: #"\030\143"#, then: "cat <&3 > /dev/null"),
                isMismatch: true),
            Case(
                animal: Animal(name: "mute", behaviour: ["mute"], more: ["startSeconds": 1]),
                why: ["start (signal KILL)", "had not said hello ", "s after its start"],
                limit: 1),
            Case(
                animal: Animal(name: "silent", behaviour: ["mute"]),
                why: ["start", "had not said hello "], limit: 10),
            made(
                "lingerer", ["start (signal KILL)", "said hello and was not ready "], start: 5,
                hello(wire: #"\001"#, then: "sleep 1000 & wait")),
            Case(
                animal: Animal(
                    name: "liar", answers: ["echo", "letters"], behaviour: ["unfinished"]),
                why: ["Zoo.letters"], isMismatch: true),
            Case(
                animal: Animal(
                    name: "eager", answers: ["echo"], more: ["provides": ["Zoo.letters"]]),
                why: ["Zoo."], isMismatch: true),
        ]

        @Test func `up fails in time, says who and why, and ends the siblings`() throws {
            // The restarts of all of them take their time at once.
            let started = try Self.cases.map { failing in
                let instance = try Instance(
                    zoo: [failing.animal, Animal(name: "sibling", answers: ["trap"])],
                    reference: false)
                let folder = "\(instance.folder)/devices/\(failing.animal.name)"
                let made = try instance.start(
                    program: "/bin/sh", ["-c", "set -e; cd \(folder); \(failing.script)"]
                ).finish()
                #expect(made.succeeded, "\(failing.animal.name): \(made)")
                return (failing, instance, try instance.start(instance.upWords))
            }
            defer { for (_, instance, _) in started { instance.end() } }
            let start = Clock.now
            for (failing, instance, command) in started {
                let name = failing.animal.name
                let outcome = try command.finish()
                #expect(outcome.status == 69, "\(name): \(outcome)")
                #expect(outcome.out == "", "\(name)")
                let program =
                    failing.animal.executable == "program"
                    ? "\(instance.folder)/devices/\(name)/program" : failing.animal.executable
                let lines = outcome.err.split(separator: "\n")
                let last = try #require(lines.first { $0.hasPrefix("concentric: ") })
                for word in [name, program] + failing.why {
                    #expect(last.contains(word), "\(name) lacks \(word): \(outcome.err)")
                }
                // The first failure is told by itself.
                let told = lines.count { $0.contains("\(name) (\(program)) did not start: ") }
                #expect(told == (failing.isMismatch ? 0 : 1), "\(name): \(outcome.err)")
                if failing.isMismatch {
                    let words = last.split(separator: " ")
                    #expect(words.count { $0.contains(failing.why[0]) } == 1, "\(last)")
                    #expect(!last.contains("exit 78"), "\(last)")
                }
                #expect(Set(lines).count == lines.count, "\(name) repeats: \(outcome.err)")
                // The kernel has gone before who waited for it returns.
                #expect(Proc.using(instance.folder) == [])
                #expect(access(instance.socket, F_OK) != 0)
                #expect(Clock.now - start < 60, "\(name)")
                #expect(failing.tellsItsTime(last), "\(last)")
            }
        }

        @Test func `a device that fails later leaves the others at work`() throws {
            let zoo = [
                Animal(name: "leaver", answers: ["leave"]),
                Animal(name: "steady", answers: ["echo"]),
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let path = "\(instance.folder)/devices/leaver/device.json"
                #expect(access(path, R_OK) == 0)
                let call = try instance.run("call", "Zoo.leave", "3")
                #expect(call.status == 70)
                #expect(call.err.contains("deviceLost"), "\(call.err)")
                let watch = try Watch(instance, "Kernel.Devices")
                let row = try watch.device("leaver") { $0.state == "ready" && $0.restarts == 1 }
                #expect(row.lastExit == "exit 3")
                #expect(try instance.run("call", "Zoo.echo", "\"still\"").out == "\"still\"\n")
                #expect(try instance.device("steady").restarts == 0)
            }
        }

        @Test func `a device that no longer starts is given up, and comes back when told`() throws {
            let wall = "/tmp/ce-wall-\(getpid())"
            Files.remove(wall)
            defer { Files.remove(wall) }
            let zoo = [
                Animal(name: "fragile", answers: ["echo"], behaviour: ["fragile", wall]),
                Animal(name: "steady", answers: ["letters"]),
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                try Files.write("", to: wall)
                kill(try instance.device("fragile").pid, SIGKILL)
                _ = try watch.device("fragile") { $0.state == "waiting" }
                let waiting = try instance.start([
                    "call", "Zoo.echo", "\"x\"", "--deadline", "120000",
                ])
                #expect(try instance.run("call", "Zoo.letters", "2").out == "\"zz\"\n")
                let row = try watch.device("fragile") { $0.state == "failed" }
                #expect(row.pid == 0)
                #expect(row.lastExit == "exit 3")
                for outcome in [
                    try waiting.finish(), try instance.run("call", "Zoo.echo", "\"y\""),
                ] {
                    #expect(outcome.status == 69)
                    #expect(outcome.err.contains("unavailable"), "\(outcome)")
                }
                #expect(try instance.run("call", "Zoo.letters", "2").out == "\"zz\"\n")
                let errors = try instance.json("errors").array ?? []
                #expect(errors.contains { $0["symbol"] == "fragile" }, "\(errors)")

                unlink(wall)
                #expect(try instance.run("restart", "fragile").succeeded)
                _ = try watch.device("fragile") { $0.state == "ready" }
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
            }
        }

        @Test func `a device whose program is gone comes back with it`() throws {
            let program = "/tmp/ce-program-\(getpid())"
            Files.remove(program)
            defer { Files.remove(program) }
            symlink(Programs.zoo, program)
            let zoo = [Animal(name: "zoo", answers: ["echo"], executable: program)]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                unlink(program)
                kill(try instance.device("zoo").pid, SIGKILL)
                _ = try watch.device("zoo") { $0.state == "waiting" }
                let call = try instance.start(["call", "Zoo.echo", "\"x\""])
                symlink(Programs.zoo, program)
                #expect(try call.finish().out == "\"x\"\n")
                _ = try watch.device("zoo") { $0.state == "ready" }
            }
        }

        @Test func `up says what is wrong with its words and its folder`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let none = "\(instance.folder)/none"
            let missing = try instance.run("up", "--devices", none)
            #expect(missing.status == 69)
            #expect(missing.err.contains(none), "\(missing.err)")
            mkdir(none, 0o700)
            let empty = try instance.run("up", "--devices", none)
            #expect(empty.status == 69)
            #expect(empty.err.contains("device.json"), "\(empty.err)")
            mkdir("\(none)/odd", 0o700)
            try Files.write(
                #"{"name": "odd", "proivdes": []}"#, to: "\(none)/odd/device.json")
            let odd = try instance.run("up", "--devices", none)
            #expect(odd.status == 69)
            #expect(odd.err.contains("proivdes"), "\(odd.err)")
            let data = try instance.run("up", "--data", "/proc/none")
            #expect(data.status == 69)
            #expect(data.err.contains("/proc/none"), "\(data.err)")
            let long = String(repeating: "n", count: 120)
            let name = try instance.run("up", "--name", long)
            #expect(name.status == 64)
            #expect(name.err.contains("1 to 64"), "\(name.err)")
            let path = try instance.start(
                instance.upWords, variables: ["XDG_RUNTIME_DIR": "/tmp/\(long)"]
            ).finish()
            #expect(path.status == 69)
            for word in ["107", "XDG_RUNTIME_DIR"] {
                #expect(path.err.contains(word), "\(path.err)")
            }
            #expect(Proc.using(instance.folder) == [])
        }

        @Test func `up can stand in a pipe`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let words = ([Programs.shell] + instance.upWords).joined(separator: " ")
            let pipe = try instance.start(
                program: "/bin/sh", ["-c", "\(words) 2>&1 | cat"])
            let outcome = try pipe.finish()
            #expect(Ready(outcome.out) != nil, "\(outcome)")
            #expect(try instance.devices().count == 3)
        }
    }
}
