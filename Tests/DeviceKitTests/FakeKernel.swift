import Control
import Glibc
import Testing
import UnixSocket
import Wire

@testable import DeviceKit

/// The other end of a client's or a device's cable, which says what a test wants.
@LoopActor final class FakeKernel: ConnectionDelegate {
    /// What was heard, in order: the question's number, 0 if it has none, and what it is.
    private(set) var heard: [(id: UInt64, what: String)] = []
    private(set) var isOver = false
    private let openCalls: UInt64
    private let openBytes: UInt64
    private var connection: Connection?

    /// - Parameters:
    ///   - openCalls: the calls that it grants a client.
    ///   - openBytes: the bytes of their payloads.
    init(
        _ socket: consuming OwnedDescriptor, openCalls: UInt64 = 1_024, openBytes: UInt64 = 64 << 20
    ) {
        self.openCalls = openCalls
        self.openBytes = openBytes
        connection = Connection(socket, delegate: self)
    }

    /// A client that is connected to one.
    static func client(
        openCalls: UInt64 = 1_024, openBytes: UInt64 = 64 << 20
    ) async throws -> (Kernel, FakeKernel) {
        var pair = try socketPair()
        let fake = FakeKernel(pair.takeSecond(), openCalls: openCalls, openBytes: openBytes)
        let kernel = try await Kernel.greet(
            pair.takeFirst(), "fake", "test", Mirror(onlyObserved: true), 60_000)
        return (kernel, fake)
    }

    func say(_ write: (CBORWriter) -> Void) {
        let writer = CBORWriter()
        write(writer)
        connection?.send(writer.written)
    }

    /// Waits until it has heard something.
    func hears(_ what: String) async -> UInt64 {
        while !Task.isCancelled {
            if let found = heard.first(where: { $0.what == what }) { return found.id }
            await Task.yield()
        }
        return 0
    }

    /// Everything but numbers.
    var words: [String] { heard.map(\.what) }

    func forget() { heard = [] }

    func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while true {
            switch Frame.next(in: bytes, at: offset) {
            case .incomplete: return offset
            case .refused(let length):
                heard.append((0, "a frame of \(length) bytes"))
                return bytes.count
            case .body(let body, let end):
                offset = end
                guard let message = try? PeerMessage(body) else {
                    heard.append((0, "garbage"))
                    continue
                }
                note(message)
            }
        }
    }

    private func note(_ message: PeerMessage) {
        switch message {
        case .hello:
            say {
                $0.welcome(
                    Welcome(
                        epoch: 7, incarnation: 1, regions: [], openCalls: openCalls,
                        openBytes: openBytes, pid: UInt64(getpid())))
            }
        case .name: break
        case .call(let id, _, _, _, let payload): heard.append((id, "call \(payload.count)"))
        case .dispatch(let id, _, _, let payload):
            heard.append((id, "dispatch \(payload.count)"))
        case .publish(let id, _, _, let payload): heard.append((id, "publish \(payload.count)"))
        case .cancel(let id): heard.append((id, "cancel"))
        case .follow(let id, let region): heard.append((id, "follow \(region)"))
        case .unfollow(let region): heard.append((0, "unfollow \(region)"))
        case .returned(let visit, .fail(let error)):
            heard.append((visit, "fail \(error.code.rawValue)"))
        case .returned(let visit, _): heard.append((visit, "returned"))
        case .pong: heard.append((0, "pong"))
        default: heard.append((0, "\(message)"))
        }
    }

    func connection(_ connection: Connection, closed reason: CloseReason) {
        isOver = true
        self.connection = nil
    }
}
