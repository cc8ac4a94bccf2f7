public import FoundationEssentials

/// Asks for more photos in a slideshow.
public struct AddPhotos: Codable, Sendable, Equatable, Identifiable {
    /// The slideshow that gets them.
    public var id: UUID
    /// Absolute paths of image files, or of folders that are searched for them.
    public var photos: [String]

    /// Makes a request; nothing in it is checked here.
    public init(id: UUID, photos: [String]) {
        self.id = id
        self.photos = photos
    }
}

/// A slideshow and the files that follow its last slide; the input of `Compute.Slideshow.append`.
public struct AppendPhotos: Codable, Sendable, Equatable {
    /// The slideshow as it stands.
    public var slideshow: Slideshow
    /// Files that the slideshow shows already are left out.
    public var photos: [String]

    /// Pairs the slideshow with its new files.
    public init(slideshow: Slideshow, photos: [String]) {
        self.slideshow = slideshow
        self.photos = photos
    }
}

/// Paths to choose from; the input of `Compute.Photos.select`, whose output is the chosen ones.
public struct SelectPhotos: Codable, Sendable, Equatable {
    /// What is there already and therefore dropped.
    public var present: [String]
    /// What to choose from, in any order.
    public var candidates: [String]

    /// Makes an input; every combination is valid.
    public init(present: [String], candidates: [String]) {
        self.present = present
        self.candidates = candidates
    }
}

/// Asks for the next image files under some paths; the input of `Infrastructure.Photos.scan`.
public struct ScanPhotos: Codable, Sendable, Equatable {
    /// Absolute paths of files or folders; the same for every page of one scan.
    public var paths: [String]
    /// The cursor of the page before, or nothing for the first page.
    public var cursor: String?

    /// Makes a request; nothing in it is checked here.
    public init(paths: [String], cursor: String? = nil) {
        self.paths = paths
        self.cursor = cursor
    }
}

/// Some of the image files that a scan finds. A page may be empty and still have a cursor.
public struct PhotoPage: Codable, Sendable, Equatable {
    /// Absolute paths, in the order of the walk.
    public var photos: [String]
    /// Where the next page starts; opaque. Nothing when this page is the last.
    public var cursor: String?

    /// Makes a page.
    public init(photos: [String], cursor: String?) {
        self.photos = photos
        self.cursor = cursor
    }
}
