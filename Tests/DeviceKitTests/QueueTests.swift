import Testing

@testable import DeviceKit

/// First come, first served, however many wait.
@Suite struct QueueTests {
    @Test(arguments: [1, 15, 16, 17, 1_000, 5_000])
    func `elements leave in the order in which they came`(_ count: Int) {
        var queue = Queue<Int>()
        #expect(queue.isEmpty && queue.first == nil && queue.removeFirst() == nil)
        var left: [Int] = []
        for number in 0..<count {
            queue.append(number)
            // Every third comes while others leave.
            if number % 3 == 0, let first = queue.first {
                #expect(queue.removeFirst() == first)
                left.append(first)
            }
        }
        while let element = queue.removeFirst() { left.append(element) }
        #expect(left == Array(0..<count))
        #expect(queue.isEmpty)
    }

    @Test func `what has left is let go of at once`() {
        final class Thing {}
        var queue = Queue<Thing>()
        weak var first: Thing?
        do {
            let thing = Thing()
            first = thing
            queue.append(thing)
            queue.append(Thing())
        }
        #expect(first != nil)
        queue.removeFirst()
        #expect(first == nil)
        #expect(!queue.isEmpty)
    }
}
