public import FoundationEssentials

/// Asks for another way of showing one slideshow. What is left out stays as it is.
public struct UpdateConfig: Codable, Sendable, Equatable, Identifiable {
    /// The slideshow to change.
    public var id: UUID
    /// How long each slide stays that has no duration of its own.
    public var duration: Config.Duration?
    /// How one slide becomes the next.
    public var transition: Config.Transition?
    /// Whether the first slide follows the last one.
    public var loop: Bool?

    /// Makes a request; every combination is valid.
    public init(
        id: UUID, duration: Config.Duration? = nil, transition: Config.Transition? = nil,
        loop: Bool? = nil
    ) {
        self.id = id
        self.duration = duration
        self.transition = transition
        self.loop = loop
    }
}

/// A slideshow and its new configuration; the input of `Compute.Slideshow.applyConfig`.
public struct ConfigChange: Codable, Sendable, Equatable {
    /// The slideshow as it stands.
    public var slideshow: Slideshow
    /// What to change.
    public var update: UpdateConfig

    /// Pairs the slideshow with its change.
    public init(slideshow: Slideshow, update: UpdateConfig) {
        self.slideshow = slideshow
        self.update = update
    }
}
