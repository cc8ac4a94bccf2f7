import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Verbs that wait until it is so.
    @Suite struct Operators {
        static let zoo = [Animal(name: "zoo", answers: ["echo"])]

        @Test func `stop, start and restart return when it is so`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                for round in 0..<3 {
                    let first = Int64(round * 2 + 1)
                    let before = try instance.device("zoo")
                    #expect(before.incarnation == first)
                    #expect(try instance.run("restart", "zoo").succeeded)
                    let after = try instance.device("zoo")
                    #expect((after.state, after.incarnation) == ("ready", first + 1))
                    #expect(!Proc.isAlive(before.pid))
                    let stop = try instance.json("stop", "zoo")
                    #expect(stop["state"] == "stopped")
                    #expect(stop["pid"]?.isNull == true)
                    #expect(try instance.device("zoo").state == "stopped")
                    #expect(!Proc.isAlive(after.pid))
                    let start = try instance.json("start", "zoo")
                    #expect(start["state"] == "ready")
                    #expect(start["incarnation"]?.int == first + 2)
                    #expect(try instance.device("zoo").pid == Int32(start["pid"]?.int ?? 0))
                    // Once more changes nothing and does not wait.
                    #expect(try instance.run("start", "zoo").succeeded)
                    #expect(try instance.device("zoo").incarnation == first + 2)
                }
            }
        }

        @Test func `the kernel says what it is and where its files are`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let host = try instance.json("buffer", "Kernel.Host")["value"] ?? .null
                let members = [
                    "pid", "build", "wire", "instance", "socket", "data", "logs", "devices",
                    "startedAt", "descriptors", "manifests", "limits",
                ]
                #expect(host.map.map { Set($0.keys) } == Set(members))
                #expect(host["pid"]?.int == Int64(instance.kernel))
                #expect(host["build"]?.text == Program.build)
                #expect(host["wire"]?.int == Int64(Program.wire))
                #expect(host["instance"] == "main")
                #expect(host["socket"]?.text == instance.socket)
                #expect(host["data"]?.text == instance.data)
                #expect(host["logs"]?.text == "\(instance.data)/log")
                #expect(host["devices"]?.text == "\(instance.folder)/devices")
                #expect(host["startedAt"]?.date != nil)
                let files = (host["manifests"]?.array ?? []).compactMap { $0["file"]?.text }
                #expect(files.count == Self.zoo.count)
                #expect(files.contains("\(instance.folder)/devices/zoo/device.json"), "\(files)")
                let descriptors = host["descriptors"] ?? .null
                #expect((descriptors["soft"]?.int ?? 0) > 0)
                #expect((descriptors["hard"]?.int ?? 0) >= (descriptors["soft"]?.int ?? 0))
            }
        }

        @Test func `a device that does not come back is told with its reason`() throws {
            let wall = "/tmp/ce-operator-\(getpid())"
            Files.remove(wall)
            defer { Files.remove(wall) }
            let zoo = [Animal(name: "fragile", answers: ["echo"], behaviour: ["fragile", wall])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                try Files.write("", to: wall)
                let restart = try instance.run("restart", "fragile")
                #expect(restart.status == 69)
                #expect(restart.out == "")
                for part in ["fragile is failed", "exit 3", "concentric log fragile"] {
                    #expect(restart.err.contains(part), "\(restart.err)")
                }
                unlink(wall)
                #expect(try instance.run("start", "fragile").succeeded)
                #expect(try instance.run("call", "Zoo.echo", "\"x\"").out == "\"x\"\n")
            }
        }

        @Test func `who waits for a device gives up after its times`() throws {
            // Its next processes never say hello. It is failed after five starts, far later than
            // anybody waits.
            let zoo = [
                Animal(
                    name: "zoo", answers: ["echo"], behaviour: ["wild", "mute"],
                    more: [
                        "startSeconds": 8, "drainSeconds": .double(0.1),
                        "termSeconds": .double(0.1),
                    ])
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                try Files.write("", to: "\(instance.data)/zoo.wild")
                let restart = try instance.run("restart", "zoo")
                #expect(restart.status == 69)
                #expect(restart.err.contains("zoo is still "), "\(restart.err)")
            }
        }

        @Test func `the end of the kernel ends the waiting`() throws {
            let zoo = [
                Animal(
                    name: "stubborn", answers: ["gate"], behaviour: ["stubborn"],
                    more: ["drainSeconds": 60])
            ]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let gate = "\(instance.folder)/gate"
                let call = try instance.start(["call", "Zoo.gate", "\"\(gate)\""])
                try Wait.until("the visit") { access(gate, F_OK) == 0 }
                let stop = try instance.start(["stop", "stubborn"])
                let watch = try Watch(instance, "Kernel.Devices")
                _ = try watch.device("stubborn") { $0.state == "draining" }
                kill(instance.kernel, SIGKILL)
                let outcome = try stop.finish()
                #expect(outcome.status == 69)
                #expect(outcome.err.contains("kernelLost"), "\(outcome.err)")
                _ = try call.finish()
            }
        }
    }
}
