/// What became of a changed slideshow; the output of `Infrastructure.Slideshow.replace`.
public struct Replacement: Codable, Sendable, Equatable {
    /// What is stored now, with its new version. Nothing when another change came first: the
    /// slideshow has another version now, or is gone.
    public var stored: Slideshow?

    /// Tells what is stored now.
    public init(stored: Slideshow?) {
        self.stored = stored
    }
}
