import Contract
import FoundationEssentials

/// `Compute.Slideshow.create`: everything that a slideshow is made of, made into one.
enum SlideshowCreation {
    static func create(_ new: NewSlideshow) throws(ApplicationError) -> Slideshow {
        let name = try SlideshowText.name(new.name)
        var slideshow = Slideshow(
            id: new.id, name: name, slides: [], config: new.config, createdAt: new.createdAt)
        slideshow.addSlides(of: new.photos)
        return slideshow
    }
}
