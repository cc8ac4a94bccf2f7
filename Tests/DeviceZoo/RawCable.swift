import Control
import DeviceKit
import Glibc
import Wire

/// Devices that speak to the cable themselves, and not as they should.
enum RawCable {
    static let descriptor: Int32 = 3

    static func run(_ behaviour: Behaviour) -> Never {
        let writer = CBORWriter()
        switch behaviour {
        case .older: writer.hello(hello { $0["wire"] = 0 })
        case .newer: writer.hello(hello { $0["wire"] = 4_000_000_000 })
        case .liar: writer.hello(hello { $0["name"] = "steady" })
        case .extended:
            writer.hello(
                hello {
                    $0["colour"] = ["red", 7]
                    $0["build"] = "from tomorrow"
                })
        case .greets: writer.hello(hello { _ in })
        default: break
        }
        send(behaviour == .babbling ? Array("GET / HTTP/1.1\r\n\r\n".utf8) : writer.bytes)
        if behaviour == .liar || behaviour == .extended {
            writer.reset()
            writer.ready()
            send(writer.bytes)
        }
        // Who is refused stays all the same, and reads nothing more.
        while true { pause() }
    }

    private static func hello(_ change: (inout [String: Value]) -> Void) -> Value {
        var map = Hello(name: Place.name, bindings: []).value.map ?? [:]
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
