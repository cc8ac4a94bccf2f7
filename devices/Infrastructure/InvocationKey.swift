import Contract

/// The key under which an effect is recorded. It is a path whose root says how long it is kept:
/// `epoch-flow/step…` while the flow may be replayed, `own:…` (chosen by a caller) for a day.
struct InvocationKey: Equatable {
    /// A flow of one life of the kernel. Both numbers only grow.
    struct Flow: Equatable {
        var epoch: Int64
        var number: Int64
    }

    static let maximumBytes = 4_096

    let text: String
    /// The flow that the key belongs to; none for a caller's own key.
    let flow: Flow?

    init(_ text: String) throws(ApplicationError) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw Self.invalid("is longer than \(Self.maximumBytes) bytes")
        }
        self.text = text
        if text.utf8.starts(with: "own:".utf8) {
            guard text.utf8.count > 4 else { throw Self.invalid("names nothing after \"own:\"") }
            flow = nil
            return
        }
        let root = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        let parts = root.split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Self.number(parts[0]),
            let number = Self.number(parts[1])
        else { throw Self.invalid("begins with neither \"EPOCH-FLOW/\" nor \"own:\"") }
        flow = Flow(epoch: epoch, number: number)
    }

    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(Substring(digits))
    }

    private static func invalid(_ flaw: String) -> ApplicationError {
        ApplicationError(
            code: ApplicationError.Code.invalidKey, message: "The invocation key \(flaw).")
    }
}
