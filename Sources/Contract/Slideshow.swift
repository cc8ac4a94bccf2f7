public import FoundationEssentials

/// A named sequence of photos and how it is shown.
public struct Slideshow: Codable, Sendable, Equatable, Identifiable {
    /// The identity; it never changes.
    public var id: UUID
    /// The name, 1 to 200 characters.
    public var name: String
    /// In the order in which they are shown; `order` counts from 0 without gaps.
    public var slides: [Slide]
    /// How it is shown.
    public var config: Config
    /// When it was made.
    public var createdAt: Date
    /// Counts the times that it was stored, from 1; 0 before that. The store alone changes it: who
    /// changes a slideshow leaves the version of what was read, by which the store sees whether
    /// another change came first.
    public var version: Int

    /// Makes a slideshow of parts that are already valid.
    public init(
        id: UUID, name: String, slides: [Slide], config: Config, createdAt: Date, version: Int = 0
    ) {
        self.id = id
        self.name = name
        self.slides = slides
        self.config = config
        self.createdAt = createdAt
        self.version = version
    }

    /// The slideshow as the library lists it: free of slides and paths.
    public var summary: SlideshowSummary {
        SlideshowSummary(
            id: id, name: name, slideCount: slides.count, config: config, createdAt: createdAt,
            version: version)
    }
}

/// One photo of a slideshow.
public struct Slide: Codable, Sendable, Equatable, Identifiable {
    /// The identity; it never changes.
    public var id: UUID
    /// The path of the image file.
    public var photo: String
    /// The position in the slideshow, from 0.
    public var order: Int
    /// How long the slide stays.
    public var duration: Config.Duration
    /// What is shown with the photo, if anything.
    public var title: String?

    /// Makes a slide of parts that are already valid.
    public init(
        id: UUID, photo: String, order: Int, duration: Config.Duration, title: String? = nil
    ) {
        self.id = id
        self.photo = photo
        self.order = order
        self.duration = duration
        self.title = title
    }
}

/// A slideshow in the list of the library.
public struct SlideshowSummary: Codable, Sendable, Equatable, Identifiable {
    /// The identity; it never changes.
    public var id: UUID
    /// The name, 1 to 200 characters.
    public var name: String
    /// How many slides it has.
    public var slideCount: Int
    /// How it is shown.
    public var config: Config
    /// When it was made.
    public var createdAt: Date
    /// As that of the slideshow: of two summaries the one with the larger version is newer.
    public var version: Int

    /// Makes a summary of parts that are already valid.
    public init(
        id: UUID, name: String, slideCount: Int, config: Config, createdAt: Date, version: Int = 0
    ) {
        self.id = id
        self.name = name
        self.slideCount = slideCount
        self.config = config
        self.createdAt = createdAt
        self.version = version
    }
}
