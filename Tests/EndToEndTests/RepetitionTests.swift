import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The words of the operator, said twice or to who cannot heed them.
    @Suite struct Repetitions {
        @Test func `what is said twice is done once`() throws {
            let zoo = [
                Animal(name: "zoo", answers: ["echo.zoo", "act.zoo"]),
                Animal(name: "steady", answers: ["echo.steady"]),
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                func row(_ state: String, _ restarts: Int64) throws -> DeviceRow {
                    try watch.drain()
                    return try watch.device("zoo") { $0.state == state && $0.restarts == restarts }
                }
                let first = try row("ready", 0)
                // A start of what runs changes nothing.
                #expect(try instance.run("start", "zoo").succeeded)
                #expect(try instance.device("zoo") == first)
                for _ in 1...2 { #expect(try instance.run("stop", "zoo").succeeded) }
                let stopped = try row("stopped", 0)
                #expect(stopped.pid == 0 && stopped.lastExit == "stop (exit 0)")
                let kill = try instance.run("kill", "zoo")
                #expect(kill.status == 69)
                #expect(kill.err.contains("zoo has no process"), "\(kill.err)")
                for _ in 1...2 { #expect(try instance.run("start", "zoo").succeeded) }
                _ = try row("ready", 1)
                // A stop after a crash is a stop.
                #expect(try instance.run("call", "Zoo.act.zoo", "\"exit 3\"").succeeded)
                _ = try row("ready", 2)
                #expect(try instance.run("call", "Zoo.act.zoo", "\"exit 3\"").succeeded)
                _ = try watch.device("zoo") { $0.state == "waiting" }
                #expect(try instance.run("stop", "zoo").succeeded)
                #expect(try row("stopped", 2).lastExit == "exit 3")
                #expect(try instance.run("restart", "zoo").succeeded)
                _ = try row("ready", 3)
                #expect(try instance.run("call", "Zoo.echo.zoo", "\"x\"").out == "\"x\"\n")
                #expect(try instance.device("steady").restarts == 0)
            }
        }
    }
}
