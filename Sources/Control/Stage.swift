/// What is announced of one stage of a route: plain data.
public struct StageDescriptor: Sendable, Hashable {
    /// How a stage treats the value.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The output of the symbol is the next value.
        case pipe
        /// The symbol is called and the value stays.
        case tap
        /// A closure of the device that bound the pipe; its output is the next value.
        case closure
        /// A closure whose value stays.
        case effect
        /// The kernel joins the request that entered the pipe with the value.
        case withRequest
    }

    /// How the stage treats the value.
    public var kind: Kind
    /// The symbol; nil for closures, whose name follows from the pipe's, and for `withRequest`.
    public var symbol: String?
    /// What the closures of this visit are, for people: `map`, `adapt`, `verb`, `effect`.
    public var notes: [String]
    /// The name of the type that leaves the stage, for people.
    public var shape: String
    /// Where the stage was written.
    public var file: String
    /// The line of it.
    public var line: UInt

    /// A descriptor of its parts.
    public init(
        kind: Kind, symbol: String?, notes: [String], shape: String, file: String, line: UInt
    ) {
        self.kind = kind
        self.symbol = symbol
        self.notes = notes
        self.shape = shape
        self.file = file
        self.line = line
    }
}

/// The code of a closure stage: bytes in, a verb out.
public typealias StageBody =
    @Sendable (any Handle, [UInt8], any Coding) async throws -> EncodedVerb

/// One stage of a pipe: what is announced, and the code if this device runs it.
public struct Stage: Sendable {
    /// What is announced.
    public var descriptor: StageDescriptor
    /// The code of a closure stage.
    public var body: StageBody?
}

/// A sealed pipe: a route with typed ends.
public struct Pipe<Request, Output>: Sendable {
    /// The stages; adjacent closures are one.
    public let stages: [Stage]
    /// The stage that runs at every end of a flow, failure and cancellation included.
    public let last: Stage?
    /// How the request travels.
    public let request: Coder<Request>
    /// How the output travels.
    public let output: Coder<Output>

    /// The names under which the kernel visits the closures of a pipe bound to `owner`.
    public func closureNames(of owner: String) -> [String?] {
        stages.indices.map { stages[$0].body == nil ? nil : "\(owner)#\($0)" }
    }
}
