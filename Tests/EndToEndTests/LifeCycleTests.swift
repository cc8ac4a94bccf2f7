import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// `up`, `ps` and `down`.
    @Suite struct LifeCycle {
        @Test func `up says when every device is ready, and ps shows them`() throws {
            try Instance.with { instance in
                let rows = try instance.devices()
                #expect(rows.map(\.name) == ["circuit", "compute", "infrastructure"])
                for row in rows {
                    #expect(row.state == "ready")
                    #expect(row.incarnation == 1)
                    #expect(row.restarts == 0)
                    #expect(row.lastExit == "")
                    #expect(Proc.status(row.pid)?.parent == instance.kernel)
                    #expect(Proc.status(row.pid)?.group == row.pid, "a group of its own")
                }
                let table = try instance.run("ps").out.split(separator: "\n")
                #expect(table.count == 4)
                #expect(table.first?.hasPrefix("NAME") == true)
            }
        }

        @Test
        func `a device that is done before a slow sibling is ready does not hold up the start`()
            throws
        {
            let zoo = [
                Animal(
                    name: "brief", behaviour: ["brief", "1", "0"], more: ["restart": "transient"]),
                Animal(name: "slow", behaviour: ["slow", "1000"]),
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let states = try instance.devices().map { "\($0.name) \($0.state)" }
                #expect(states.sorted() == ["brief done", "slow ready"])
            }
        }

        @Test func `down leaves no process and no socket, and the next up works`() throws {
            let instance = try Instance()
            defer { instance.end() }
            for _ in 1...2 {
                try instance.up()
                let processes = Proc.using(instance.folder)
                #expect(processes.count == 4)
                #expect(access(instance.socket, F_OK) == 0)
                #expect(try instance.run("down").succeeded)
                #expect(Proc.survivors(of: processes) == [])
                #expect(access(instance.socket, F_OK) != 0)
            }
        }

        @Test func `a second up is refused and names the one that runs`() throws {
            try Instance.with { instance in
                let second = try instance.start(instance.upWords).finish()
                #expect(second.status == 69)
                #expect(second.err.contains("\(instance.kernel)"), "\(second.err)")
                #expect(try instance.devices().allSatisfy { $0.restarts == 0 })
                #expect(Proc.using(instance.folder).count == 4)
            }
        }

        @Test func `a kernel with the data of another leaves no socket and touches nothing`() throws
        {
            try Instance.with { instance in
                let log = Files.text("\(instance.data)/log/kernel.log")
                let second = try instance.start(instance.upWords + ["--name", "other"]).finish()
                #expect(second.status == 69)
                #expect(second.err.contains("keeps its data here"), "\(second.err)")
                #expect(access("\(instance.folder)/concentric/other.sock", F_OK) != 0)
                #expect(Files.text("\(instance.data)/log/kernel.log") == log)
                #expect(try instance.devices().allSatisfy { $0.restarts == 0 })
            }
        }

        @Test func `a program that is started without streams opens none of its own as one`() throws
        {
            let instance = try Instance()
            defer { instance.end() }
            let words = ([Programs.shell] + instance.upWords).filter { $0 != "--detach" }
            let script = "exec \(words.joined(separator: " ")) <&- >&- 2>&-"
            let up = try instance.start(program: "/bin/sh", ["-c", script])
            try Wait.until("it serves") {
                try instance.run("ps", "--json").out.contains("\"ready\"")
            }
            let streams = Proc.descriptors(up.pid).filter { $0.key < 3 }
            #expect(streams == [0: "/dev/null", 1: "/dev/null", 2: "/dev/null"])
            up.send(SIGTERM)
            #expect(try up.finish().status == 0)
        }

        @Test func `of two ups at once exactly one wins`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let both = try (0..<2).map { _ in try instance.start(instance.upWords) }
            let outcomes = try both.map { try $0.finish() }
            #expect(outcomes.filter(\.succeeded).count == 1)
            #expect(outcomes.filter { $0.status == 69 }.count == 1)
            #expect(try instance.devices().allSatisfy { $0.state == "ready" })
        }

        @Test(arguments: ["down", "TERM", "INT", "QUIT"])
        func `a visit that a device finishes while all ends is answered`(_ how: String) throws {
            let names = ["aa", "mm", "zz"]
            let zoo = names.map {
                Animal(name: $0, answers: ["obey.\($0)"], more: ["drainSeconds": 60])
            }
            try Instance.with(zoo: zoo, reference: false) { instance in
                let calls = try names.map {
                    try instance.start(["call", "Zoo.obey.\($0)", "\"linger 700\""])
                }
                // A line without a flush of its own reaches the log while its process runs.
                try Wait.until("the visits run") {
                    names.allSatisfy {
                        Files.text("\(instance.data)/log/\($0).log").contains("out lingers")
                    }
                }
                if how == "down" {
                    #expect(try instance.run("down").succeeded)
                } else {
                    kill(instance.kernel, how == "TERM" ? SIGTERM : how == "INT" ? SIGINT : SIGQUIT)
                }
                for call in calls {
                    let outcome = try call.finish()
                    #expect(outcome.succeeded, "\(outcome)")
                }
            }
        }

        @Test func `a kernel that is asked by a signal ends its devices, too`() throws {
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                try Instance.with { instance in
                    let processes = Proc.using(instance.folder)
                    kill(instance.kernel, signal)
                    #expect(Proc.survivors(of: processes) == [])
                    #expect(access(instance.socket, F_OK) != 0)
                }
            }
        }
    }
}
