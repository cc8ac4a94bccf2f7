import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Verbs that wait for a device while something else becomes of it. All limits are far away:
    /// who returns at all was told.
    @Suite struct Waits {
        /// How the device is before the verb is said.
        enum Before {
            case ready
            case stopped
            /// It holds a visit that blocks it, so that its end takes as long as it may.
            case busy
        }

        struct Case: Sendable {
            let words: [String]
            let before: Before
            /// Its next processes never say hello.
            var isMute = true
            /// Said one after the other while the verb waits; `tame` ends the muteness.
            let meanwhile: [String]
            let status: Int32
            let says: [String]
        }

        static let cases: [Case] = [
            Case(
                words: ["start"], before: .stopped, meanwhile: ["stop zoo"], status: 69,
                says: ["zoo: `start` will not be done", "`stop` was asked for"]),
            Case(
                words: ["start"], before: .stopped, meanwhile: ["tame", "kill zoo"], status: 0,
                says: []),
            Case(
                words: ["restart"], before: .ready, meanwhile: ["stop zoo"], status: 69,
                says: ["zoo: `restart` will not be done", "`stop` was asked for"]),
            Case(
                words: ["restart"], before: .busy, meanwhile: ["down"], status: 69,
                says: ["zoo: `restart` will not be done", "the kernel was told to end"]),
            Case(
                words: ["restart"], before: .ready, meanwhile: ["tame", "restart zoo"], status: 0,
                says: []),
            Case(
                words: ["restart", "--swap"], before: .ready, meanwhile: ["stop zoo"], status: 69,
                says: ["zoo: `restart --swap` will not be done", "`stop` was asked for"]),
            Case(
                words: ["restart", "--swap"], before: .ready,
                meanwhile: ["kill zoo", "tame", "kill zoo"], status: 0, says: []),
            Case(
                words: ["stop"], before: .busy, isMute: false, meanwhile: ["start zoo"],
                status: 69, says: ["zoo: `stop` will not be done", "`start` was asked for"]),
            Case(
                words: ["stop"], before: .busy, isMute: false, meanwhile: ["kill zoo"], status: 0,
                says: []),
        ]

        private func zoo(instances: Int64 = 1) -> [Animal] {
            [
                Animal(
                    name: "zoo", answers: ["gate"], behaviour: ["wild", "mute"],
                    more: [
                        "startSeconds": 300, "drainSeconds": 300, "instances": .int(instances),
                    ])
            ]
        }

        /// Says the verb and returns when the kernel has it.
        private func say(
            _ words: [String], _ device: String, _ instance: Instance, _ watch: Watch
        ) throws -> Command {
            let command = try instance.start([words[0], device] + words.dropFirst())
            let asked = words.contains("--swap") ? "swap" : words[0]
            let seat = device == "zoo" ? try #require(instance.devices().first).name : device
            _ = try watch.device(seat) { $0.asked == asked }
            return command
        }

        @Test(arguments: 0..<cases.count)
        func `who waits for a device is told at once what came instead`(index: Int) throws {
            let test = Self.cases[index]
            try Instance.with(zoo: zoo(), reference: false) { instance in
                let wild = "\(instance.data)/zoo.wild"
                let watch = try Watch(instance, "Kernel.Devices")
                var others: [Command] = []
                switch test.before {
                case .ready: break
                case .stopped: #expect(try instance.run("stop", "zoo").succeeded)
                case .busy:
                    let gate = "\(instance.folder)/gate"
                    others.append(try instance.start(["call", "Zoo.gate", "\"\(gate)\""]))
                    try Wait.until("the visit") { access(gate, F_OK) == 0 }
                }
                if test.isMute { try Files.write("", to: wild) }
                let command = try say(test.words, "zoo", instance, watch)
                for line in test.meanwhile {
                    switch line {
                    case "tame": unlink(wild)
                    case "kill zoo": try kill("zoo", instance, watch)
                    default:
                        others.append(
                            try instance.start(line.split(separator: " ").map(String.init)))
                    }
                }
                let outcome = try command.finish(within: 120)
                #expect(outcome.status == test.status, "\(outcome)")
                for part in test.says { #expect(outcome.err.contains(part), "\(outcome.err)") }
                Glibc.kill(instance.kernel, SIGKILL)
                for other in others { _ = try other.finish() }
            }
        }

        /// Kills the process that serves, and waits until another one is to, or none.
        private func kill(_ device: String, _ instance: Instance, _ watch: Watch) throws {
            let old = try instance.device(device).incarnation
            #expect(try instance.run("kill", device).succeeded)
            _ = try watch.device(device) { $0.incarnation > old || $0.state == "stopped" }
        }

        /// Ends what a swap has started by a signal that it gives itself, as it were.
        private func failHeir(_ instance: Instance, besides served: [Int32]) throws {
            let heirs = Proc.all.filter {
                $0.parent == instance.kernel && !served.contains($0.pid)
            }
            try #require(heirs.count == 1)
            Glibc.kill(heirs[0].pid, SIGUSR1)
        }

        @Test(arguments: [false, true])
        func `a swap ends when what it started does, with the old process or without`(
            isOldGone: Bool
        ) throws {
            try Instance.with(zoo: zoo(), reference: false) { instance in
                try Files.write("", to: "\(instance.data)/zoo.wild")
                let old = try instance.device("zoo").pid
                let watch = try Watch(instance, "Kernel.Devices")
                let swap = try say(["restart", "--swap"], "zoo", instance, watch)
                if isOldGone { try kill("zoo", instance, watch) }
                try failHeir(instance, besides: [old])
                let outcome = try swap.finish(within: 120)
                #expect(outcome.status == 69, "\(outcome)")
                let rest = "the process that served \(isOldGone ? "is gone, too" : "goes on")"
                for part in ["zoo: swap failed: signal USR1", rest] {
                    #expect(outcome.err.contains(part), "\(outcome)")
                }
                #expect(Proc.isAlive(old) != isOldGone)
            }
        }

        @Test func `a swap that waits for that of another seat fails with it`() throws {
            try Instance.with(zoo: zoo(instances: 2), reference: false) { instance in
                mkdir("\(instance.data)/zoo", 0o700)
                for seat in 1...2 { try Files.write("", to: "\(instance.data)/zoo/\(seat).wild") }
                let before = try instance.devices().map(\.pid)
                let watch = try Watch(instance, "Kernel.Devices")
                let swaps = try ["zoo/1", "zoo/2"].map { seat in
                    try say(["restart", "--swap"], seat, instance, watch)
                }
                try failHeir(instance, besides: before)
                let first = try swaps[0].finish(within: 120)
                #expect(first.status == 69, "\(first)")
                #expect(first.err.contains("zoo/1: swap failed: signal USR1"), "\(first)")
                let second = try swaps[1].finish(within: 120)
                #expect(second.status == 69, "\(second)")
                #expect(second.err.contains("swap failed: that of zoo/1 did"), "\(second)")
                #expect(try instance.devices().map(\.pid) == before)
            }
        }
    }
}
