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
    /// What lies under the paths and cannot be carried, on the way of this page.
    public var leftOut: LeftOut?

    /// Makes a page.
    public init(photos: [String], cursor: String?, leftOut: LeftOut? = nil) {
        self.photos = photos
        self.cursor = cursor
        self.leftOut = leftOut
    }
}

/// Image files and folders whose names are not UTF-8, so that no text can name them.
public struct LeftOut: Codable, Sendable, Equatable {
    /// How many; a folder counts as one, whatever it holds.
    public var count: Int
    /// The path of the first one, with U+FFFD for what is no text.
    public var first: String

    /// Makes a report.
    public init(count: Int, first: String) {
        self.count = count
        self.first = first
    }

    /// The error that tells people of them.
    public var error: ApplicationError {
        ApplicationError(
            code: ApplicationError.Code.leftOut,
            message: (count == 1 ? "\(first) was" : "\(first) and \(count - 1) more were")
                + " left out, for the name is not UTF-8: rename it and add it again")
    }
}
