import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// `doctor`, with all that may be wrong.
    @Suite struct Doctors {
        struct Row {
            var section: String
            var level: String
            var what: String
            var advice: String?
        }

        static let zoo = [
            Animal(name: "zoo", answers: ["echo"]), Animal(name: "other", answers: ["trap"]),
        ]

        private func look(
            _ instance: Instance, _ words: String..., variables: [String: String] = [:],
            status: Int32? = nil
        ) throws -> [Row] {
            let outcome = try instance.start(
                ["doctor", "--json"] + words, variables: variables
            ).finish()
            let rows = try (Value.parse(json: outcome.out).array ?? []).map { value in
                guard let section = value["section"]?.text, let level = value["level"]?.text,
                    let what = value["what"]?.text
                else { throw Failure("not a finding: \(value.json())") }
                return Row(
                    section: section, level: level, what: what, advice: value["advice"]?.text)
            }
            let fails = rows.filter { $0.level == "fail" }
            #expect(outcome.status == (fails.isEmpty ? 0 : 69), "\(outcome)")
            for row in rows where row.level != "ok" {
                #expect(row.advice?.isEmpty == false, "\(row)")
            }
            return rows
        }

        private func bad(_ rows: [Row]) -> [String] {
            rows.filter { $0.level == "fail" }.map { "\($0.section): \($0.what)" }
        }

        @Test func `a variable that the kernel reads is known, and another one is not`() throws {
            let instance = try Instance(reference: false)
            defer { instance.end() }
            let rows = try look(
                instance,
                variables: [
                    "CONCENTRIC_PATIENCE": "50", "CONCENTRIC_UNREAD": "64",
                    "CONCENTRIC_UNRAED": "1",
                ])
            #expect(
                rows.filter { $0.what.contains("means nothing") }.map(\.what)
                    == ["CONCENTRIC_UNRAED means nothing to this build"])
        }

        @Test func `with a kernel that is well nothing fails`() throws {
            try Instance.with { instance in
                let rows = try look(instance)
                #expect(bad(rows) == [])
                #expect(
                    Set(rows.map(\.section)) == [
                        "environment", "system", "limits", "paths", "devices", "grants", "versions",
                        "leftovers",
                    ])
                for part in [
                    "(process \(instance.kernel))", "compute is ready, build ", "library.db",
                    "every grant is met", "the data is held by the kernel",
                    "the socket is held by the kernel", "\(instance.data)",
                ] {
                    #expect(rows.contains { $0.what.contains(part) }, "\(part)")
                }
                let text = try instance.run("doctor")
                #expect(text.succeeded)
                #expect(text.out.split(separator: "\n").count == rows.count + 1)
                #expect(!text.out.contains("\u{1B}"))
            }
        }

        @Test func `without a kernel it says so, and nothing fails`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let rows = try look(instance)
            #expect(bad(rows) == [])
            #expect(rows.contains { $0.what == "no kernel of this name runs" })
            #expect(rows.contains { $0.what == "nothing is left of an earlier kernel" })
            // It makes nothing.
            #expect(access("\(instance.folder)/concentric", F_OK) != 0)
            #expect(access("\(instance.folder)/.local", F_OK) != 0)
        }

        @Test func `a kernel that is stopped is told, and not waited for`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                kill(instance.kernel, SIGSTOP)
                defer { kill(instance.kernel, SIGCONT) }
                let rows = try look(instance)
                #expect(
                    bad(rows) == [
                        "versions: the kernel (process \(instance.kernel)) does not answer "
                            + "(it is stopped)"
                    ])
                #expect(rows.contains { $0.what.contains("data is kept in \(instance.data)") })
            }
        }

        @Test func `a kernel that is stopped and has no room for one more is named`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                kill(instance.kernel, SIGSTOP)
                defer { kill(instance.kernel, SIGCONT) }
                var strangers: [Stranger] = []
                while let stranger = try? Stranger(instance, waits: false) {
                    strangers.append(stranger)
                    try #require(strangers.count < 5_000)
                }
                let rows = try look(instance)
                withExtendedLifetime(strangers) {}
                #expect(
                    bad(rows) == [
                        "versions: the kernel (process \(instance.kernel)) does not answer "
                            + "(it is stopped)"
                    ])
                let advice = rows.compactMap(\.advice)
                #expect(advice.contains { $0.contains("kill -CONT \(instance.kernel),") })
                #expect(!rows.contains { $0.what.contains("has no kernel") }, "\(rows)")
            }
        }

        @Test func `a kernel that lets nobody in is left alone with its devices`() throws {
            let instance = try Instance(zoo: Self.zoo, reference: false)
            defer { instance.end() }
            let words = ([Programs.shell] + instance.upWords).joined(separator: " ")
            let up = try instance.start(
                program: "/bin/sh", ["-c", "ulimit -n 192; exec \(words)"]
            ).finish()
            #expect(up.succeeded, "\(up)")
            let kernel = try #require(Ready(up.out)).pid
            var strangers: [Stranger] = []
            try Wait.until("the kernel is full") {
                strangers += (0..<8).compactMap { _ in try? Stranger(instance, waits: false) }
                return instance.kernelLog.contains("a client was turned away")
            }
            let rows = try look(instance, "--data", instance.data)
            withExtendedLifetime(strangers) {}
            let found = bad(rows)
            #expect(found.count == 1, "\(found)")
            #expect(found.first?.contains("the kernel (process \(kernel)) does not tell") == true)
            #expect(rows.allSatisfy { $0.advice?.contains("kill") != true }, "\(rows)")
            #expect(rows.contains { $0.what.contains("the data is held by the kernel") })
        }

        @Test func `a device that has failed is told with its reason`() throws {
            let wall = "/tmp/ce-doctor-\(getpid())"
            Files.remove(wall)
            defer { Files.remove(wall) }
            let zoo = [Animal(name: "fragile", answers: ["echo"], behaviour: ["fragile", wall])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                try Files.write("", to: wall)
                #expect(try instance.run("restart", "fragile").status == 69)
                let rows = try look(instance)
                #expect(bad(rows) == ["versions: fragile is failed (exit 3)"])
                #expect(rows.last { $0.level == "fail" }?.advice?.contains("log fragile") == true)
            }
        }

        @Test func `a manifest that is wrong, a program that is not there and a call of nobody`()
            throws
        {
            let zoo =
                Self.zoo + [
                    Animal(name: "ghost", executable: "/nowhere/ghost"),
                    Animal(name: "text", executable: "/etc/passwd"),
                    Animal(
                        name: "lonely", more: ["calls": ["Nobody.home"], "writes": ["Nothing"]]),
                ]
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            let devices = "\(instance.folder)/devices"
            mkdir("\(devices)/wrong", 0o700)
            try Files.write(
                "{\"name\": \"wrong\", \"nmae\": 1}", to: "\(devices)/wrong/device.json")
            let rows = try look(instance, "--devices", devices)
            let found = bad(rows)
            #expect(found.count == 5, "\(found)")
            for part in [
                "wrong/device.json: the manifest has no “nmae”", "/nowhere/ghost: No such file",
                "/etc/passwd may not be executed", "lonely calls Nobody.home",
                "lonely writes Nothing",
            ] {
                #expect(found.contains { $0.contains(part) }, "\(part) in \(found)")
            }
        }

        @Test func `variables and folders that cannot serve are named`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let file = "\(instance.folder)/file"
            try Files.write("", to: file)
            let long = "/tmp/" + String(repeating: "l", count: 100)
            let open = "\(instance.folder)/open"
            mkdir(open, 0o700)
            mkdir("\(open)/concentric", 0o700)
            chmod("\(open)/concentric", 0o755)
            let cases: [(variables: [String: String], says: String)] = [
                (["XDG_RUNTIME_DIR": "/no/where"], "XDG_RUNTIME_DIR=/no/where is no folder"),
                (["XDG_RUNTIME_DIR": long], "is over the limit of 107"),
                (["XDG_RUNTIME_DIR": open], "\(open)/concentric is open to others (0755)"),
                (["CONCENTRIC_DEVICES": file], "CONCENTRIC_DEVICES=\(file) is no folder"),
                (["CONCENTRIC_NAME": "a b"], "is no name for an instance"),
                (["XDG_DATA_HOME": file], "\(file)/concentric/main cannot be made"),
            ]
            for item in cases {
                let found = bad(try look(instance, variables: item.variables))
                #expect(found.contains { $0.contains(item.says) }, "\(item.says) in \(found)")
            }
            let data = bad(try look(instance, "--data", file))
            #expect(data.contains { $0.contains("\(file) is no folder") }, "\(data)")
            let warned = try look(instance, variables: ["CONCENTRIC_NMAE": "x"])
            #expect(warned.contains { $0.level == "warn" && $0.what.contains("CONCENTRIC_NMAE") })
        }

        @Test func `what a dead kernel has left is named`() throws {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let processes = Proc.using(instance.folder)
                kill(instance.kernel, SIGKILL)
                #expect(Proc.survivors(of: processes) == [])
                // One that left the group and outlived its device.
                let helper = try instance.start(
                    program: "/bin/sleep", ["1000"],
                    variables: ["CONCENTRIC_DATA": instance.data, "CONCENTRIC_DEVICE": "zoo"])
                defer { helper.send(SIGKILL) }
                let holder = try instance.start(
                    program: "/usr/bin/flock",
                    ["-F", "\(instance.data)/kernel.lock", "sleep", "1000"])
                defer { holder.send(SIGKILL) }
                try Wait.until("the lock") {
                    Files.text("/proc/locks").contains("FLOCK  ADVISORY  WRITE \(holder.pid) ")
                }
                let rows = try look(instance, "--data", instance.data)
                let left = rows.filter { $0.section == "leftovers" }.map {
                    "\($0.level) \($0.what)"
                }
                #expect(left.count == 3, "\(left)")
                for part in [
                    "ok \(instance.socket) is left of a kernel that is gone; the next "
                        + "`concentric up` removes it",
                    "warn process \(helper.pid) of zoo has no kernel",
                    "fail the lock of the data (\(instance.data)/kernel.lock) is held by process "
                        + "\(holder.pid) (sleep)",
                ] {
                    #expect(left.contains(part), "\(part) in \(left)")
                }
            }
        }
    }
}
