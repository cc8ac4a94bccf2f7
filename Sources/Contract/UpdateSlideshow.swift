public import FoundationEssentials

/// Asks for a change of one slideshow. What is left out stays as it is; the parts apply in the
/// order of the properties' documentation: name, removal, titles, order.
public struct UpdateSlideshow: Codable, Sendable, Equatable, Identifiable {
    /// The slideshow to change.
    public var id: UUID
    /// The new name.
    public var name: String?
    /// The ids of all slides that remain, in their new order.
    public var order: [UUID]?
    /// The ids of slides to drop; one that is gone already is no error.
    public var remove: [UUID]?
    /// New titles of slides that remain.
    public var titles: [SlideTitle]?

    /// Makes a request; nothing in it is checked here.
    public init(
        id: UUID, name: String? = nil, order: [UUID]? = nil, remove: [UUID]? = nil,
        titles: [SlideTitle]? = nil
    ) {
        self.id = id
        self.name = name
        self.order = order
        self.remove = remove
        self.titles = titles
    }
}

/// The title that a slide gets.
public struct SlideTitle: Codable, Sendable, Equatable {
    /// The id of the slide.
    public var slide: UUID
    /// No title, or one of spaces only, takes the slide's title away.
    public var title: String?

    /// Makes a title; nothing in it is checked here.
    public init(slide: UUID, title: String?) {
        self.slide = slide
        self.title = title
    }
}

/// A slideshow and what to change of it; the input of `Compute.Slideshow.update`.
public struct SlideshowChange: Codable, Sendable, Equatable {
    /// The slideshow as it stands.
    public var slideshow: Slideshow
    /// What to change.
    public var update: UpdateSlideshow

    /// Pairs the slideshow with its change.
    public init(slideshow: Slideshow, update: UpdateSlideshow) {
        self.slideshow = slideshow
        self.update = update
    }
}
