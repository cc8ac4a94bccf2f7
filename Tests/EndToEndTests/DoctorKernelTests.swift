import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// `doctor`, of a kernel that runs: what it must not advise, and what has changed since.
    @Suite struct DoctorsOfKernels {
        static let zoo = [
            Animal(name: "zoo", answers: ["echo"]), Animal(name: "other", answers: ["trap"]),
        ]

        @Test func `the devices of another kernel are left alone, and its lock names it`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let outcome = try instance.run(
                    "doctor", "--name", "stranger", "--data", instance.data, "--devices",
                    "\(instance.folder)/devices")
                #expect(outcome.status == 69)
                #expect(!outcome.out.contains("has no kernel"), "\(outcome.out)")
                #expect(!outcome.out.contains("kill"), "\(outcome.out)")
                #expect(
                    outcome.out.contains(
                        "is held by the kernel main (process \(instance.kernel)): choose another "
                            + "--data, or `concentric down --name main`"), "\(outcome.out)")
                // Not even while that kernel's lock is away.
                kill(instance.kernel, SIGSTOP)
                defer { kill(instance.kernel, SIGCONT) }
                unlink("\(instance.data)/kernel.lock")
                let unlocked = try instance.run(
                    "doctor", "--name", "stranger", "--data", instance.data, "--devices",
                    "\(instance.folder)/devices")
                #expect(!unlocked.out.contains("has no kernel"), "\(unlocked.out)")
            }
        }

        @Test func `a manifest that has changed, is gone or is new is told`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let devices = "\(instance.folder)/devices"
                let file = "\(devices)/zoo/device.json"
                let text = Files.text(file)
                func told() throws -> [String] {
                    let outcome = try instance.run("doctor")
                    #expect(outcome.succeeded, "\(outcome)")
                    return outcome.out.split(separator: "\n").map(String.init).filter {
                        $0.hasPrefix("warn") && $0.contains("manifest")
                    }
                }
                #expect(try told() == [])
                try Files.write(text + "\n", to: file)
                let changed = try told()
                #expect(changed.count == 1, "\(changed)")
                #expect(
                    changed.first?.contains("zoo runs by a manifest (\(file)) that has changed")
                        == true, "\(changed)")
                #expect(changed.first?.contains("`concentric down`, then") == true, "\(changed)")
                // Who writes the same again has changed nothing.
                try Files.write(text, to: file)
                #expect(try told() == [])
                rename("\(devices)/other", "\(instance.folder)/away")
                let gone = try told()
                #expect(gone.count == 1, "\(gone)")
                #expect(gone.first?.contains("other/device.json) that is gone") == true, "\(gone)")
                rename("\(instance.folder)/away", "\(devices)/other")
                mkdir("\(devices)/late", 0o700)
                try Files.write(
                    Animal(name: "late").manifest, to: "\(devices)/late/device.json")
                let new = try told()
                #expect(new.count == 1, "\(new)")
                #expect(new.first?.contains("before late had a manifest") == true, "\(new)")
            }
        }

        @Test func `too few open files fail with the number that up needs`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            func run(_ words: [String], files: Int) throws -> Outcome {
                let line = ([Programs.shell] + words).joined(separator: " ")
                return try instance.start(
                    program: "/bin/sh", ["-c", "ulimit -n \(files); exec \(line)"]
                ).finish()
            }
            let doctor = ["doctor", "--devices", "\(instance.folder)/devices"]
            let few = try run(doctor, files: 80)
            #expect(few.status == 69)
            let advice = few.out.split(separator: "\n").first { $0.contains("ulimit -Hn ") } ?? ""
            let word = advice.split(separator: "`").first { $0.hasPrefix("ulimit -Hn ") } ?? ""
            let need = try #require(Int(word.dropFirst("ulimit -Hn ".count)), "\(few.out)")
            // It is the least with which the kernel starts.
            #expect(try run(doctor, files: need).succeeded)
            let less = try run(instance.upWords, files: need - 1)
            #expect(less.status == 69)
            #expect(less.err.contains("need \(need)"), "\(less.err)")
            let up = try run(instance.upWords, files: need)
            #expect(up.succeeded, "\(up)")
        }
    }
}
