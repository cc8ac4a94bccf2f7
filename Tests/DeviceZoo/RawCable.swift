import Control
import DeviceKit
import Glibc
import Wire

/// Devices that speak to the cable themselves, and not as they should.
enum RawCable {
    static let descriptor: Int32 = 3

    /// - Parameter names: what its hello announces, and nobody answers.
    static func run(_ behaviour: Behaviour, _ names: [String]) -> Never {
        let writer = CBORWriter()
        switch behaviour {
        case .older: writer.hello(hello(names) { $0["wire"] = 0 })
        case .newer: writer.hello(hello(names) { $0["wire"] = 4_000_000_000 })
        case .liar: writer.hello(hello(names) { $0["name"] = "steady" })
        case .extended:
            writer.hello(
                hello(names) {
                    $0["colour"] = ["red", 7]
                    $0["build"] = "from tomorrow"
                })
        case .greets: writer.hello(hello(names) { _ in })
        default: break
        }
        send(behaviour == .babbling ? Array("GET / HTTP/1.1\r\n\r\n".utf8) : writer.bytes)
        if behaviour == .liar || behaviour == .extended {
            writer.reset()
            writer.ready()
            send(writer.bytes)
            answerPings()
        }
        // Who is refused stays all the same, and reads nothing more.
        while true { pause() }
    }

    /// All that a device without visits and without a status page owes the kernel.
    private static func answerPings() {
        let writer = CBORWriter()
        var held: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &block, block.count)
            guard count > 0 else { exit(0) }
            held += block[..<count]
            let taken = held.withUnsafeBytes { bytes in
                var offset = 0
                while case .body(let body, let end) = Frame.next(in: bytes, at: offset) {
                    offset = end
                    guard case .ping(let number)? = try? KernelMessage(body) else { continue }
                    writer.reset()
                    writer.pong(number)
                    send(writer.bytes)
                }
                return offset
            }
            held.removeFirst(taken)
        }
    }

    private static func hello(
        _ names: [String], _ change: (inout Value.Members) -> Void
    ) -> Value {
        let bindings = names.map {
            Binding(name: $0, traits: .replayable, stages: nil, last: false)
        }
        var map = Hello(name: Place.name, bindings: bindings).value.map ?? [:]
        change(&map)
        return .map(map)
    }

    /// Writes until it is done; blocks when the cable is full.
    @discardableResult
    static func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                write(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if count < 0, errno == EAGAIN || errno == EINTR {
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = Glibc.poll(&poll, 1, -1)
                continue
            }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

extension CBORWriter {
    /// A hello of any map.
    fileprivate func hello(_ map: Value) {
        let start = openFrame()
        array(3)
        uint(MessageKind.hello.rawValue)
        uint(0)
        value(map)
        closeFrame(start)
    }
}
