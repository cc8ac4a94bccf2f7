import Contract
import FoundationEssentials

/// A slideshow as the commands should have made it, and each change of the store on the way.
final class Album {
    /// A write of the slideshow's row.
    struct Write: Equatable, CustomStringConvertible {
        var kind: String
        var name: String
        var config: Config

        var description: String {
            "\(kind) \(name) \(config.duration.rawValue) \(config.transition.rawValue) "
                + "\(config.loop)"
        }
    }

    let id: UUID
    private(set) var show: Slideshow
    private(set) var writes: [Write]
    /// Slides whose ids the store has chosen and the model has not read yet.
    private(set) var hasUnknownSlides: Bool
    private(set) var isDeleted = false
    /// A command failed that should not: nobody knows what is stored.
    var isUnknown = false

    init(_ stored: Slideshow) {
        id = stored.id
        show = stored
        writes = [Write(kind: "insert", name: stored.name, config: stored.config)]
        hasUnknownSlides = !stored.slides.isEmpty
    }

    /// What a new slideshow of some photos is, but for the ids of its slides.
    static func made(
        _ id: UUID, _ name: String, _ photos: [String], _ config: Config, at date: Date
    ) -> Slideshow {
        var show = Slideshow(
            id: id, name: name, slides: [], config: config, createdAt: date, version: 1)
        append(photos, to: &show)
        return show
    }

    static func append(_ photos: [String], to show: inout Slideshow) {
        let present = Set(show.slides.map(\.photo))
        // All lie below one folder and have one digit, so that this is the natural order.
        for photo in photos.sorted() where !present.contains(photo) {
            show.slides.append(
                Slide(
                    id: noID, photo: photo, order: show.slides.count,
                    duration: show.config.duration))
        }
    }

    /// The store holds another slideshow now; if it is the same, nothing was written.
    func become(_ next: Slideshow) {
        guard next != show else { return }
        show = next
        writes.append(Write(kind: "update", name: next.name, config: next.config))
        if next.slides.contains(where: { $0.id == noID }) {
            hasUnknownSlides = true
        }
    }

    func delete() {
        isDeleted = true
        writes.append(Write(kind: "delete", name: show.name, config: show.config))
    }

    /// Takes over the ids that the store has chosen, if everything else is as it should be.
    func learn(_ stored: Slideshow) -> Bool {
        guard stored.slides.count == show.slides.count else { return false }
        var known = show
        for index in known.slides.indices where known.slides[index].id == noID {
            known.slides[index].id = stored.slides[index].id
        }
        guard known == stored else { return false }
        show = known
        hasUnknownSlides = false
        return true
    }
}

/// The id of a slide that the model has not read yet.
private let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

/// The changes of one slideshow, as Compute should make them.
enum Expected {
    static func update(_ show: Slideshow, _ update: UpdateSlideshow) -> Slideshow {
        var show = show
        if let name = update.name { show.name = name }
        let removed = Set(update.remove ?? [])
        show.slides.removeAll { removed.contains($0.id) }
        for title in update.titles ?? [] {
            for index in show.slides.indices where show.slides[index].id == title.slide {
                show.slides[index].title = title.title
            }
        }
        if let order = update.order {
            show.slides = order.compactMap { id in show.slides.first { $0.id == id } }
        }
        for index in show.slides.indices { show.slides[index].order = index }
        return show
    }

    static func configure(_ show: Slideshow, _ config: Config) -> Slideshow {
        var show = show
        for index in show.slides.indices
        where show.slides[index].duration == show.config.duration {
            show.slides[index].duration = config.duration
        }
        show.config = config
        return show
    }
}
