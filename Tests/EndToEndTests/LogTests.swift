import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// What devices and the kernel have said, and how it is read.
    @Suite struct Logs {
        static let zoo = [
            Animal(name: "faulty", answers: ["trap"]), Animal(name: "steady", answers: ["echo"]),
        ]

        private func folder(_ instance: Instance) -> String { "\(instance.data)/log" }

        @Test func `all logs are merged by time, the kernel's own included`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                #expect(try instance.run("call", "Zoo.trap", "\"trap\"").status == 70)
                kill(try instance.device("steady").pid, SIGKILL)
                _ = try watch.device("steady") { $0.state == "ready" && $0.restarts == 1 }
                let all = try instance.run("log")
                #expect(all.succeeded)
                #expect(!all.out.contains("\u{1B}"))
                let lines = all.out.split(separator: "\n").map(String.init)
                #expect(lines == lines.sorted { $0.prefix(24) < $1.prefix(24) })
                for part in [
                    " kernel started: pid=\(instance.kernel) ", " kernel ready pid=",
                    " faulty#1 err ", "the payload asked for it", " faulty#1 kernel ended: signal ",
                    " steady#1 kernel ended: signal KILL",
                ] {
                    #expect(lines.contains { $0.contains(part) }, "\(part) in \(all.out)")
                }
                let one = try instance.run("log", "steady").out.split(separator: "\n")
                #expect(one.count == 1)
                #expect(one.allSatisfy { $0.contains(" steady#") })
                #expect(
                    try instance.run("log", "--lines", "2").out.split(separator: "\n").count == 2)
                #expect(try instance.run("log", "--lines", "0").out == "")
                let json = try instance.run("log", "steady", "--json").out
                let row = try Value.parse(json: json)
                #expect(
                    Set(row.map?.keys.map { $0 } ?? []) == [
                        "at", "device", "incarnation", "stream", "text",
                    ])
                #expect(row["text"] == "ended: signal KILL")
                #expect(row["incarnation"] == 1)
            }
        }

        @Test func `logs are read when the kernel is dead, and a device that is not is named`()
            throws
        {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                #expect(try instance.run("call", "Zoo.trap", "\"trap\"").status == 70)
                kill(instance.kernel, SIGSTOP)
                let silent = try instance.run("log", "faulty")
                #expect(silent.succeeded)
                #expect(silent.out.contains("the payload asked for it"))
                #expect(silent.err.contains("does not answer"))
                kill(instance.kernel, SIGKILL)
                #expect(Proc.survivors(of: Proc.using(instance.folder)) == [])
                let dead = try instance.run("log", "faulty", "--data", instance.data)
                #expect(dead.out == silent.out)
                let nobody = try instance.run("log", "nobody", "--data", instance.data)
                #expect(nobody.status == 69)
                for name in ["nobody", "faulty", "kernel", "steady"] {
                    #expect(nobody.err.contains(name), "\(nobody.err)")
                }
                // Nothing has run with the data of the default folder.
                let nothing = try instance.run("log")
                #expect(nothing.status == 69)
                #expect(nothing.err.contains("\(instance.folder)/.local/share/concentric/main/log"))
            }
        }

        @Test func `following goes on over the first start, a restart and a new folder`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            // Nothing is there yet, not even the folder of the data.
            let log = try Lines(instance, "log", "-f", "--data", instance.data)
            for _ in 1...2 {
                try instance.up()
                try log.next("the start") { $0.contains("kernel started: pid=\(instance.kernel) ") }
                kill(try instance.device("steady").pid, SIGKILL)
                try log.next("the end") { $0.contains(" steady#1 kernel ended: signal KILL") }
                let processes = Proc.using(instance.folder).filter { $0 != log.command.pid }
                kill(instance.kernel, SIGKILL)
                #expect(Proc.survivors(of: processes) == [])
            }
            try instance.up()
            Files.remove(folder(instance))
            let watch = try Watch(instance, "Kernel.Devices")
            kill(try watch.device("steady") { $0.state == "ready" }.pid, SIGKILL)
            try log.next("the end in a new folder") { $0.contains(" steady#1 kernel ended") }
            log.command.send(SIGINT)
            #expect(try log.command.finish().signal == SIGINT)
        }

        @Test func `following goes on when the folder of the data is moved away`() throws {
            let instance = try Instance()
            defer { instance.end() }
            func put(_ text: String) throws {
                mkdir(instance.data, 0o700)
                mkdir(folder(instance), 0o700)
                let line = "2026-01-01T00:00:00.000Z #1 out \(text)\n"
                try Files.write(line, to: "\(folder(instance))/steady.log")
            }
            try put("first")
            let log = try Lines(instance, "log", "-f", "--data", instance.data)
            try log.next("the first") { $0.hasSuffix("first") }
            for number in 1...3 {
                try Wait.until("it waits") { Proc.status(log.command.pid)?.state == "S" }
                #expect(rename(instance.data, "\(instance.folder)/old\(number)") == 0)
                try put("in folder \(number)")
                try log.next("line \(number)") { $0.hasSuffix("in folder \(number)") }
            }
        }

        @Test func `following goes on when the file is put aside, and no line comes twice`() throws
        {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            mkdir(instance.data, 0o700)
            mkdir(folder(instance), 0o700)
            let old = "2026-01-01T00:00:00.000Z #1 out \(String(repeating: "o", count: 1_000))\n"
            let path = "\(folder(instance))/steady.log"
            try Files.write(String(repeating: old, count: 4_061), to: path)
            let log = try Lines(
                instance, "log", "steady", "-f", "--lines", "1", "--data", instance.data)
            try log.next("the last old line") { $0.contains("ooo") }
            try instance.up()
            let watch = try Watch(instance, "Kernel.Devices")
            // What is over the 4 MiB goes into a new file.
            for number in 1...12 {
                let row = try watch.device("steady") {
                    $0.state == "ready" && $0.incarnation >= number
                }
                kill(row.pid, SIGKILL)
                try log.next("end \(number)") { $0.contains(" steady#\(number) kernel ended") }
            }
            #expect(access(path + ".1", F_OK) == 0)
            let ends = log.lines.filter { $0.contains("kernel ended") }
            #expect(ends.count == 12)
        }

        @Test func `who follows sleeps until something is said`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let log = try Lines(instance, "log", "-f", "--data", instance.data)
                try log.next("the start") { $0.contains("kernel ready") }
                func switches() -> Int {
                    let text = Files.text("/proc/\(log.command.pid)/status")
                    let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary") }
                    return line?.split(separator: "\t").last.flatMap { Int($0) } ?? -1
                }
                try Wait.until("it waits") { Proc.status(log.command.pid)?.state == "S" }
                #expect(switches() > 0)
                // It may have something to do for a while; who looks again and again never rests.
                try Wait.until("a second without a turn") {
                    let before = switches()
                    usleep(1_000_000)
                    return switches() <= before + 1
                }
            }
        }

        @Test func `the kernel's complaints are in its log, whoever started it`() throws {
            let failing = [Animal(name: "quitter", behaviour: ["quits", "3", "no luck today"])]
            for attached in [false, true] {
                let instance = try Instance(zoo: failing, reference: false)
                defer { instance.end() }
                let words = Array(instance.upWords.filter { !attached || $0 != "--detach" })
                let outcome = try instance.start(words).finish()
                #expect(outcome.status == 69)
                let log = try instance.run("log", "kernel", "--data", instance.data).out
                for part in [
                    "the device quitter", ") did not start: ", ") does not start: ", "exit 3",
                    "no luck today",
                ] {
                    #expect(log.contains(part), "\(part) in \(log)")
                }
                let own = try instance.run("log", "quitter", "--data", instance.data).out
                #expect(own.contains(" err no luck today"))
                #expect(own.contains("kernel ended: exit 3"))
            }
        }

        @Test func `a disk that takes nothing costs lines and nothing else`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            mkdir(instance.data, 0o700)
            mkdir(folder(instance), 0o700)
            let old = "2026-01-01T00:00:00.000Z #1 out \(String(repeating: "o", count: 5_000))\n"
            try Files.write(old, to: "\(folder(instance))/steady.log")
            // Whoever runs the tests may ignore the signal that comes with the refusal.
            let up = try instance.start(
                program: "/usr/bin/env",
                ["--default-signal=XFSZ", Programs.shell] + instance.upWords
            ).finish()
            guard let kernel = Ready(up.out)?.pid else { throw Failure("\(up)") }
            do {
                let watch = try Watch(instance, "Kernel.Devices")
                func limit(_ size: String) throws {
                    let words = ["--pid", "\(kernel)", "--fsize=\(size):"]
                    let outcome = try instance.start(program: "/usr/bin/prlimit", words).finish()
                    guard outcome.succeeded else { throw Failure("prlimit: \(outcome)") }
                }
                // No less than a status page has, which is a file too, though not on the disk.
                try limit("4096")
                for number in 1...3 {
                    let row = try watch.device("steady") {
                        $0.state == "ready" && $0.incarnation >= number
                    }
                    kill(row.pid, SIGKILL)
                }
                _ = try watch.device("steady") { $0.state == "ready" && $0.incarnation == 4 }
                #expect(try instance.run("call", "Zoo.echo", "\"on\"").out == "\"on\"\n")
                try limit("unlimited")
                kill(try instance.device("steady").pid, SIGKILL)
                _ = try watch.device("steady") { $0.state == "ready" && $0.incarnation == 5 }
                let log = try instance.run("log", "steady").out
                #expect(
                    log.contains("[3 lines are missing: the log could not be written]"), "\(log)")
                #expect(log.contains(" steady#4 kernel ended: signal KILL"), "\(log)")
            }
        }

        @Test func `colours are for terminals alone, and for none that objects`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                for (variables, isColoured) in [
                    (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": "1"], false),
                    (["TERM": "xterm", "NO_COLOR": ""], true), (["TERM": "dumb"], false),
                    ([:], false),
                ] {
                    // What unlockpt and ptsname do, which Glibc shows to GNU sources only.
                    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
                    defer { close(terminal) }
                    var locked: Int32 = 0
                    var index: UInt32 = 0
                    guard ioctl(terminal, UInt(0x4004_5431), &locked) == 0,
                        ioctl(terminal, UInt(0x8004_5430), &index) == 0
                    else { throw Failure("no terminal") }
                    let end = open("/dev/pts/\(index)", O_RDWR | O_NOCTTY | O_CLOEXEC)
                    defer { close(end) }
                    let log = try instance.start(
                        ["log", "kernel"], output: end, variables: variables)
                    #expect(try log.finish().succeeded)
                    var block = [UInt8](repeating: 0, count: 16 << 10)
                    guard Wait.readable(terminal, until: Clock.now + Wait.patience) else {
                        throw Failure("silent")
                    }
                    let count = max(0, read(terminal, &block, block.count))
                    #expect(count > 0)
                    #expect(block[..<count].contains(0x1B) == isColoured, "\(variables)")
                }
            }
        }

        @Test func `no device is named like the kernel, or like an option`() throws {
            for name in ["kernel", "-f"] {
                let instance = try Instance(zoo: [Animal(name: "zoo")], reference: false)
                defer { instance.end() }
                try Files.write(
                    "{\"name\": \"\(name)\"}", to: "\(instance.folder)/devices/zoo/device.json")
                let outcome = try instance.start(instance.upWords).finish()
                #expect(outcome.status == 69)
                #expect(outcome.err.contains("zoo/device.json: name: “\(name)”"), "\(outcome.err)")
            }
        }
    }
}
