import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The keys of a terminal in which a kernel runs, and its end.
    @Suite struct TerminalSignals {
        static let zoo = [
            Animal(name: "loud", answers: ["shout", "echo"]),
            Animal(name: "quiet", answers: ["letters"]),
        ]

        /// A kernel in the foreground of a terminal.
        private func with(
            before: String = "", _ body: (Instance, Tmux, Int32) throws -> Void
        ) throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let terminal = try Tmux(instance)
            defer { terminal.end() }
            // Its lines are wider than the screen; the file tells what they say.
            try terminal.type("clear; \(before)\(instance.foreground); echo code=$?")
            try terminal.press("Enter")
            try terminal.wait(for: "the kernel") { $0.contains("ready pid=") }
            let shell = Int32(try terminal.ask("#{pane_pid}")) ?? 0
            let kernel = try #require(Proc.all.first { $0.parent == shell }?.pid)
            try body(instance, terminal, kernel)
        }

        @Test func `the first Ctrl-C stops in order, and devices do not see it`() throws {
            try with { instance, terminal, _ in
                let processes = try instance.devices().map(\.pid)
                try terminal.press("C-c")
                let screen = try terminal.wait(for: "the end") { $0.contains("code=") }
                #expect(screen.contains("code=0"), "\(screen.text)")
                #expect(screen.contains("second Ctrl-C"), "\(screen.text)")
                #expect(Proc.survivors(of: processes) == [])
                #expect(instance.ends(of: "loud") == ["stop (exit 0)"])
                #expect(instance.ends(of: "quiet") == ["stop (exit 0)"])
            }
        }

        @Test func `a kernel whose terminal closes ends in order`() throws {
            try with { instance, terminal, kernel in
                let processes = try instance.devices().map(\.pid) + [kernel]
                #expect(processes.count == 3)
                terminal.end()
                #expect(Proc.survivors(of: processes) == [])
                #expect(instance.ends(of: "loud") == ["stop (exit 0)"])
                #expect(instance.ends(of: "quiet") == ["stop (exit 0)"])
                #expect(access(instance.socket, F_OK) != 0)
            }
        }

        @Test func `a kernel that ignores the hangup outlives its terminal and rests`() throws {
            try with(before: "trap '' HUP; ") { instance, terminal, kernel in
                terminal.end()
                // Every line of it goes to a terminal that is gone.
                let shout = try instance.run("call", "Zoo.shout", "100000")
                #expect(shout.succeeded)
                #expect(try instance.run("kill", "quiet").succeeded)
                #expect(try instance.run("call", "Zoo.letters", "2").out == "\"zz\"\n")
                let before = Proc.switches(kernel)
                usleep(2_000_000)
                #expect(Proc.switches(kernel) - before < 20, "it turns without end")
                #expect(try instance.run("down").succeeded)
                #expect(Proc.survivors(of: [kernel]) == [])
            }
        }

        @Test func `a detached kernel does not care about the terminal that started it`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let terminal = try Tmux(instance)
            defer { terminal.end() }
            let words = ([Programs.shell] + instance.upWords).joined(separator: " ")
            try terminal.type("clear; \(words); echo code=$?")
            try terminal.press("Enter")
            try terminal.wait(for: "the kernel") { $0.contains("code=0") }
            try terminal.press("C-c")
            let before = try instance.devices()
            terminal.end()
            #expect(try instance.run("call", "Zoo.shout", "100000").succeeded)
            #expect(try instance.devices() == before)
            #expect(try instance.run("down").succeeded)
        }

        @Test func `after Ctrl-Z and fg nothing was killed and calls go on`() throws {
            try with { instance, terminal, kernel in
                let before = try instance.devices()
                try terminal.press("C-z")
                try Wait.until("it stands") { Proc.status(kernel)?.state == "T" }
                // Longer than a call's attempt, and than a loop that does not turn is shown late.
                let waiting = try instance.start(["call", "Zoo.letters", "2"])
                usleep(4_000_000)
                try terminal.type("fg")
                try terminal.press("Enter")
                #expect(try waiting.finish().out == "\"zz\"\n")
                #expect(try instance.devices() == before)
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").succeeded)
                #expect(Proc.isAlive(kernel))
            }
        }

        @Test func `a terminal that stands still does not hold the kernel up`() throws {
            try with { instance, terminal, _ in
                try terminal.press("C-s")
                // Many times what the terminal takes before somebody would have to wait.
                for _ in 0..<4 {
                    #expect(
                        try instance.run("call", "Zoo.shout", "300000").succeeded)
                }
                #expect(try instance.run("call", "Zoo.letters", "2").out == "\"zz\"\n")
                #expect(try instance.devices().allSatisfy { $0.restarts == 0 })
                try terminal.press("C-q")
                try terminal.press("C-c")
                try terminal.wait(for: "the end") { $0.contains("code=0") }
            }
        }
    }
}

extension Proc {
    /// How often a process went to wait.
    static func switches(_ pid: Int32) -> Int {
        let line = Files.text("/proc/\(pid)/status").split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
