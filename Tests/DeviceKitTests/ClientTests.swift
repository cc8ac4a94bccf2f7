import Control
import Testing
import UnixSocket
import Values
import Wire

@testable import DeviceKit

/// A client's end of a connection, whatever the kernel says and whenever a task gives up.
@Suite(.onLoop, .timeLimit(.minutes(20))) struct ClientTests {
    private static let ask = Symbol<Int, Int>("A.ask")
    private static let long = Value.text(String(repeating: "a", count: WireLimits.snapshotPart * 2))

    /// What an observer was told.
    @LoopActor private final class Told {
        var updates: [RegionUpdate] = []
    }

    @LoopActor private func start<Result: Sendable>(
        _ body: @escaping @LoopActor @Sendable () async throws -> Result
    ) -> Task<Result, any Error> {
        Task(executorPreference: LoopActor.executor, operation: body)
    }

    /// The room that a cancelled call had been told of goes to the next one.
    @LoopActor @Test func `a call that is cancelled while it waits leaves its room to others`()
        async throws
    {
        let (kernel, fake) = try await FakeKernel.client(openCalls: 1)
        defer { kernel.close() }
        func call(_ value: Int) -> Task<Int, any Error> {
            start {
                try await kernel.call(Self.ask, value)
            }
        }
        let first = call(1)
        let id = await fake.hears("call 1")
        fake.forget()
        let cancelled = [call(2), call(3)]
        let last = call(4)
        for _ in 0..<64 { await Task.yield() }
        for task in cancelled { task.cancel() }
        fake.say { $0.output(reply: id, [1]) }
        #expect(try await first.value == 1)
        let next = await fake.hears("call 1")
        fake.say { $0.output(reply: next, [4]) }
        #expect(try await last.value == 4)
        for task in cancelled {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    /// A kernel that is stopped behind its greeting is not waited for without an end, and one that
    /// goes on is.
    @LoopActor @Test func `who connects again waits for a word as long as for the first`()
        async throws
    {
        var pair = try socketPair()
        let fake = FakeKernel(pair.takeSecond())
        let mirror = Mirror()
        let observer = mirror.observe("r") { _ in }
        let error = await #expect(throws: KernelError.self) {
            _ = try await Kernel.greet(pair.takeFirst(), "fake", "test", mirror, 50)
        }
        #expect(error?.code == .unavailable)
        #expect(fake.words.contains { $0.hasPrefix("resume") }, "\(fake.words)")
        _ = mirror.forget(observer)
    }

    /// The kernel refuses what is over the bytes that it grants.
    @LoopActor @Test func `calls keep within the bytes that the kernel grants`() async throws {
        let (kernel, fake) = try await FakeKernel.client(openBytes: 100)
        defer { kernel.close() }
        let size = 60
        let calls = (0..<3).map { _ in
            start {
                try await kernel.call("A.ask", .bytes([UInt8](repeating: 0, count: size - 2)))
            }
        }
        for left in (0..<calls.count).reversed() {
            let id = await fake.hears("call \(size)")
            for _ in 0..<64 { await Task.yield() }
            #expect(fake.words == ["call \(size)"], "\(left) wait")
            fake.forget()
            fake.say { $0.output(reply: id, [1]) }
        }
        for call in calls { #expect(try await call.value == .int(1)) }
        // One that is larger than all that is granted is for the kernel to refuse.
        let large = start {
            try await kernel.call("A.ask", .bytes([UInt8](repeating: 0, count: 200)))
        }
        let id = await fake.hears("call 202")
        fake.say { $0.failure(reply: id, KernelError(.overloaded, "")) }
        await #expect(throws: KernelError.self) { try await large.value }
    }

    @LoopActor @Test func `an output that cannot be read is told with its symbol`() async throws {
        let (kernel, fake) = try await FakeKernel.client()
        defer { kernel.close() }
        let typed = start { try await kernel.call(Self.ask, 1) as Int }
        let first = await fake.hears("call 1")
        fake.say { $0.output(reply: first, [0x61, 0x61]) }
        fake.forget()
        await #expect { try await typed.value } throws: {
            "\($0)".hasPrefix("malformed: the output of A.ask: expected")
        }
        let untyped = start { try await kernel.call("A.ask", .int(1)) }
        let id = await fake.hears("call 1")
        fake.say { $0.output(reply: id, [0xff]) }
        await #expect { try await untyped.value } throws: {
            "\($0)".hasPrefix("malformed: the output of A.ask: ")
        }
        await #expect { try await kernel.call("", .int(1)) } throws: {
            "\($0)".hasPrefix("malformed: the name of a symbol, region or channel is empty")
        }
    }

    /// What was on its way when the last observer left must not be taken for what is followed.
    @LoopActor @Test(arguments: [Value.int(1), long])
    func `a snapshot that comes after its follower has left is not kept`(_ value: Value)
        async throws
    {
        let (kernel, fake) = try await FakeKernel.client()
        defer { kernel.close() }
        let follower = start {
            try await kernel.follow("r") { _ in }
        }
        _ = await fake.hears("follow r")
        follower.cancel()
        await #expect(throws: CancellationError.self) { try await follower.value }
        _ = await fake.hears("unfollow r")
        fake.say {
            $0.snapshot(region: "r", epoch: 7, counter: 1, value)
            $0.ping(1)
        }
        _ = await fake.hears("pong")
        // The next who follows asks anew, and is told what is there then.
        fake.forget()
        let told = Told()
        let again = start {
            try await kernel.follow("r") { told.updates.append($0) }
        }
        let id = await fake.hears("follow r")
        fake.say {
            $0.snapshot(region: "r", epoch: 7, counter: 2, .int(2))
            $0.accepted(id: id)
        }
        try await again.value
        #expect(kernel.value(of: "r")?.value == .int(2))
        #expect(told.updates.count == 1)
    }

    @LoopActor @Test func `a change that does not apply ends the connection for all who wait`()
        async throws
    {
        let (kernel, fake) = try await FakeKernel.client()
        let call = start {
            try await kernel.call(Self.ask, 1)
        }
        _ = await fake.hears("call 1")
        let follower = start {
            try await kernel.follow("r") { _ in }
        }
        let id = await fake.hears("follow r")
        fake.say {
            $0.snapshot(region: "r", epoch: 7, counter: 1, .int(1))
            $0.accepted(id: id)
        }
        try await follower.value
        fake.say {
            let bad = Patch([.remove(["gone"])])
            $0.patch(
                epoch: 7, counter: 2, [RegionChange(region: "r", from: 1, patch: bad)])
        }
        let error = await #expect(throws: KernelError.self) { try await call.value }
        #expect(error?.code == .malformed)
        // Who asks late is told, too.
        var told: [KernelError] = []
        kernel.onEnd = { told.append($0) }
        #expect(told.map(\.code) == [.malformed])
        while !fake.isOver { await Task.yield() }
    }

    @LoopActor @Test(arguments: ["", String(repeating: "x", count: WireLimits.name + 1)])
    func `a name that no frame may carry is refused, and the connection goes on`(_ name: String)
        async throws
    {
        let (kernel, fake) = try await FakeKernel.client()
        defer { kernel.close() }
        let ways: [@LoopActor () async throws -> Void] = [
            { _ = try await kernel.call(name, .null) },
            { try await kernel.dispatch(name, .null) },
            { try await kernel.publish(name, .null) },
            { try await kernel.follow(name) { _ in } },
            { try await kernel.follow([name, "r"]) { _, _ in } },
            { _ = try await kernel.verify(name) },
            { for try await _ in kernel.events(of: name) {} },
        ]
        for way in ways {
            let error = await #expect(throws: KernelError.self) { try await way() }
            #expect(error?.code == .malformed)
        }
        for _ in 0..<64 { await Task.yield() }
        #expect(fake.words == [] && !fake.isOver)
    }

    @LoopActor @Test func `a key counts for what a frame carries`() async throws {
        let (kernel, fake) = try await FakeKernel.client()
        defer { kernel.close() }
        // Its head takes five bytes.
        let payload = Value.bytes([UInt8](repeating: 0, count: FrameRoom.payload - 5))
        let key = String(repeating: "k", count: 2_000)
        let ways: [@LoopActor () async throws -> Void] = [
            { _ = try await kernel.call("A.ask", payload, key: key) },
            { try await kernel.dispatch("A.ask", payload, key: key) },
            { try await kernel.publish("A.said", payload, key: key) },
        ]
        for way in ways {
            let error = await #expect(throws: KernelError.self) { try await way() }
            #expect(error?.code == .tooLarge)
        }
        try #require(fake.words == [])
        let call = start { try await kernel.call("A.ask", payload) }
        let id = await fake.hears("call \(FrameRoom.payload)")
        fake.say { $0.output(reply: id, [1]) }
        #expect(try await call.value == .int(1))
        #expect(fake.words.count == 1 && !fake.isOver)
    }

    @LoopActor @Test func `a time that is too far is the last there is`() {
        let now = EventLoop.shared.now
        #expect(EventLoop.shared.time(in: 2) == now + 2_000_000)
        #expect(EventLoop.shared.time(in: .max) == .max)
        #expect(EventLoop.shared.time(in: .max / 1_000_000) == .max)
    }
}
