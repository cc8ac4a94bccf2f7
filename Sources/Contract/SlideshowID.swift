public import FoundationEssentials

/// Names one slideshow: what open, delete and fetch ask for.
public struct SlideshowID: Codable, Sendable, Hashable, Identifiable {
    /// The id of the slideshow.
    public var id: UUID

    /// Wraps the id, so that payloads stay objects and can grow.
    public init(id: UUID) {
        self.id = id
    }
}
