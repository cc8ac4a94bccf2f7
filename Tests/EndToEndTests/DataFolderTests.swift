import CLinux
import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The folder of the data is one kernel's alone, whatever is removed of it.
    @Suite struct DataFolders {
        static let zoo = [Animal(name: "zoo", answers: ["echo"])]

        /// What a second kernel with the same data says; it must not start.
        private func second(_ instance: Instance) throws -> String {
            let words = instance.upWords + ["--name", "second"]
            let outcome = try instance.start(words).finish()
            #expect(outcome.status == 69, "\(outcome)")
            return outcome.err
        }

        @Test func `a removed lock of the data is put back and lets nobody in meanwhile`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let lock = "\(instance.data)/kernel.lock"
                // Not even while the kernel cannot put it back.
                kill(instance.kernel, SIGSTOP)
                defer { kill(instance.kernel, SIGCONT) }
                unlink(lock)
                let refusal = try second(instance)
                #expect(refusal.contains("keeps its data here"), "\(refusal)")
                kill(instance.kernel, SIGCONT)
                for _ in 0..<3 {
                    unlink(lock)
                    try Wait.until("the lock is put back") {
                        Files.text(lock) == "\(instance.kernel)\n"
                    }
                }
                try Wait.until("it is said") {
                    instance.kernelLog.contains("the lock of the data was removed and stands again")
                }
                let named = try second(instance)
                #expect(named.contains("(process \(instance.kernel)) keeps its data here"))
                #expect(try instance.run("call", "Zoo.echo", "\"on\"").out == "\"on\"\n")
            }
        }

        @Test func `a removed folder of the data is made anew, with its lock and its logs`() throws
        {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                rename(instance.data, "\(instance.folder)/away")
                try Wait.until("the folder is there again") {
                    Files.text("\(instance.data)/kernel.lock") == "\(instance.kernel)\n"
                        && instance.kernelLog.contains("what a device kept there is gone")
                }
                #expect(try second(instance).contains("(process \(instance.kernel)) keeps"))
                kill(try instance.device("zoo").pid, SIGKILL)
                try Wait.until("the logs go on") { instance.ends(of: "zoo") == ["signal KILL"] }
                var status = stat()
                #expect(stat(instance.data, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o700)
                // The number of this start is there again, for the next one is to be larger.
                let epoch = "\(instance.data)/kernel.epoch"
                let number = Files.text("\(instance.folder)/away/kernel.epoch")
                #expect(UInt64(number.prefix { $0 != "\n" }) != nil, "\(number)")
                try Wait.until("the number of the start") { Files.text(epoch) == number }
                for damage in [nil, "17\n"] {
                    unlink(epoch)
                    if let damage {
                        try Files.write(damage, to: "\(epoch).old")
                        rename("\(epoch).old", epoch)
                    }
                    try Wait.until("it is put back") { Files.text(epoch) == number }
                }
            }
        }

        @Test func `who has taken the place of the data meanwhile is left alone and told of`()
            throws
        {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                kill(instance.kernel, SIGSTOP)
                rename(instance.data, "\(instance.folder)/away")
                mkdir(instance.data, 0o700)
                let holder = try instance.start(
                    program: "/usr/bin/flock",
                    ["-F", "\(instance.data)/kernel.lock", "sleep", "1000"])
                defer { holder.send(SIGKILL) }
                try Wait.until("the lock") {
                    Files.text("/proc/locks").contains("FLOCK  ADVISORY  WRITE \(holder.pid) ")
                }
                kill(instance.kernel, SIGCONT)
                let complaint = "the data is not this kernel's alone any more"
                try Wait.until("it is said") { instance.kernelLog.contains(complaint) }
                #expect(try instance.run("call", "Zoo.echo", "\"on\"").out == "\"on\"\n")
                holder.send(SIGKILL)
                _ = try? holder.finish()
                try Files.write("", to: "\(instance.data)/news")
                try Wait.until("the kernel has it back") {
                    Files.text("\(instance.data)/kernel.lock") == "\(instance.kernel)\n"
                }
                #expect(
                    instance.kernelLog.split(separator: "\n").count {
                        $0.contains(complaint)
                    } == 1)
            }
        }

        @Test func `a log that cannot be written is told in the kernel's, and by the doctor`()
            throws
        {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let log = "\(instance.data)/log/zoo.log"
                unlink(log)
                mkdir(log, 0o700)
                kill(try instance.device("zoo").pid, SIGKILL)
                try Wait.until("it is said") {
                    instance.kernelLog.contains("zoo: no log file \(log): Is a directory")
                }
                // Whatever stands there: none of these can be a log.
                let kinds: [(what: String, make: () -> Void)] = [
                    ("a folder", { mkdir(log, 0o700) }), ("a pipe", { mkfifo(log, 0o600) }),
                    ("a link to nothing", { symlink("/nowhere/at/all", log) }),
                    ("a link", { symlink("/etc/passwd", log) }),
                ]
                for kind in kinds {
                    Files.remove(log)
                    kind.make()
                    let outcome = try instance.run("doctor")
                    #expect(outcome.status == 69)
                    #expect(
                        outcome.out.contains(
                            "the log \(log) cannot be written: it is \(kind.what), no plain file"),
                        "\(kind.what): \(outcome.out)")
                }
                Files.remove(log)
                #expect(try instance.run("doctor").succeeded)
            }
        }

        @Test func `a file in the place of the logs is told by up and doctor`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            mkdir(instance.data, 0o700)
            try Files.write("", to: "\(instance.data)/log")
            let up = try instance.start(instance.upWords).finish()
            #expect(up.status == 69)
            #expect(up.err.contains("\(instance.data)/log: cannot be made: File exists"), "\(up)")
            let doctor = try instance.run("doctor", "--data", instance.data)
            #expect(doctor.status == 69)
            #expect(doctor.out.contains("\(instance.data)/log, is a file, no folder"), "\(doctor)")
        }

        @Test func `a folder that cannot be made is told with the reason of the system`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            // A link to nothing is there, and leads to no folder.
            let link = "\(instance.folder)/link"
            symlink("/nowhere/at/all", link)
            let dangling = try instance.run("up", "--data", link)
            #expect(dangling.status == 69)
            #expect(dangling.err.contains("\(link): cannot be made: File exists"), "\(dangling)")
            // Nobody makes folders there, and the path is not there either.
            let system = try instance.run("up", "--data", "/sys/none")
            #expect(system.status == 69)
            #expect(system.err.contains("/sys/none: cannot be made: "), "\(system)")
            #expect(!system.err.contains("No such file"), "\(system)")
        }
    }
}
