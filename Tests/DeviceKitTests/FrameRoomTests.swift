import Control
import Testing
import UnixSocket
import Wire

@testable import DeviceKit

/// What no frame can carry is refused where somebody is told, and costs no connection.
@Suite(.onLoop, .timeLimit(.minutes(20))) struct FrameRoomTests {
    private static let work = Symbol<Int, String>("A.work", .replayable)
    private static let size = WireLimits.frame + 1
    private static var text: String { String(repeating: "a", count: size) }

    /// A runtime would end this process with its link.
    @LoopActor private final class Nobody: LinkDelegate {
        func link(_ link: Link, said message: KernelMessage) {}
        func link(_ link: Link, brought body: UnsafeRawBufferPointer) -> Bool { false }
        func link(_ link: Link, ended error: KernelError) {}
    }

    @LoopActor private static func device(
        _ bind: (Bindings) -> Void = { _ in }
    ) throws -> (DeviceRuntime, Link, FakeKernel) {
        var pair = try socketPair()
        let bindings = Bindings()
        bind(bindings)
        let runtime = DeviceRuntime(bindings, page: StatusPage(descriptor: -1))
        let link = Link(pair.takeFirst(), delegate: Nobody())
        runtime.link = link
        return (runtime, link, FakeKernel(pair.takeSecond()))
    }

    private static let verbs: [(name: String, verb: @Sendable () -> Verb<String>)] = [
        ("next", { .next(text) }), ("abort", { .abort(text) }),
        ("divert", { .divert(to: Symbol<String, String>("A.other"), text) }),
        ("fail", { .fail(KernelError(.failed, text)) }),
    ]

    @LoopActor @Test(arguments: verbs.indices)
    func `a visit that gives too much fails by name`(_ index: Int) async throws {
        let verb = Self.verbs[index].verb
        let pipe = pipeline(Int.self).pipe(to: String.self) { _, _ in verb() }.seal()
        let (runtime, link, fake) = try Self.device { $0.bind(Self.work, to: pipe) }
        defer { link.close() }
        let writer = CBORWriter()
        writer.visit(
            number: 1, symbol: 1, flow: 1, path: nil, step: 0, attempt: 1, now: 0, lowest: 1,
            replay: false, reads: [], payload: try Self.work.payload.encode(1, CBORCoding()))
        try writer.withBytes { raw in
            guard case .body(let body, _) = Frame.next(in: raw, at: 0) else { return }
            runtime.link(link, said: try KernelMessage(body))
        }
        while fake.words.isEmpty, !Task.isCancelled {
            _ = runtime.idle()
            await Task.yield()
        }
        #expect(fake.words == ["fail tooLarge"])
    }

    @LoopActor @Test func `what a device sends outside of visits is sent whole or not at all`()
        async throws
    {
        let (runtime, link, fake) = try Self.device()
        defer { link.close() }
        let start = Start(runtime: runtime)
        start.dispatch(Symbol<String, Int>("B.do"), Self.text)
        start.publish(Channel<String>("B.said"), Self.text)
        start.dispatch(Symbol<Int, Int>("B.do"), 1)
        #expect(await fake.hears("dispatch 1") == 1)
        #expect(fake.words == ["dispatch 1"])
    }
}
