import Control
import Glibc
import Synchronization
import Testing
import UnixSocket
import Wire

@testable import DeviceKit

/// When answers of the kernel reach the code that waits for them.
@Suite(.onLoop) struct AnswerTests {
    static let work = Symbol<Int, Int>("A.work", .replayable)
    static let asked = Symbol<String, Int>("B.asked", .replayable)

    /// What the tasks of a handler did, in its order.
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    /// A runtime would end this process with its link.
    @LoopActor private final class Nobody: LinkDelegate {
        func link(_ link: Link, said message: KernelMessage) {}
        func link(_ link: Link, brought body: UnsafeRawBufferPointer) -> Bool { false }
        func link(_ link: Link, ended error: KernelError) {}
    }

    /// The device is sent a visit of its first name.
    @LoopActor private static func deliver(
        _ payload: [UInt8], to runtime: DeviceRuntime, _ link: Link
    ) throws {
        let writer = CBORWriter()
        writer.visit(
            number: 1, symbol: 0, flow: 1, path: nil, step: 0, attempt: 1, now: 0, lowest: 1,
            replay: false, reads: [], payload: payload)
        try writer.withBytes { raw in
            guard case .body(let body, _) = Frame.next(in: raw, at: 0) else { return }
            runtime.link(link, said: try KernelMessage(body))
        }
    }

    /// Lets every task that is ready run, then does what the loop does when none is.
    @LoopActor private static func turn(_ runtime: DeviceRuntime) async {
        for _ in 0..<8 {
            for _ in 0..<32 { await Task.yield() }
            _ = runtime.idle()
        }
    }

    /// A repeat gets its answers one at a time, in their order; so must the first attempt, or the
    /// order of what it asks next would be another one.
    @LoopActor @Test func `answers that come together are handed over one by one`() async throws {
        var descriptors: [Int32] = [-1, -1]
        try #require(
            socketpair(
                AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0)
        defer { close(descriptors[1]) }
        let log = Log()
        let bindings = Bindings()
        bindings.bind(Self.work) { kernel, value in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in ["a", "b"] {
                    group.addTask {
                        _ = try await kernel.call(Self.asked, name)
                        log.add("\(name) has its answer")
                        await Task.yield()
                        log.add("\(name) asks on")
                    }
                }
                try await group.waitForAll()
            }
            return value
        }
        let runtime = DeviceRuntime(bindings, page: StatusPage(descriptor: -1))
        let link = Link(OwnedDescriptor(owning: descriptors[0]), delegate: Nobody())
        let coding = CBORCoding()
        try Self.deliver(try Self.work.payload.encode(1, coding), to: runtime, link)
        await Self.turn(runtime)
        #expect(log.all == [])
        let output = try Self.asked.output.encode(5, coding)
        output.withUnsafeBytes { bytes in
            for tag in [1, 2] as [UInt64] {
                runtime.link(link, said: .answer(visit: 1, tag: tag, .output(bytes)))
            }
        }
        await Self.turn(runtime)
        let inTurn = ["a", "b"].map { ["\($0) has its answer", "\($0) asks on"] }
        #expect([inTurn[0] + inTurn[1], inTurn[1] + inTurn[0]].contains(log.all), "\(log.all)")
    }
}
