import Contract
import FoundationEssentials

/// `Compute.Slideshow.update` and `Compute.Slideshow.applyConfig`.
enum SlideshowUpdate {
    static func update(_ change: SlideshowChange) throws(ApplicationError) -> Slideshow {
        var slideshow = change.slideshow
        if let name = change.update.name { slideshow.name = try SlideshowText.name(name) }
        if let removed = change.update.remove {
            let removed = Set(removed)
            slideshow.slides.removeAll { removed.contains($0.id) }
        }
        if let titles = change.update.titles { try set(titles, in: &slideshow) }
        if let order = change.update.order { try arrange(&slideshow, by: order) }
        slideshow.number()
        return slideshow
    }

    /// The new duration also goes to every slide that had the old one: those were never given one
    /// of their own.
    static func applyConfig(_ change: ConfigChange) -> Slideshow {
        var slideshow = change.slideshow
        let before = slideshow.config.duration
        if let duration = change.update.duration {
            slideshow.config.duration = duration
            for index in slideshow.slides.indices where slideshow.slides[index].duration == before {
                slideshow.slides[index].duration = duration
            }
        }
        if let transition = change.update.transition { slideshow.config.transition = transition }
        if let loop = change.update.loop { slideshow.config.loop = loop }
        return slideshow
    }

    private static func set(_ titles: [SlideTitle], in slideshow: inout Slideshow)
        throws(ApplicationError)
    {
        let positions = positions(in: slideshow)
        for title in titles {
            guard let index = positions[title.slide] else {
                throw ApplicationError(
                    code: ApplicationError.Code.notFound,
                    message: "There is no slide \(text(title.slide)) in \"\(slideshow.name)\".")
            }
            slideshow.slides[index].title = try SlideshowText.title(title.title)
        }
    }

    private static func arrange(_ slideshow: inout Slideshow, by order: [UUID])
        throws(ApplicationError)
    {
        let positions = positions(in: slideshow)
        var seen: Set<UUID> = []
        var slides: [Slide] = []
        for id in order {
            guard let index = positions[id] else {
                throw invalidOrder("slide \(text(id)) is not there")
            }
            guard seen.insert(id).inserted else {
                throw invalidOrder("slide \(text(id)) stands twice")
            }
            slides.append(slideshow.slides[index])
        }
        guard slides.count == slideshow.slides.count else {
            throw invalidOrder("it names \(slides.count) of \(slideshow.slides.count) slides")
        }
        slideshow.slides = slides
    }

    private static func positions(in slideshow: Slideshow) -> [UUID: Int] {
        Dictionary(
            slideshow.slides.enumerated().map { ($1.id, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func invalidOrder(_ flaw: String) -> ApplicationError {
        ApplicationError(
            code: ApplicationError.Code.invalidOrder,
            message: "The order must name each slide once, but \(flaw).")
    }

    private static func text(_ id: UUID) -> String { id.uuidString.lowercased() }
}
