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

    /// Makes a slideshow of parts that are already valid.
    public init(id: UUID, name: String, slides: [Slide], config: Config, createdAt: Date) {
        self.id = id
        self.name = name
        self.slides = slides
        self.config = config
        self.createdAt = createdAt
    }

    /// The slideshow as the library lists it: free of slides and paths.
    public var summary: SlideshowSummary {
        SlideshowSummary(
            id: id, name: name, slideCount: slides.count, config: config, createdAt: createdAt)
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

    /// Makes a summary of parts that are already valid.
    public init(id: UUID, name: String, slideCount: Int, config: Config, createdAt: Date) {
        self.id = id
        self.name = name
        self.slideCount = slideCount
        self.config = config
        self.createdAt = createdAt
    }
}
