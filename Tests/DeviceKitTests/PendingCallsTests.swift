import Control
import Testing

@testable import DeviceKit

/// The open calls of a connection by their number.
@Suite struct PendingCallsTests {
    /// Waits as a call does; the body must see to it that the waiter is resumed.
    private func wait(
        _ body: (Waiter) -> Void
    ) async throws -> [UInt8]? {
        try await withUnsafeThrowingContinuation { body($0) }
    }

    @Test func `a number is used once, whatever place it has`() async throws {
        var calls = PendingCalls()
        var seen: Set<UInt64> = []
        for _ in 0..<100 {
            for _ in 0..<3 {
                let bytes = try await wait { waiter in
                    let number = calls.add(waiter, since: 0)
                    #expect(seen.insert(number).inserted)
                    #expect(calls.count == 1)
                    calls.take(number)?.resume(returning: [1])
                }
                #expect(bytes == [1])
            }
            #expect(calls.count == 0)
        }
    }

    @Test(arguments: [0, 1, 5, 1 << 32, UInt64.max])
    func `an answer to a number that nobody waits for finds nobody`(_ number: UInt64) {
        var calls = PendingCalls()
        #expect(calls.take(number) == nil)
        let isKept = calls.keep(number, .success([]))
        #expect(!isKept)
        #expect(calls.takeAll(CancellationError()).isEmpty)
    }

    @Test func `a waiter is taken once`() async throws {
        var calls = PendingCalls()
        let bytes = try await wait { waiter in
            let first = calls.add(waiter, since: 0)
            let taken = calls.take(first)
            #expect(calls.take(first) == nil)
            #expect(calls.count == 0)
            taken?.resume(returning: [1])
        }
        #expect(bytes == [1])
    }

    @Test func `who has waited for long is told, and nobody else`() async throws {
        var calls = PendingCalls()
        var late: UInt64 = 0
        let told = try await wait { waiter in
            late = calls.add(waiter, since: 10)
            #expect(calls.impatient(since: 9).waiters.isEmpty)
            let (waiters, areMore) = calls.impatient(since: 10)
            #expect(waiters.count == 1 && !areMore)
            #expect(calls.impatient(since: 10).waiters.isEmpty)
            #expect(calls.take(late) == nil, "it has not said how it waits on")
            waiters.first?.resume(returning: nil)
        }
        #expect(told == nil && calls.count == 1)
        let bytes = try await wait { waiter in
            #expect(calls.wait(late, waiter) == nil)
            #expect(calls.impatient(since: 99).waiters.isEmpty, "it waits on for ever")
            calls.take(late)?.resume(returning: [2])
        }
        #expect(bytes == [2] && calls.count == 0)
    }

    enum Meanwhile: CaseIterable {
        case answered
        case cancelled
        case cut
    }

    @Test(arguments: Meanwhile.allCases)
    func `what comes before it has said how it waits on is kept`(_ what: Meanwhile) async throws {
        var calls = PendingCalls()
        var number: UInt64 = 0
        _ = try await wait { waiter in
            number = calls.add(waiter, since: 0)
            for waiter in calls.impatient(since: 0).waiters { waiter.resume(returning: nil) }
        }
        switch what {
        case .answered: calls.keep(number, .success([3]))
        case .cancelled: calls.keep(number, .failure(CancellationError()))
        case .cut: #expect(calls.takeAll(KernelError(.kernelLost, "gone")).isEmpty)
        }
        #expect(calls.count == 1)
        let end = await Result.of {
            try await wait { waiter in
                guard let answer = calls.wait(number, waiter) else {
                    Issue.record("nothing was kept")
                    return waiter.resume(returning: [])
                }
                waiter.resume(with: answer.map { $0 })
            }
        }
        switch what {
        case .answered: #expect(try end.get() == [3])
        case .cancelled: #expect(throws: CancellationError.self) { try end.get() }
        case .cut: #expect(throws: KernelError.self) { try end.get() }
        }
        #expect(calls.count == 0)
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
