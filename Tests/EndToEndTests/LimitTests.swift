import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Limits of the manifest, with processes that run into them.
    @Suite struct Limits {
        private func animal(_ answers: [String], _ limits: [String: Value]) -> Animal {
            Animal(name: "greedy", answers: answers, more: ["limits": .map(limits)])
        }

        /// Memory piece by piece, until what is there is the limit; and in one piece, which is
        /// refused while little is there.
        @Test(arguments: ["hoard", "swell"])
        func `a device over its memory says so, and the visit pays`(symbol: String) throws {
            let zoo = [animal([symbol], ["memory": .int(1 << 29)])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                #expect(try instance.run("call", "Zoo.\(symbol)", "8").out == "8\n")
                let call = try instance.run("call", "Zoo.\(symbol)", "4000")
                #expect(call.status == 70)
                #expect(call.err.contains("poisoned"), "\(call)")
                let watch = try Watch(instance, "Kernel.Devices")
                let row = try watch.device("greedy") {
                    $0.state == "ready" && $0.restarts == 1
                }
                #expect(row.lastExit.hasPrefix("memory (signal "), "\(row)")
                #expect(try instance.run("call", "Zoo.\(symbol)", "8").out == "8\n")
                let log = try instance.run("log", "greedy").out
                let ends = log.split(separator: "\n").filter {
                    $0.contains("ended: memory (signal ")
                }
                // The first, and two in cells.
                #expect(ends.count == 3, "\(log)")
            }
        }

        @Test func `another trap of a device with a limit of memory is no memory`() throws {
            let zoo = [animal(["trap", "forgo"], ["memory": .int(1 << 29)])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                // Memory that was refused before and not missed is not the cause.
                #expect(try instance.run("call", "Zoo.forgo", "\"well\"").out == "\"well\"\n")
                #expect(try instance.run("call", "Zoo.trap", "\"trap\"").status == 70)
                let watch = try Watch(instance, "Kernel.Devices")
                let row = try watch.device("greedy") { $0.state == "ready" && $0.restarts == 1 }
                #expect(["signal ILL", "signal TRAP"].contains(row.lastExit), "\(row)")
            }
        }

        @Test func `a device over its processor time says so, and the visit pays`() throws {
            let zoo = [animal(["burn", "echo"], ["cpuSeconds": 1])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let call = try instance.run("call", "Zoo.burn")
                #expect(call.status == 70)
                #expect(call.err.contains("poisoned"), "\(call)")
                let watch = try Watch(instance, "Kernel.Devices")
                let row = try watch.device("greedy") { $0.state == "ready" && $0.restarts == 1 }
                #expect(row.lastExit == "processor time (signal XCPU)")
                let log = try instance.run("log", "greedy").out
                let ends = log.split(separator: "\n").filter {
                    $0.contains("ended: processor time")
                }
                #expect(ends.count == 3, "\(log)")
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
            }
        }

        @Test func `a device without descriptors is refused them and lives`() throws {
            let zoo = [animal(["collect"], ["descriptors": 64])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                for _ in 1...2 {
                    let said = try instance.run("call", "Zoo.collect").out
                    #expect(said.hasSuffix(" EMFILE\"\n"), "\(said)")
                    let count = Int(said.dropFirst().prefix { $0 != " " }) ?? 0
                    #expect((30..<64).contains(count), "\(said)")
                }
                #expect(try instance.device("greedy").restarts == 0)
            }
        }

        @Test func `a limit of zero leaves no core file`() throws {
            let zoo = [
                animal(["trap"], ["core": 0]), Animal(name: "free", answers: ["echo"]),
            ]
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            let words = ([Programs.shell] + instance.upWords).joined(separator: " ")
            let up = try instance.start(
                program: "/bin/sh",
                ["-c", "cd \(instance.folder) && ulimit -c unlimited && exec \(words)"]
            ).finish()
            #expect(up.succeeded, "\(up)")
            func core(_ device: String) throws -> String {
                let text = Files.text("/proc/\(try instance.device(device).pid)/limits")
                let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
                return line?.split(separator: " ").dropFirst(4).first.map(String.init) ?? "?"
            }
            #expect(try core("free") == "unlimited")
            #expect(try core("greedy") == "0")
            #expect(try instance.run("call", "Zoo.trap", "\"trap\"").status == 70)
            #expect(Files.names(in: instance.folder).filter { $0.hasPrefix("core") } == [])
        }

        @Test func `how a process ended is in ps, in the errors and in the log`() throws {
            let wall = "/tmp/ce-limit-\(getpid())"
            Files.remove(wall)
            defer { Files.remove(wall) }
            let zoo = [Animal(name: "fragile", answers: ["echo"], behaviour: ["fragile", wall])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                try Files.write("", to: wall)
                kill(try instance.device("fragile").pid, SIGKILL)
                let watch = try Watch(instance, "Kernel.Devices")
                let waiting = try watch.device("fragile") { $0.state == "waiting" }
                #expect(waiting.reason == "exit 3")
                let row = try watch.device("fragile") { $0.state == "failed" }
                #expect((row.reason, row.lastExit) == ("exit 3", "exit 3"))
                let table = try instance.run("ps").out
                #expect(table.contains("LAST EXIT") && table.contains("REASON"))
                #expect(table.contains("failed"))
                #expect(table.contains("exit 3"))
                let errors = try instance.run("errors").out
                #expect(
                    errors.contains("exit 3;") && errors.contains("; \(wall) is there"), "\(errors)"
                )
                let log = try instance.run("log", "fragile").out
                #expect(log.contains(" fragile#2 err \(wall) is there"), "\(log)")
                #expect(log.contains(" fragile#2 kernel ended: exit 3"), "\(log)")
            }
        }
    }
}
