/// How a device answers one symbol: what it says of it at the handshake, and what the kernel goes
/// by.
package struct Binding: Sendable, Equatable {
    package var name: String
    package var traits: Traits
    /// The stages of a pipe; nil for a handler.
    package var stages: [StageDescriptor]?
    /// Whether the pipe has a `finally`.
    package var last: Bool
    /// The shapes of payload and output; empty when they are not told.
    package var takes: String
    package var gives: String

    package init(
        name: String, traits: Traits, stages: [StageDescriptor]?, last: Bool, takes: String = "",
        gives: String = ""
    ) {
        self.name = name
        self.traits = traits
        self.stages = stages
        self.last = last
        self.takes = takes
        self.gives = gives
    }

    /// The route of a pipe; nil for a handler.
    package var route: RouteDescriptor? {
        stages.map { RouteDescriptor(stages: $0, last: last, gives: gives) }
    }
}
