import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The kernel itself is killed.
    @Suite struct KernelDeath {
        /// Seconds that a program takes now which does nothing.
        private static func briefest(_ instance: Instance) throws -> Double {
            let start = Clock.now
            _ = try instance.start(program: "/bin/true", []).finish()
            return Clock.now - start
        }

        @Test func `nothing survives a killed kernel, busy or with helpers`() throws {
            let zoo = [
                Animal(name: "spinner", answers: ["spin"]),
                Animal(name: "parent", answers: ["helpers"]),
                Animal(name: "deaf", answers: ["echo"], behaviour: ["stubborn"]),
            ]
            try Instance.with(zoo: zoo) { instance in
                let photos = try instance.photos()
                for number in 1...3 {
                    let payload = Instance.create(
                        Instance.id(number), name: "S\(number)", photos: photos)
                    #expect(
                        try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                }
                let before = try instance.json("buffer", "LibraryState")["value"]
                let call = try instance.run("call", "Zoo.helpers", "2", "--json")
                let helpers = try Value.parse(json: call.out).array?.compactMap(\.int) ?? []
                #expect(helpers.count == 2)
                #expect(try instance.run("dispatch", "Zoo.spin").succeeded)
                let spinner = try instance.device("spinner").pid
                try Wait.until("it spins") { Proc.status(spinner)?.state == "R" }

                let processes = Proc.using(instance.folder)
                #expect(processes.count == 9)
                #expect(Set(processes).isSuperset(of: helpers.map { Int32($0) }))
                let idle = try Self.briefest(instance)
                let killed = Clock.now
                kill(instance.kernel, SIGKILL)
                #expect(Proc.survivors(of: processes) == [])
                let time = Clock.now - killed
                let busy = try Self.briefest(instance)
                // A second, or as long as a hundred programs that do nothing, one after the other.
                #expect(time < max(1, 100 * max(idle, busy)), "\(time) s")
                #expect(access(instance.socket, F_OK) == 0, "a dead kernel leaves its socket")

                try instance.up()
                let watch = try Watch(instance, "LibraryState")
                try watch.wait(for: "the library as it was") { $0 == before }
                #expect(try instance.storedIDs() == (1...3).map(Instance.id))
            }
        }

        @Test func `the next kernel ends what a killed one left, and nothing else`() throws {
            let zoo = [Animal(name: "far", answers: ["act.far"]), Animal(name: "calm")]
            try Instance.with(zoo: zoo, reference: false) { instance in
                #expect(try instance.run("call", "Zoo.act.far", "\"escape\"").succeeded)
                #expect(try instance.run("call", "Zoo.act.far", "\"daemon\"").succeeded)
                let family = Set(Proc.using(instance.folder)).subtracting([instance.kernel])
                try Wait.until("all of them") { Proc.using(instance.folder).count == 7 }
                let left = Set(Proc.using(instance.folder)).subtracting(family)
                // With these data, but of no device.
                let stranger = try instance.start(
                    program: "/bin/sleep", ["1000"], variables: ["CONCENTRIC_DATA": instance.data])
                defer { stranger.send(SIGKILL) }
                // Of a device with other data.
                let cousin = try instance.start(
                    program: "/bin/sleep", ["1000"],
                    variables: [
                        "CONCENTRIC_DATA": "\(instance.data)2", "CONCENTRIC_DEVICE": "far",
                    ])
                defer { cousin.send(SIGKILL) }
                kill(instance.kernel, SIGKILL)
                #expect(Proc.survivors(of: [instance.kernel]) == [])
                let survivors = Proc.using(instance.folder).filter { $0 != stranger.pid }
                #expect(survivors.count > 1, "else nothing is shown")
                try instance.up()
                #expect(Proc.survivors(of: Array(left), within: 0) == [])
                #expect(Proc.isAlive(stranger.pid) && Proc.isAlive(cousin.pid))
                let log = try instance.run("log", "kernel").out
                #expect(log.contains("which far of a killed kernel left"), "\(log)")
            }
        }

        @Test func `a kernel starts right after the kill of the one before`() throws {
            let instance = try Instance()
            defer { instance.end() }
            try instance.up()
            for _ in 1...10 {
                let old = instance.kernel
                kill(old, SIGKILL)
                try instance.up()
                #expect(instance.kernel != old)
            }
            #expect(try instance.devices().allSatisfy { $0.state == "ready" })
        }

        @Test func `a watch says that the kernel has gone`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "LibraryState")
                try watch.next()
                kill(instance.kernel, SIGKILL)
                let outcome = try watch.command.finish()
                #expect(outcome.status == 69)
                #expect(outcome.err.contains("kernelLost"), "\(outcome.err)")
            }
        }

        @Test func `a call that the kernel takes with it ends at once`() throws {
            let zoo = [Animal(name: "gate", answers: ["gate"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(
                    ["call", "Zoo.gate", Value.text(mark).json()])
                try Wait.until("the visit runs") { access(mark, F_OK) == 0 }
                kill(instance.kernel, SIGKILL)
                let outcome = try call.finish()
                #expect(outcome.status == 69)
                #expect(outcome.err.contains("kernelLost"), "\(outcome.err)")
            }
        }
    }
}
