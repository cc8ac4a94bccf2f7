import Contract
import FoundationEssentials

/// `Compute.Slideshow.append`: a slideshow and the photos that follow its last slide.
enum PhotoAppending {
    /// Photos that are shown already are left out, so that doing it
    /// again, or after somebody else did, adds nothing twice.
    static func append(_ input: AppendPhotos) -> Slideshow {
        var slideshow = input.slideshow
        var present = Set(slideshow.slides.map { PathBytes($0.photo) })
        slideshow.addSlides(of: input.photos.filter { present.insert(PathBytes($0)).inserted })
        return slideshow
    }
}

extension Slideshow {
    /// Adds a slide for each photo. A photo may be shown more than once: each slide takes the first
    /// ordinal of its photo whose id is free.
    mutating func addSlides(of photos: [String]) {
        var taken = Set(slides.map(\.id))
        var ordinals: [PathBytes: Int] = [:]
        slides.reserveCapacity(slides.count + photos.count)
        for photo in photos {
            var ordinal = ordinals[PathBytes(photo), default: 0]
            var slide = SlideID.derived(slideshow: id, photo: photo, ordinal: ordinal)
            while !taken.insert(slide).inserted {
                ordinal += 1
                slide = SlideID.derived(slideshow: id, photo: photo, ordinal: ordinal)
            }
            ordinals[PathBytes(photo)] = ordinal + 1
            slides.append(
                Slide(id: slide, photo: photo, order: slides.count, duration: config.duration))
        }
        number()
    }

    /// Makes `order` count from 0 without gaps.
    mutating func number() {
        for index in slides.indices { slides[index].order = index }
    }
}

/// A path as the file system tells paths apart. Text compares by canonical equivalence, which would
/// take two files for one when their names differ only in how an accent is written.
struct PathBytes: Hashable {
    private let bytes: [UInt8]

    init(_ path: String) {
        bytes = Array(path.utf8)
    }
}
