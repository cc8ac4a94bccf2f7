/// A typed name of a channel: a log of events that may not be skipped.
///
/// Where a region converges on its latest value, a channel keeps every event: who follows it gets
/// all of them in order, each once, or is told which it has missed. Components may only publish;
/// the manifests say which symbol follows which channel, and clients read with a cursor.
///
///     let added = Channel<Photo>("Library.added")
public struct Channel<Event>: Sendable {
    /// The name in the manifest that declares it.
    public let name: String
    /// How an event travels.
    public let event: Coder<Event>

    /// A channel with a coder of its own.
    public init(_ name: String, event: Coder<Event>) {
        self.name = name
        self.event = event
    }
}

extension Channel where Event: Codable & SendableMetatype {
    /// A channel of `Codable` events.
    public init(_ name: String) {
        self.init(name, event: .codable)
    }
}

extension Channel where Event == Void {
    /// A channel of events that carry nothing.
    public init(_ name: String) {
        self.init(name, event: .void)
    }
}

/// Events of a channel that a reader has missed, because the channel keeps them no longer.
public struct ChannelGap: CodedError, Hashable, CustomStringConvertible {
    /// The channel's name.
    public var channel: String
    /// The numbers of the events.
    public var missed: ClosedRange<UInt64>

    /// A gap of its parts.
    public init(channel: String, missed: ClosedRange<UInt64>) {
        self.channel = channel
        self.missed = missed
    }

    /// `gap`.
    public var code: String { KernelError.Code.gap.rawValue }

    /// What is missing, and how to go on.
    public var message: String {
        "the events \(missed.lowerBound) to \(missed.upperBound) of \(channel) are no longer kept: "
            + "read on after \(missed.upperBound)"
    }

    /// Reading the same again fails in the same way.
    public var retry: Bool { false }

    /// `gap: message`.
    public var description: String { "\(code): \(message)" }
}
