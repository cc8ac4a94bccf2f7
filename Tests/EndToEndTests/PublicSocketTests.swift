import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The public socket, as strangers and sleepers use it.
    @Suite struct PublicSocket {
        @Test func `garbage costs its sender the connection and nobody else anything`() throws {
            try Instance.with { instance in
                let before = Proc.descriptors(instance.kernel).count
                let resident = Proc.resident(instance.kernel)
                let start = Clock.now
                var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
                func random(_ count: Int) -> [UInt8] {
                    (0..<count).map { _ in
                        seed ^= seed << 13
                        seed ^= seed >> 7
                        seed ^= seed << 17
                        return UInt8(truncatingIfNeeded: seed)
                    }
                }
                let refused: [[UInt8]] = [
                    [0xFF, 0xFF, 0xFF, 0xFF, 0x00], [0, 0, 0, 0], [0x01, 0x00, 0x00, 0x01],
                    Array("GET / HTTP/1.1\r\nHost: here\r\n\r\n".utf8),
                    [0, 0, 0, 1, 0xFF], [0, 0, 0, 3, 0x82, 0x18, 0x2A], [0, 0, 0, 2, 0x81, 0x00],
                    [0, 0, 0, 9, 0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
                ]
                for bytes in refused + (0..<50).map({ _ in [0, 0, 0, 64] + random(64) }) {
                    let stranger = try Stranger(instance)
                    stranger.send(bytes)
                    #expect(stranger.isCutOff(), "\(bytes.prefix(16))")
                }
                for _ in 0..<50 {
                    let stranger = try Stranger(instance)
                    stranger.send(random(1_024))
                }
                #expect(try instance.devices().allSatisfy { $0.state == "ready" })
                let log = try instance.run("log", "kernel").out.split(separator: "\n").filter {
                    $0.contains("the client (process \(getpid())) was cut off: ")
                }
                // The first eight as they come, and one each second, however many they are.
                let most = 8 + Int(Clock.now - start) + 2
                #expect(!log.isEmpty && log.count <= most, "\(most) at most: \(log)")
                try Wait.until("the connections are closed") {
                    Proc.descriptors(instance.kernel).count == before
                }
                #expect(Proc.resident(instance.kernel) - resident < 8 << 10)
            }
        }

        @Test func `half a frame and silence, and many connections, leave the kernel answering`()
            throws
        {
            try Instance.with { instance in
                let before = Proc.descriptors(instance.kernel).count
                let resident = Proc.resident(instance.kernel)
                var strangers: [Stranger] = []
                for number in 0..<200 {
                    let stranger = try Stranger(instance)
                    // A length of 16 MiB, and a few of its bytes, must cost a few bytes.
                    if number.isMultiple(of: 2) { stranger.send([0x01, 0, 0, 0, 1, 2, 3]) }
                    strangers.append(stranger)
                }
                #expect(try instance.devices().count == 3)
                let photos = try instance.photos()
                let payload = Instance.create(Instance.id(1), name: "A", photos: photos)
                #expect(try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                // It has not waited for them until their time was over.
                #expect(!strangers[199].isCutOff(within: 0))
                #expect(Proc.resident(instance.kernel) - resident < 16 << 10)
                strangers.removeAll()
                try Wait.until("the connections are closed") {
                    Proc.descriptors(instance.kernel).count == before
                }
            }
        }

        @Test func `a client that stops reading costs bounded memory and nobody's speed`() throws {
            let zoo = [Animal(name: "zoo", answers: ["fill"], more: Visits.region)]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let frozen = try Watch(instance, "ZooState")
                try frozen.next()
                let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
                defer { close(sink) }
                let reader = try instance.start(["buffer", "ZooState", "--watch"], output: sink)
                frozen.command.send(SIGSTOP)
                let resident = Proc.resident(instance.kernel)
                let rounds = 100
                for round in 1...rounds {
                    #expect(try instance.run("call", "Zoo.fill", "1000000").out == "\(round)\n")
                }
                // 100 MB went by; a slow client may hold 8 MiB of them, the past 16 MiB.
                let grown = Proc.resident(instance.kernel) - resident
                #expect(grown < 56 << 10, "\(grown) KiB")
                frozen.command.send(SIGCONT)
                try frozen.wait(for: "the newest") { $0["count"]?.int == Int64(rounds) }
                let now = try instance.json("buffer", "ZooState")
                #expect(now["revision"]?.text == frozen.revision)
                #expect(now["value"] == frozen.value)
                #expect(frozen.lines.count < rounds / 2, "it has skipped some")
                #expect(Proc.isAlive(reader.pid))
            }
        }

        @Test func `the folder of the socket is its owner's alone`() throws {
            try Instance.with { instance in
                var status = stat()
                #expect(stat("\(instance.folder)/concentric", &status) == 0)
                #expect(status.st_mode & 0o777 == 0o700)
                #expect(stat(instance.data, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o700)
            }
        }
    }
}

/// A connection of somebody who does not speak the protocol.
final class Stranger {
    private let descriptor: Int32

    /// - Parameter waits: whether to wait for room in the queue of those who want in.
    init(_ instance: Instance, waits: Bool = true) throws {
        let kind = SOCK_STREAM.rawValue | (waits ? 0 : SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, Int32(kind), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(instance.socket.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size)
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Failure("no connection: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) {
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// What the kernel says, as far as it is text; nil if it says nothing.
    func heard(within seconds: Double = Wait.patience) -> String? {
        guard Wait.readable(descriptor, until: Clock.now + seconds) else { return nil }
        var block = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &block, block.count, 0)
        return String(decoding: block.prefix(max(0, count)), as: UTF8.self)
    }

    /// Whether the kernel ends the connection; what it says before is thrown away.
    func isCutOff(within seconds: Double = Wait.patience) -> Bool {
        let deadline = Clock.now + seconds
        var block = [UInt8](repeating: 0, count: 4_096)
        while Wait.readable(descriptor, until: deadline) {
            if recv(descriptor, &block, block.count, 0) <= 0 { return true }
        }
        return false
    }
}
