import Control
import Testing
import UnixSocket
import Values
import Wire

@testable import DeviceKit

/// A loop over a property: it converges on the latest and sees nothing twice.
@Suite(.onLoop) struct ChangesTests {
    private struct Numbers: Region {
        var one = 0
        var other = 0
    }

    /// A buffer that is changed as a test says.
    @LoopActor private final class Source {
        let mirror = Mirror()
        var asked: [String] = []
        var left = 0
        private var counter: UInt64 = 0

        var buffer: LiveBuffer {
            LiveBuffer(mirror: mirror) {
                self.asked.append($0)
            } leave: {
                if self.mirror.forget($0) { self.left += 1 }
            }
        }

        func set(_ one: Int, _ other: Int) throws {
            let writer = CBORWriter()
            counter += 1
            writer.snapshot(
                region: "Numbers", epoch: 7, counter: counter,
                ["one": .int(Int64(one)), "other": .int(Int64(other))])
            try writer.withBytes { raw in
                guard case .body(let body, _) = Frame.next(in: raw, at: 0) else { return }
                _ = try mirror.take(KernelMessage(body))
            }
        }
    }

    @LoopActor @Test func `a slow loop ends at the last value and queues nothing`() async throws {
        let source = Source()
        try source.set(0, 0)
        var seen: [Int] = []
        for try await one in source.buffer.changes(of: Numbers.self, \.one) {
            seen.append(one)
            if one == 100 { break }
            for number in 1...100 { try source.set(number, 0) }
        }
        #expect(seen == [0, 100])
        #expect(source.asked == ["Numbers"])
        #expect(source.left == 1)
    }

    @LoopActor @Test func `a loop sees a value only when its own property has changed`()
        async throws
    {
        let source = Source()
        try source.set(1, 1)
        var iterator = source.buffer.changes(of: Numbers.self, \.one).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        var others: [Int] = []
        for try await other in source.buffer.changes(of: Numbers.self, \.other) {
            others.append(other)
            guard other < 3 else { break }
            // The rest happens while this loop waits.
            EventLoop.shared.schedule(at: 0) { try? source.set(2, other + 1) }
        }
        #expect(others == [1, 2, 3])
        #expect(try await iterator.next() == 2, "one value for all that happened")
    }

    @LoopActor private func count(_ source: Source) async throws -> Int {
        var seen = 0
        for try await _ in source.buffer.changes(of: Numbers.self, \.one) { seen += 1 }
        return seen
    }

    @LoopActor @Test func `a loop that is cancelled ends and is forgotten`() async throws {
        let source = Source()
        try source.set(1, 1)
        let task = Task(executorPreference: LoopActor.executor) { try await count(source) }
        while source.asked.isEmpty { await Task.yield() }
        task.cancel()
        #expect(try await task.value <= 1)
        #expect(source.left == 1)
    }

    @LoopActor @Test func `a loop that is dropped is forgotten`() async throws {
        let source = Source()
        try source.set(1, 1)
        do {
            var iterator = source.buffer.changes(of: Numbers.self, \.one).makeAsyncIterator()
            #expect(try await iterator.next() == 1)
            #expect(source.left == 0)
        }
        for _ in 0..<10 where source.left == 0 { await Task.yield() }
        #expect(source.left == 1)
    }

    @LoopActor @Test func `a loop throws when the connection ends or the region is another`()
        async throws
    {
        let source = Source()
        try source.set(1, 1)
        var iterator = source.buffer.changes(of: Numbers.self, \.one).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        source.mirror.interrupt(KernelError(.kernelLost, "gone"))
        do {
            _ = try await iterator.next()
            Issue.record("the connection has ended")
        } catch {
            #expect((error as? KernelError)?.code == .kernelLost)
        }

        struct Others: Region {
            static let region = "Numbers"
            var text = ""
        }
        var others = source.buffer.changes(of: Others.self, \.text).makeAsyncIterator()
        do {
            _ = try await others.next()
            Issue.record("the region has no text")
        } catch {
            #expect("\(error)".hasPrefix("malformed: the region Numbers: text: expected"))
        }
    }
}
