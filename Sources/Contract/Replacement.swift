/// A changed slideshow and what it was made of; the input of `Infrastructure.Slideshow.replace`.
public struct Replacement: Codable, Sendable, Equatable {
    /// What was read.
    public var base: Slideshow
    /// What is to be stored.
    public var changed: Slideshow

    /// Makes a replacement; both have the same id.
    public init(base: Slideshow, changed: Slideshow) {
        self.base = base
        self.changed = changed
    }
}
