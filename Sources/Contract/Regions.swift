/// The region with the list of the library. It holds no paths.
public struct LibraryState: Codable, Sendable, Equatable {
    /// By time of creation, then by name.
    public var slideshows: [SlideshowSummary]
    /// Whether the list is being read from the store.
    public var isLoading: Bool

    /// Makes a state.
    public init(slideshows: [SlideshowSummary], isLoading: Bool) {
        self.slideshows = slideshows
        self.isLoading = isLoading
    }

    /// Before anything was read.
    public static let initial = LibraryState(slideshows: [], isLoading: false)
}

/// The region with the open slideshow.
public struct SlideshowState: Codable, Sendable, Equatable {
    /// The slideshow that is open, if one is.
    public var slideshow: Slideshow?

    /// Makes a state.
    public init(slideshow: Slideshow?) {
        self.slideshow = slideshow
    }

    /// Nothing is open.
    public static let initial = SlideshowState(slideshow: nil)

    private enum CodingKeys: String, CodingKey {
        case slideshow
    }

    /// Writes `null` when nothing is open, where the synthesised form leaves the member out:
    /// readers and patches then always find it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(slideshow, forKey: .slideshow)
    }
}
