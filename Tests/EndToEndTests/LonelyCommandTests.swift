import CLinux
import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Commands whose other side is not there, stands still, or goes away.
    @Suite struct LonelyCommands {
        static let zoo = [Animal(name: "zoo", answers: ["echo"])]

        @Test func `up does not wait for ever for a kernel that is stopped`() throws {
            let stopper = Animal(
                name: "stopper", executable: "stopper", more: ["startSeconds": .int(5)])
            let instance = try Instance(zoo: [stopper], reference: false)
            defer { instance.end() }
            let script = "\(instance.folder)/devices/stopper/stopper"
            try Files.write("#!/bin/sh\nkill -STOP $PPID\nexec sleep 1000\n", to: script)
            chmod(script, 0o755)
            let outcome = try instance.start(instance.upWords).finish()
            #expect(outcome.status == 75, "\(outcome)")
            #expect(outcome.out == "")
            #expect(outcome.err.contains("does not answer (it is stopped): kill -CONT "))
            // It names the kernel, which is there still.
            let word = outcome.err.split(separator: " ").first { Int32($0) != nil }
            let kernel = try #require(word.flatMap { Int32($0) })
            #expect(Proc.status(kernel)?.state == "T", "\(outcome)")
        }

        @Test func `a command that streams ends with who reads it, though nothing comes`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let commands = [
                    ["log", "-f", "zoo", "--lines", "1"], ["buffer", "Kernel.Host", "--watch"],
                ]
                kill(try instance.device("zoo").pid, SIGKILL)
                try Wait.until("there is a line") { !instance.ends(of: "zoo").isEmpty }
                for words in commands {
                    var ends: [Int32] = [0, 0]
                    guard clx_pipe(&ends, 0) == 0 else { throw Failure("no pipe") }
                    let command = try instance.start(words, output: ends[1])
                    close(ends[1])
                    let hasSpoken = Wait.readable(ends[0], until: Clock.now + Wait.patience)
                    var block = [UInt8](repeating: 0, count: 64 << 10)
                    #expect(hasSpoken && read(ends[0], &block, block.count) > 0, "\(words)")
                    #expect(Proc.isAlive(command.pid))
                    close(ends[0])
                    let outcome = try command.finish()
                    #expect(outcome.status == 0, "\(words): \(outcome)")
                    #expect(outcome.err == "", "\(words)")
                }
            }
        }

        @Test func `a command without a kernel says once how to start that one`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let other = try instance.run("ps", "--name", "other")
            #expect(other.status == 69)
            let advice = ": start it with `concentric up --name other` (nobody answers"
            #expect(other.err.contains(advice), "\(other.err)")
            #expect(!other.err.contains("start the instance"), "\(other.err)")
            let main = try instance.run("ps")
            #expect(
                main.err.contains(": start it with `concentric up` (nobody answers"), "\(main.err)")
            let down = try instance.run("down", "--name", "other")
            #expect(down.status == 69)
            #expect(
                down.err == "concentric: down: unavailable: no kernel named other runs: there is "
                    + "nothing to end\n")
            // What is wrong with the name is not mended by a start.
            let name = try instance.run("ps", "--name", "a b")
            #expect(name.status == 64)
            #expect(!name.err.contains("start it with"), "\(name.err)")
        }

        @Test func `a kernel that goes away is told in words`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let lines = try Lines(instance, "buffer", "Kernel.Devices", "--watch")
                try lines.next("the first value") { $0.contains("\"zoo\"") }
                kill(instance.kernel, SIGKILL)
                let outcome = try lines.command.finish()
                #expect(outcome.status == 69)
                #expect(outcome.err.contains("the kernel went away or cut this connection"))
                #expect(outcome.err.contains("`concentric log kernel`"), "\(outcome.err)")
                for raw in ["eof", "error("] { #expect(!outcome.err.contains(raw)) }
            }
        }
    }
}
