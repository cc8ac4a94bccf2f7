import Control
import Testing

/// Errors as they cross from one process to another.
@Suite struct KernelErrorTests {
    struct Coded: CodedError {
        var code: String { "tooMany" }
        var message: String { "no more than 9" }
        var retry: Bool { true }
    }

    struct Plain: Error, CustomStringConvertible {
        var description: String { "something plain" }
    }

    static let table: [(thrown: any Error, code: String, message: String, retry: Bool)] = [
        (KernelError(.deadline, "late", outcome: .none, retry: true), "deadline", "late", true),
        (Coded(), "tooMany", "no more than 9", true),
        (CancellationError(), "cancelled", "the handler was cancelled", false),
        (Plain(), "failed", "something plain", false),
    ]

    @Test(arguments: 0..<table.count)
    func `whatever was thrown travels as code, message and whether to try again`(_ index: Int) {
        let (thrown, code, message, retry) = Self.table[index]
        let error = KernelError(thrown)
        #expect((error.code.rawValue, error.message, error.retry) == (code, message, retry))
        #expect(error.description == "\(code): \(message)")
        if let same = thrown as? KernelError { #expect(error == same) }
    }

    @Test func `the codes of the kernel are words, each once`() {
        let words = KernelError.Code.kernel.map(\.rawValue)
        #expect(words.count == 21)
        #expect(Set(words).count == words.count)
        #expect(words.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isLetter) })
    }

    @Test func `revisions are ordered by their epoch first`() {
        let revisions = [(1, 9), (2, 0), (2, 1)].map { Revision(epoch: $0.0, counter: $0.1) }
        #expect(revisions.shuffled().sorted() == revisions)
        #expect(revisions.map(\.description) == ["1-9", "2-0", "2-1"])
    }

    @Test func `traits say what was said and nothing else`() {
        let traits = Traits.keyed.summary("Stores.").lane("l").limits(attempt: 1, deadline: 3)
        #expect(traits == Traits(.keyed, lane: "l", summary: "Stores.", attempt: 1, deadline: 3))
        #expect(Traits.unstated.replay == nil)
        #expect((Traits.unstated.attempt, Traits.unstated.deadline) == (3_000, 10_000))
    }
}
