import Contract
import FoundationEssentials

/// `Compute.Slideshow.create`: everything that a slideshow is made of, made into one.
enum SlideshowCreation {
    static func create(_ new: NewSlideshow) throws(ApplicationError) -> Slideshow {
        let name = try SlideshowText.name(new.name)
        guard !new.photos.isEmpty else {
            throw ApplicationError(
                code: ApplicationError.Code.noPhotos,
                message: "No photo was found for the slideshow \"\(name)\"; "
                    + "give files or folders with images (\(PhotoFormat.names)).")
        }
        var slideshow = Slideshow(
            id: new.id, name: name, slides: [], config: new.config, createdAt: new.createdAt)
        slideshow.addSlides(of: new.photos)
        return slideshow
    }
}

extension PhotoFormat {
    /// For messages to a person.
    static var names: String { allCases.map(\.rawValue).joined(separator: " ") }
}
