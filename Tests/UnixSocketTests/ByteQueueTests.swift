import Testing

@testable import UnixSocket

struct ByteQueueTests {
    @Test func `what goes in comes out in order whatever the sizes are`() {
        var random = SystemRandomNumberGenerator()
        var queue = ByteQueue()
        var model: [UInt8] = []
        var next: UInt8 = 0
        for _ in 0..<1000 {
            let bytes = (0..<Int.random(in: 0...3000, using: &random)).map { _ in
                next &+= 1
                return next
            }
            bytes.withUnsafeBytes { queue.append($0) }
            model += bytes
            let taken = Int.random(in: 0...min(model.count, 4000), using: &random)
            #expect(queue.bytes.elementsEqual(model))
            queue.consume(taken)
            model.removeFirst(taken)
            #expect(queue.count == model.count)
        }
    }

    @Test func `a large block is given back when it runs empty`() {
        var queue = ByteQueue()
        [UInt8](repeating: 1, count: 1 << 20).withUnsafeBytes { queue.append($0) }
        #expect(queue.capacity >= 1 << 20)
        queue.consume(1 << 20)
        #expect(queue.capacity == 0)
    }

    @Test func `a middle-sized block is given back when the traffic no longer fills it`() {
        var queue = ByteQueue()
        [UInt8](repeating: 1, count: 100_000).withUnsafeBytes { queue.append($0) }
        queue.consume(100_000)
        let large = queue.capacity
        #expect(large >= 100_000)
        for _ in 0..<200 {
            [UInt8](repeating: 1, count: 64).withUnsafeBytes { queue.append($0) }
            queue.consume(64)
        }
        #expect(queue.capacity <= SocketLimits.keptCapacity)
    }

    @Test func `a small rest moves out of a large block`() {
        var queue = ByteQueue()
        (0..<600_000).map { UInt8(truncatingIfNeeded: $0) }.withUnsafeBytes { queue.append($0) }
        queue.consume(599_998)
        queue.shrink()
        #expect(queue.capacity <= SocketLimits.smallRest)
        #expect(
            queue.bytes.elementsEqual([
                UInt8(truncatingIfNeeded: 599_998), UInt8(truncatingIfNeeded: 599_999),
            ]))
    }

    @Test func `steady traffic stays in one block`() {
        var queue = ByteQueue()
        let frame = [UInt8](repeating: 1, count: 76)
        for _ in 0..<10 { frame.withUnsafeBytes { queue.append($0) } }
        let capacity = queue.capacity
        for _ in 0..<10_000 {
            frame.withUnsafeBytes { queue.append($0) }
            queue.consume(76)
        }
        #expect(queue.capacity == capacity)
    }
}
