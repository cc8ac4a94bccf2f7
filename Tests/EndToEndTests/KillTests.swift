import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// SIGKILL from outside, at any moment.
    @Suite struct Kills {
        @Test func `a command right after the kill of any device succeeds`() throws {
            try Instance.with { instance in
                let photos = try instance.photos()
                let rounds = 3
                var made: [String] = []
                for _ in 0..<rounds {
                    for name in ["compute", "circuit", "infrastructure"] {
                        made.append(Instance.id(made.count + 1))
                        let payload = Instance.create(
                            made[made.count - 1], name: name, photos: photos)
                        kill(try instance.device(name).pid, SIGKILL)
                        let outcome = try instance.run("call", "Circuit.Slideshow.create", payload)
                        #expect(outcome.succeeded, "\(outcome.err)")
                        let summary = try Value.parse(json: outcome.out)
                        #expect(summary["slideCount"]?.int == 3)
                    }
                }
                #expect(try instance.storedIDs() == made)
                #expect(try instance.regionIDs().sorted() == made)
                let watch = try Watch(instance, "Kernel.Devices")
                for name in ["compute", "circuit", "infrastructure"] {
                    let row = try watch.device(name) { $0.state == "ready" }
                    #expect(row.restarts == rounds)
                    #expect(row.incarnation == rounds + 1)
                    #expect(row.lastExit == "signal KILL")
                }
                #expect(try instance.json("errors") == [])
            }
        }

        @Test func `the shell's kill is one, too, and takes the name of a signal`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                for (index, signal) in ["KILL", "TERM", "INT", "HUP", "QUIT"].enumerated() {
                    #expect(try instance.run("kill", "compute", "--signal", signal).succeeded)
                    let row = try watch.device("compute") {
                        $0.state == "ready" && $0.restarts == index + 1
                    }
                    #expect(row.lastExit.contains("signal \(signal)"))
                }
            }
        }

        @Test func `many kills in quick succession never make a device fail`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                let kills = 30
                for number in 0..<kills {
                    let row = try watch.device("compute") {
                        $0.pid != 0 && $0.incarnation == number + 1 && $0.state == "ready"
                    }
                    kill(row.pid, SIGKILL)
                }
                let row = try watch.device("compute") {
                    $0.state == "ready" && $0.restarts == kills
                }
                #expect(row.lastExit == "signal KILL")
                #expect(!watch.lines.contains { $0.json().contains("\"failed\"") })
            }
        }

        @Test func `a restart counts, and stop and start do what they say`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                #expect(try instance.run("restart", "compute").succeeded)
                let old = try watch.device("compute") {
                    $0.state == "ready" && $0.restarts == 1
                }
                #expect(try instance.run("stop", "compute").succeeded)
                _ = try watch.device("compute") { $0.state == "stopped" && $0.pid == 0 }
                #expect(!Proc.isAlive(old.pid))
                let call = try instance.run("call", "Compute.Photos.select", "{}")
                #expect(call.status == 69)
                #expect(call.err.contains("unavailable"), "\(call.err)")
                #expect(try instance.run("start", "compute").succeeded)
                _ = try watch.device("compute") { $0.state == "ready" }
            }
        }

        @Test(arguments: [0.15, 0.03])
        func `120 commands of three clients come out once each under kills`(
            every pause: Double
        ) throws {
            try Instance.with { instance in
                let photos = try instance.photos()
                let count = 120
                let region = try Watch(instance, "LibraryState")
                let devices = try Watch(instance, "Kernel.Devices")
                var clients: [Command] = []
                var next = 1
                var victim = 0
                var killed = Clock.now
                // Kills since the last slideshow came. Where a start takes longer than the time
                // between kills nothing would ever be done: after some, it is waited for.
                var (seen, futile) = (0, 0)
                let deadline = Clock.now + Wait.patience
                while seen != count {
                    guard Clock.now < deadline else { throw Failure("only \(region.value as Any)") }
                    // Three clients at once, until every command is on its way.
                    clients.removeAll { client in
                        !Proc.isAlive(client.pid)
                            && (try? client.finish())?.succeeded == true
                    }
                    while clients.count < 3, next <= count {
                        let payload = Instance.create(
                            Instance.id(next), name: "S\(next)", photos: photos)
                        clients.append(
                            try instance.start(["dispatch", "Circuit.Slideshow.create", payload]))
                        next += 1
                    }
                    if Clock.now - killed >= pause, futile < 9 {
                        killed = Clock.now
                        futile += 1
                        try devices.drain()
                        let rows = try (devices.value?.array ?? []).map(DeviceRow.init)
                        if !rows.isEmpty {
                            let pid = rows[victim % rows.count].pid
                            if pid > 0 { kill(pid, SIGKILL) }
                            victim += 1
                        }
                    }
                    try region.next(until: Clock.now + 0.005)
                    let now = region.value.map { Instance.ids(in: $0).count } ?? 0
                    if now != seen { (seen, futile) = (now, 0) }
                }
                for client in clients { #expect(try client.finish().succeeded) }
                let all = (1...count).map(Instance.id)
                #expect(try instance.storedIDs() == all)
                #expect(Instance.ids(in: region.value ?? .null).sorted() == all)
                #expect(try instance.regionIDs().sorted() == all)
                #expect(try instance.json("errors") == [])
                #expect(victim >= 2, "the kills must have hit")
                #expect(try instance.devices().allSatisfy { $0.state != "failed" })
            }
        }

        @Test func `folders of two thousand photos are read whole while devices die`() throws {
            try Instance.with { instance in
                let count = 2_000
                let photos = try instance.photos(count)
                let watch = try Watch(instance, "Kernel.Devices")
                var made: [String] = []
                var client: Command?
                for number in 0..<30 {
                    let name = ["compute", "circuit", "infrastructure"][number % 3]
                    let row = try watch.device(name) { $0.state == "ready" }
                    if let running = client, !Proc.isAlive(running.pid) {
                        #expect(try running.finish().succeeded)
                        client = nil
                    }
                    if client == nil {
                        made.append(Instance.id(made.count + 1))
                        let payload = Instance.create(
                            made[made.count - 1], name: name, photos: photos)
                        client = try instance.start(["call", "Circuit.Slideshow.create", payload])
                    }
                    // Each kill at another moment of the work.
                    usleep(UInt32(number) * 3_000)
                    kill(row.pid, SIGKILL)
                    _ = try watch.device(name) { $0.restarts == row.restarts + 1 }
                }
                let last = try client?.finish()
                #expect(last == nil || last?.succeeded == true, "\(last as Any)")
                #expect(try instance.storedIDs() == made)
                #expect(try instance.regionIDs().sorted() == made)
                for id in made {
                    let stored = try instance.storedPhotos(of: id)
                    #expect(stored == (1...count).map { "\(photos)/\($0).jpg" }, "\(id)")
                }
                #expect(try instance.json("errors") == [])
                for row in try instance.devices() { #expect(row.restarts == 10) }
            }
        }
    }
}
