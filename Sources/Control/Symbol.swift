/// A typed address: who sends to it knows the word and the types, never who answers.
///
/// Symbols are declared once, in the words of an application:
///
///     enum Compute {
///         static let count = Symbol<[String], Int>("Compute.count", .replayable)
///     }
///
/// Names that begin with `Kernel.` belong to the kernel.
public struct Symbol<Payload, Output>: Sendable {
    /// The whole name, for example `Compute.Slideshow.create`.
    public let name: String
    /// What the kernel may do with a visit to it.
    public let traits: Traits
    /// How the payload travels.
    public let payload: Coder<Payload>
    /// How the output travels.
    public let output: Coder<Output>

    /// A symbol with coders of its own.
    public init(
        _ name: String, _ traits: Traits, payload: Coder<Payload>, output: Coder<Output>
    ) {
        self.name = name
        self.traits = traits
        self.payload = payload
        self.output = output
    }
}

extension Symbol
where Payload: Codable & SendableMetatype, Output: Codable & SendableMetatype {
    /// A symbol that takes and returns `Codable` values.
    public init(_ name: String, _ traits: Traits = .unstated) {
        self.init(name, traits, payload: .codable, output: .codable)
    }
}

extension Symbol where Payload: Codable & SendableMetatype, Output == Void {
    /// A symbol that returns nothing.
    public init(_ name: String, _ traits: Traits = .unstated) {
        self.init(name, traits, payload: .codable, output: .void)
    }
}

extension Symbol where Payload == Void, Output: Codable & SendableMetatype {
    /// A symbol that takes nothing.
    public init(_ name: String, _ traits: Traits = .unstated) {
        self.init(name, traits, payload: .void, output: .codable)
    }
}

extension Symbol where Payload == Void, Output == Void {
    /// A symbol that takes and returns nothing.
    public init(_ name: String, _ traits: Traits = .unstated) {
        self.init(name, traits, payload: .void, output: .void)
    }
}

/// What the kernel may do with the visits of a symbol, and how long it waits for them.
public struct Traits: Sendable, Hashable {
    /// May a visit whose device died be sent again?
    public enum Replay: String, Sendable, Hashable, CaseIterable {
        /// The handler is pure or idempotent: it may be played again.
        case replayable
        /// The handler recognises a repeat by its invocation key.
        case keyed
        /// Never sent again once it has begun.
        case once
    }

    /// Nil: `replayable` for a device behind the `pure` wall, `once` for every other.
    public var replay: Replay?
    /// The queue in which dispatched commands run one at a time; nil: the one that all share.
    public var lane: String?
    /// One line that says what the symbol is for.
    public var summary: String
    /// The time that one attempt may take, in milliseconds.
    public var attempt: UInt32
    /// The time that the whole flow may take, in milliseconds; at least three attempts.
    public var deadline: UInt32

    /// Traits of their parts; the defaults are those of the house.
    public init(
        _ replay: Replay? = nil, lane: String? = nil, summary: String = "",
        attempt: UInt32 = 3_000, deadline: UInt32 = 10_000
    ) {
        self.replay = replay
        self.lane = lane
        self.summary = summary
        self.attempt = attempt
        self.deadline = deadline
    }

    /// Says nothing: the kernel decides by the device's wall.
    public static let unstated = Traits()
    /// Pure or idempotent.
    public static let replayable = Traits(.replayable)
    /// Recognises a repeat by its key.
    public static let keyed = Traits(.keyed)
    /// Never sent again once begun.
    public static let once = Traits(.once)

    /// The same traits with a summary.
    public func summary(_ text: String) -> Traits {
        var copy = self
        copy.summary = text
        return copy
    }

    /// The same traits with a lane.
    public func lane(_ name: String) -> Traits {
        var copy = self
        copy.lane = name
        return copy
    }

    /// The same traits with other limits, in milliseconds.
    public func limits(attempt: UInt32, deadline: UInt32) -> Traits {
        var copy = self
        copy.attempt = attempt
        copy.deadline = deadline
        return copy
    }
}

/// The set of symbols that one device promises to answer.
public struct Port: Sendable, Hashable {
    /// The names, in the order in which they were given.
    public let symbols: [String]

    /// The port of these names.
    public init(_ symbols: [String]) {
        self.symbols = symbols
    }
}
