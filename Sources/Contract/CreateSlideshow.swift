public import FoundationEssentials

/// Asks for a new slideshow. The caller chooses the id: making the same id again changes nothing.
public struct CreateSlideshow: Codable, Sendable, Equatable, Identifiable {
    /// Chosen by the caller.
    public var id: UUID
    /// 1 to 200 characters.
    public var name: String
    /// Absolute paths of image files, or of folders that are searched for them.
    public var photos: [String]
    /// What is left out is taken from the configuration of the library.
    public var duration: Config.Duration?
    /// As `duration`.
    public var transition: Config.Transition?
    /// As `duration`.
    public var loop: Bool?

    /// Makes a request; nothing in it is checked here.
    public init(
        id: UUID, name: String, photos: [String], duration: Config.Duration? = nil,
        transition: Config.Transition? = nil, loop: Bool? = nil
    ) {
        self.id = id
        self.name = name
        self.photos = photos
        self.duration = duration
        self.transition = transition
        self.loop = loop
    }
}

/// Everything that a slideshow is made of; the input of `Compute.Slideshow.create`.
public struct NewSlideshow: Codable, Sendable, Equatable, Identifiable {
    /// As the request named it.
    public var id: UUID
    /// As the request spelt it; it is checked by the operation.
    public var name: String
    /// The selected image files, in the order in which they are shown.
    public var photos: [String]
    /// How it is shown.
    public var config: Config
    /// When the request was first delivered.
    public var createdAt: Date

    /// Makes an input; nothing in it is checked here.
    public init(id: UUID, name: String, photos: [String], config: Config, createdAt: Date) {
        self.id = id
        self.name = name
        self.photos = photos
        self.config = config
        self.createdAt = createdAt
    }
}
