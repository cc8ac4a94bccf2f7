import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// What the processes hold: descriptors, memory, time.
    @Suite struct Holdings {
        @Test func `a device holds its six descriptors and what it opened itself`() throws {
            try Instance.with(zoo: [Animal(name: "zoo", answers: ["echo"])]) { instance in
                var shared: [String: String] = [:]
                for row in try instance.devices() {
                    let held = Proc.descriptors(row.pid)
                    #expect(held[0] == "/dev/null")
                    #expect(held[1]?.hasPrefix("pipe:") == true)
                    #expect(held[2]?.hasPrefix("pipe:") == true)
                    #expect(held[3]?.hasPrefix("socket:") == true)
                    #expect(held[4]?.hasPrefix("pipe:") == true)
                    #expect(held[5]?.hasPrefix("/memfd:") == true)
                    for (number, target) in held where number > 5 {
                        let own =
                            target.hasPrefix("anon_inode:")
                            || target.hasPrefix(instance.data) && row.name == "infrastructure"
                        #expect(own, "\(row.name) holds \(number): \(target)")
                    }
                    for number: Int32 in 1...5 {
                        guard let target = held[number], !target.hasPrefix("/memfd:") else {
                            continue
                        }
                        let other = shared.updateValue("\(row.name) \(number)", forKey: target)
                        #expect(other == nil, "\(row.name) shares \(target) with \(other ?? "")")
                    }
                    let limits = Files.text("/proc/\(row.pid)/limits")
                    #expect(
                        limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
                            == Files.text("/proc/self/limits").split(separator: "\n")
                            .first { $0.hasPrefix("Max open files") })
                    let status = Files.text("/proc/\(row.pid)/status")
                    #expect(status.contains("NoNewPrivs:\t1"))
                    #expect(status.contains("Threads:\t1"), "\(row.name) has more threads")
                }
            }
        }

        @Test func `memory, descriptors and threads are flat over a hundred kills`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                let names = ["compute", "circuit", "infrastructure"]
                func cycle(_ number: Int) throws {
                    let name = names[number % names.count]
                    let row = try watch.device(name) { $0.state == "ready" }
                    kill(row.pid, SIGKILL)
                    _ = try watch.device(name) {
                        $0.state == "ready" && $0.restarts == row.restarts + 1
                    }
                }
                for number in 0..<30 { try cycle(number) }
                let resident = Proc.resident(instance.kernel)
                let descriptors = Proc.descriptors(instance.kernel).count
                for number in 0..<100 { try cycle(number) }
                #expect(Proc.resident(instance.kernel) - resident < 1 << 10)
                try Wait.until("descriptors are as before") {
                    Proc.descriptors(instance.kernel).count == descriptors
                }
                #expect(Proc.zombies(of: instance.kernel) == [])
                #expect(Files.names(in: "/proc/\(instance.kernel)/task").count == 1)
                #expect(Proc.using(instance.folder).count == 5, "the watch is one")
            }
        }

        @Test func `an idle kernel takes almost no time`() throws {
            try Instance.with { instance in
                let watch = try Watch(instance, "Kernel.Devices")
                try watch.next()
                func used() -> Double {
                    let fields = Files.text("/proc/\(instance.kernel)/schedstat").split(
                        separator: " ")
                    return fields.first.flatMap { Double($0) }.map { $0 / 1e6 } ?? 0
                }
                let before = used()
                // Nothing happens in this time: that is what is measured.
                #expect(try watch.next(until: Clock.now + 3) == false)
                let milliseconds = used() - before
                #expect(before > 0 && milliseconds < 10, "\(milliseconds) ms in 3 s")
            }
        }
    }
}
