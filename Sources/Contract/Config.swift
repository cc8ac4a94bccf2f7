/// How a slideshow is shown.
public struct Config: Codable, Sendable, Equatable {
    /// How long a slide stays, in seconds, or until the viewer goes on.
    public enum Duration: String, Codable, Sendable, CaseIterable {
        case five = "5"
        case ten = "10"
        case fifteen = "15"
        case thirty = "30"
        case sixty = "60"
        case manual
    }

    /// How one slide becomes the next.
    public enum Transition: String, Codable, Sendable, CaseIterable {
        case none
        case fade
        case slide
        case dissolve
    }

    /// How long a slide stays unless it says otherwise.
    public var duration: Duration
    /// How one slide becomes the next.
    public var transition: Transition
    /// Whether the first slide follows the last one.
    public var loop: Bool

    /// Makes a configuration; the defaults are those of a new library.
    public init(duration: Duration = .ten, transition: Transition = .fade, loop: Bool = true) {
        self.duration = duration
        self.transition = transition
        self.loop = loop
    }
}
