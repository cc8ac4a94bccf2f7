import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The place of the socket: what is taken from it, and what stands in the way.
    @Suite struct Sockets {
        static let zoo = [
            Animal(name: "one", answers: ["echo"]), Animal(name: "two", answers: ["letters"]),
        ]

        static let removals: [(what: String, script: String)] = [
            ("the socket", "rm main.sock"), ("the socket, moved", "mv main.sock away"),
            ("the lock", "rm main.lock"), ("both", "rm main.sock main.lock"),
            ("both, the lock first", "rm main.lock; rm main.sock"),
            ("the folder", "rm -rf ../concentric || :"),
            ("the folder, moved", "mv ../concentric ../x"),
            ("all files, as a cleaner does", "find . -mindepth 1 -delete || :"),
        ]

        @Test func `whatever is removed, the same kernel is found again and ends by down`() throws {
            for (what, script) in Self.removals {
                try Instance.with(zoo: Self.zoo, reference: false) { instance in
                    let watch = try Watch(instance, "Kernel.Devices")
                    let before = try instance.devices()
                    let removal = try instance.start(
                        program: "/bin/sh", ["-c", "cd \(instance.folder)/concentric; \(script)"])
                    #expect(try removal.finish().succeeded, "\(what)")
                    try Wait.until("\(what) is back") {
                        access(instance.socket, F_OK) == 0
                            && access("\(instance.folder)/concentric/main.lock", F_OK) == 0
                    }
                    #expect(try instance.devices() == before, "\(what)")
                    // Another kernel does not get in, with data of its own neither.
                    for more in [[], ["--data", "\(instance.folder)/other"]] {
                        let second = try instance.start(instance.upWords + more).finish()
                        #expect(second.status == 69, "\(what): \(second)")
                        #expect(second.err.contains("\(instance.kernel)"), "\(what): \(second)")
                    }
                    // Who was connected goes on.
                    #expect(try instance.run("kill", "one").succeeded)
                    _ = try watch.device("one") { $0.state == "ready" && $0.restarts == 1 }
                    let said = instance.kernelLog.split(separator: "\n")
                        .filter { $0.contains("stands again") }
                    // Who removes a folder may meet what is put back into it meanwhile.
                    let times = what == "the lock" ? 0...0 : 1...3
                    #expect(times.contains(said.count), "\(what): \(said)")
                    #expect(try instance.run("down").succeeded, "\(what)")
                    #expect(Proc.survivors(of: [instance.kernel]) == [])
                    #expect(access(instance.socket, F_OK) != 0, "\(what)")
                }
            }
        }

        @Test func `what stands in the socket's place is said once, and the kernel rests`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let file = "\(instance.folder)/file"
                try Files.write("mine", to: file)
                rename(file, instance.socket)
                try Wait.until("it is said") { instance.kernelLog.contains("a regular file") }
                // Its few tries take 2.6 s.
                usleep(3_000_000)
                let before = Proc.switches(instance.kernel)
                usleep(2_000_000)
                #expect(Proc.switches(instance.kernel) - before < 20)
                #expect(Files.text(instance.socket) == "mine")
                #expect(try instance.run("ps").status == 69)
                unlink(instance.socket)
                try Wait.until("it is back") { access(instance.socket, F_OK) == 0 }
                #expect(try instance.devices().count == 2)
                let said = instance.kernelLog.split(separator: "\n")
                    .count { $0.contains("do not find this kernel") }
                #expect(said == 1, "\(instance.kernelLog)")
            }
        }

        @Test func `two kernels never serve one name at a time`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let other = "\(instance.folder)/other"
                let words = instance.upWords + ["--data", other]
                let socket = instance.socket
                let lock = "\(instance.folder)/concentric/main.lock"
                kill(instance.kernel, SIGSTOP)
                unlink(socket)
                unlink(lock)
                // It cannot look now. The same data keeps another out all the same.
                let same = try instance.start(instance.upWords).finish()
                #expect(same.status == 69)
                #expect(same.err.contains(instance.data), "\(same.err)")
                let outcome = try instance.start(words).finish()
                let second = try #require(Ready(outcome.out)?.pid, "\(outcome)")
                kill(instance.kernel, SIGCONT)
                try Wait.until("it says so") { instance.kernelLog.contains("process \(second)") }
                #expect(
                    try instance.devices().allSatisfy {
                        Proc.status($0.pid)?.parent == second
                    })
                #expect(Proc.isAlive(instance.kernel))
                #expect(try instance.run("down").succeeded)
                #expect(Proc.survivors(of: [second]) == [])
                try Wait.until("the first is back") { access(socket, F_OK) == 0 }
                #expect(
                    try instance.devices().allSatisfy {
                        Proc.status($0.pid)?.parent == instance.kernel
                    })
            }
        }

        static let starts: [(what: String, script: String)] = [
            ("nothing", ":"), ("a stale socket", "STALE"),
            ("an old lock file", "echo 1 > main.lock"),
            ("both", "STALE; echo 99999 > main.lock"),
        ]

        @Test func `of several ups at once exactly one wins, whatever a dead kernel left`() throws {
            for (what, script) in Self.starts {
                let instance = try Instance(zoo: Self.zoo, reference: false)
                defer { instance.end() }
                mkdir("\(instance.folder)/concentric", 0o700)
                if script.contains("STALE") { close(try bindSocket(instance.socket)) }
                let rest = script.replacing("STALE", with: ":")
                let made = try instance.start(
                    program: "/bin/sh", ["-c", "cd \(instance.folder)/concentric; \(rest)"])
                #expect(try made.finish().succeeded)
                let ups = try (0..<4).map { _ in try instance.start(instance.upWords) }
                let outcomes = try ups.map { try $0.finish() }
                let winners = outcomes.compactMap { Ready($0.out)?.pid }
                #expect(winners.count == 1, "\(what): \(outcomes)")
                for outcome in outcomes where !outcome.succeeded {
                    #expect(outcome.status == 69)
                    #expect(outcome.err.contains("\(winners.first ?? 0)"), "\(what): \(outcome)")
                }
                #expect(try instance.devices().allSatisfy { $0.state == "ready" })
                #expect(try instance.run("down").succeeded)
            }
        }

        struct Obstacle {
            var what: String
            /// Run in the folder that holds `concentric`.
            var script: String
            var words: [String]
            var needsRoot = false
        }

        static let obstacles = [
            Obstacle(
                what: "a file at the socket", script: "echo > concentric/main.sock",
                words: ["a regular file", "main.sock"]),
            Obstacle(
                what: "a link at the socket", script: "ln -s /tmp concentric/main.sock",
                words: ["a symbolic link", "main.sock"]),
            Obstacle(
                what: "a folder at the socket", script: "mkdir concentric/main.sock",
                words: ["a directory", "main.sock"]),
            Obstacle(
                what: "a pipe at the socket", script: "mkfifo concentric/main.sock",
                words: ["a pipe", "main.sock"]),
            Obstacle(
                what: "a link at the lock", script: "ln -s /tmp/none concentric/main.lock",
                words: ["a symbolic link", "main.lock"]),
            Obstacle(
                what: "a folder at the lock", script: "mkdir concentric/main.lock",
                words: ["a directory", "main.lock"]),
            Obstacle(
                what: "a file as the folder", script: "rmdir concentric; echo > concentric",
                words: ["a regular file", "/concentric"]),
            Obstacle(
                what: "a link as the folder",
                script: "mv concentric real; ln -s real concentric",
                words: ["a symbolic link", "/concentric"]),
            Obstacle(
                what: "a folder that is open to others", script: "chmod 755 concentric",
                words: ["0755", "chmod 700", "/concentric"]),
            Obstacle(
                what: "a folder that others may write", script: "chmod 730 concentric",
                words: ["0730", "chmod 700"]),
            Obstacle(
                what: "a folder of somebody else", script: "chown 65534 concentric",
                words: ["user 65534", "XDG_RUNTIME_DIR"], needsRoot: true),
        ]

        @Test func `up names what stands in the way of its socket and leaves it alone`() throws {
            for obstacle in Self.obstacles {
                if obstacle.needsRoot, geteuid() != 0 {
                    print("skipped without root: \(obstacle.what)")
                    continue
                }
                let instance = try Instance(zoo: Self.zoo, reference: false)
                defer { instance.end() }
                mkdir("\(instance.folder)/concentric", 0o700)
                let made = try instance.start(
                    program: "/bin/sh", ["-c", "cd \(instance.folder); \(obstacle.script)"])
                #expect(try made.finish().succeeded, "\(obstacle.what)")
                let listing = {
                    try instance.start(
                        program: "/bin/ls", ["-laR", "\(instance.folder)/concentric"]
                    ).finish().out.split(separator: "\n").filter { !$0.hasSuffix("main.lock") }
                }
                let before = try listing()
                let outcome = try instance.start(instance.upWords).finish()
                #expect(outcome.status == 69, "\(obstacle.what): \(outcome)")
                #expect(outcome.err.split(separator: "\n").count == 1, "\(outcome.err)")
                for word in obstacle.words {
                    #expect(outcome.err.contains(word), "\(obstacle.what): \(outcome.err)")
                }
                #expect(try listing().count >= before.count, "\(obstacle.what)")
                #expect(Proc.using(instance.folder) == [])
            }
        }

        @Test func `a socket that somebody answers is not taken, lock or not`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            mkdir("\(instance.folder)/concentric", 0o700)
            let server = try bindSocket(instance.socket)
            defer { close(server) }
            #expect(listen(server, 8) == 0)
            let outcome = try instance.start(instance.upWords).finish()
            #expect(outcome.status == 69)
            #expect(outcome.err.contains("process \(getpid())"), "\(outcome.err)")
            #expect(access(instance.socket, F_OK) == 0)
        }

        /// A socket that is bound and not listened to.
        private func bindSocket(_ path: String) throws -> Int32 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size)
                }
            }
            guard result == 0 else { throw Failure("no socket at \(path)") }
            return descriptor
        }

        @Test func `a permissive mask opens nothing to others`() throws {
            // A device that does not think of it.
            let maker = Animal(
                name: "maker", answers: ["echo"], executable: "maker",
                more: ["arguments": ["made", "Zoo.echo"]])
            let instance = try Instance(zoo: [maker])
            defer { instance.end() }
            let script = "\(instance.folder)/devices/maker/maker"
            try Files.write(
                """
                #!/bin/sh
                mkdir "$CONCENTRIC_DATA/folder"; echo > "$CONCENTRIC_DATA/folder/$1"; shift
                exec \(Programs.zoo) "$@"
                """, to: script)
            chmod(script, 0o755)
            // A folder that was there before keeps its mode; what is made in it is closed.
            for folder in [instance.data, "\(instance.data)/old"] { mkdir(folder, 0o755) }
            let words = ([Programs.shell] + instance.upWords).joined(separator: " ")
            let up = try instance.start(program: "/bin/sh", ["-c", "umask 0; exec \(words)"])
            #expect(try up.finish().succeeded)
            let payload = Instance.create(
                Instance.id(1), name: "A", photos: try instance.photos())
            #expect(try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
            let found = try instance.start(
                program: "/usr/bin/find",
                [
                    "\(instance.folder)/concentric", instance.data, "-mindepth", "1", "-perm",
                    "/077", "-not", "-name", "old",
                ]
            ).finish().out
            #expect(found == "", "open to others: \(found)")
            let all = try instance.start(
                program: "/usr/bin/find", ["\(instance.folder)/concentric", instance.data]
            ).finish().out
            for name in [
                "main.sock", "main.lock", "kernel.lock", "library.db", "kernel.log", "folder/made",
            ] {
                #expect(all.contains(name), "\(all)")
            }
            var status = stat()
            #expect(stat("\(instance.folder)/concentric", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }

        @Test(.enabled(if: geteuid() == 0, "another user is needed, which takes root"))
        func `another user is not let in, though the files would let him`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                chmod(instance.folder, 0o755)
                chmod("\(instance.folder)/concentric", 0o755)
                chmod(instance.socket, 0o666)
                let stranger = try instance.start(
                    program: "/usr/bin/setpriv",
                    [
                        "--reuid", "65534", "--regid", "65534", "--clear-groups", Programs.shell,
                        "ps",
                    ])
                let outcome = try stranger.finish()
                #expect(outcome.status != 0)
                #expect(outcome.err.contains("user 0, not by 65534"), "\(outcome)")
                try Wait.until("it is said") {
                    instance.kernelLog.contains("user 65534 is not let in")
                }
                #expect(try instance.devices().count == 2)
            }
        }
    }
}
