import Control
import Testing

@testable import DeviceKit

/// The open calls of a connection by their number.
@Suite struct PendingCallsTests {
    @Test func `a number is used once, whatever place it has`() {
        var calls = PendingCalls()
        var seen: Set<UInt64> = []
        for _ in 0..<100 {
            let numbers = (0..<3).map { _ in calls.reserve() }
            for number in numbers { #expect(seen.insert(number).inserted) }
            #expect(calls.count == 3)
            for number in numbers { calls.release(number) }
            #expect(calls.count == 0)
        }
    }

    @Test(arguments: [0, 1, 5, 1 << 32, UInt64.max])
    func `an answer to a number that nobody waits for finds nobody`(_ number: UInt64) {
        var calls = PendingCalls()
        #expect(calls.take(number) == nil)
        let reserved = calls.reserve()
        #expect(calls.take(reserved) == nil, "nobody has said yet that it waits")
        #expect(calls.take(number) == nil)
        #expect(calls.takeAll().isEmpty)
    }

    @Test func `a waiter is taken once`() async throws {
        var calls = PendingCalls()
        let first = calls.reserve()
        let bytes: [UInt8] = try await withUnsafeThrowingContinuation { waiter in
            calls.fill(first, waiter)
            let taken = calls.take(first)
            #expect(calls.take(first) == nil)
            #expect(calls.count == 0)
            taken?.resume(returning: [1])
        }
        #expect(bytes == [1])
    }
}
