import Contract
import FoundationEssentials
import Testing

@testable import Compute

struct UpdateTests {
    /// The update of a slideshow with the photos a, b and c.
    private func updated(
        _ change: (inout UpdateSlideshow, [UUID]) -> Void
    ) throws -> Slideshow {
        let base = try slideshow()
        var update = UpdateSlideshow(id: base.id)
        change(&update, base.slides.map(\.id))
        return try SlideshowUpdate.update(SlideshowChange(slideshow: base, update: update))
    }

    @Test func `an empty update changes nothing`() throws {
        #expect(try updated { _, _ in } == slideshow())
    }

    @Test func `a new name is trimmed and checked`() throws {
        #expect(try updated { update, _ in update.name = " W " }.name == "W")
        #expect(
            code { _ = try updated { update, _ in update.name = " " } }
                == ApplicationError.Code.invalidName)
    }

    @Test func `slides follow the new order and are numbered again`() throws {
        let made = try updated { update, ids in update.order = [ids[2], ids[0], ids[1]] }
        #expect(made.slides.map(\.photo) == ["/p/c.jpg", "/p/a.jpg", "/p/b.jpg"])
        #expect(made.slides.map(\.order) == [0, 1, 2])
    }

    @Test func `an order that is no permutation of what remains is refused`() throws {
        let ids = try slideshow().slides.map(\.id)
        let orders: [([UUID], remove: [UUID])] = [
            ([], []), ([ids[0]], []), ([ids[0], ids[1], ids[1]], []),
            ([ids[0], ids[1], ids[2], ids[2]], []), ([ids[0], ids[1], id(9)], []), (ids, [ids[0]]),
        ]
        for (order, remove) in orders {
            let refusal = code {
                _ = try updated { update, _ in
                    update.order = order
                    update.remove = remove
                }
            }
            #expect(refusal == ApplicationError.Code.invalidOrder)
        }
    }

    @Test func `removal closes the gap, and what is gone already is no error`() throws {
        let made = try updated { update, ids in update.remove = [ids[1], ids[1], id(9)] }
        #expect(made.slides.map(\.photo) == ["/p/a.jpg", "/p/c.jpg"])
        #expect(made.slides.map(\.order) == [0, 1])
        let both = try updated { update, ids in
            update.remove = [ids[0]]
            update.order = [ids[2], ids[1]]
        }
        #expect(both.slides.map(\.photo) == ["/p/c.jpg", "/p/b.jpg"])
    }

    @Test func `titles are set, trimmed and taken away`() throws {
        let base = try updated { update, ids in
            update.titles = [
                SlideTitle(slide: ids[0], title: " Beach "), SlideTitle(slide: ids[1], title: "x"),
            ]
        }
        #expect(base.slides.map(\.title) == ["Beach", "x", nil])
        let cleared = try SlideshowUpdate.update(
            SlideshowChange(
                slideshow: base,
                update: UpdateSlideshow(
                    id: base.id, titles: [SlideTitle(slide: base.slides[0].id, title: nil)])))
        #expect(cleared.slides.map(\.title) == [nil, "x", nil])
    }

    @Test func `a title for a slide that is not there is refused`() throws {
        #expect(
            code {
                _ = try updated { update, _ in
                    update.titles = [SlideTitle(slide: id(9), title: "x")]
                }
            } == ApplicationError.Code.notFound)
        #expect(
            code {
                _ = try updated { update, ids in
                    update.remove = [ids[0]]
                    update.titles = [SlideTitle(slide: ids[0], title: "x")]
                }
            } == ApplicationError.Code.notFound)
    }

    @Test func `a slideshow with doubled ids is reordered without a trap`() throws {
        var base = try slideshow()
        base.slides[1].id = base.slides[0].id
        let update = UpdateSlideshow(id: base.id, order: base.slides.map(\.id))
        #expect(
            code {
                _ = try SlideshowUpdate.update(SlideshowChange(slideshow: base, update: update))
            }
                == ApplicationError.Code.invalidOrder)
    }
}

struct ConfigTests {
    @Test func `a new duration goes to the slides that had the old one`() throws {
        var base = try slideshow()
        base.slides[1].duration = .sixty
        let made = SlideshowUpdate.applyConfig(
            ConfigChange(slideshow: base, update: UpdateConfig(id: base.id, duration: .manual)))
        #expect(made.config == Config(duration: .manual))
        #expect(made.slides.map(\.duration) == [.manual, .sixty, .manual])
    }

    @Test func `what is left out stays`() throws {
        let base = try slideshow()
        let made = SlideshowUpdate.applyConfig(
            ConfigChange(
                slideshow: base,
                update: UpdateConfig(id: base.id, transition: .dissolve, loop: false)))
        #expect(made.config == Config(duration: .ten, transition: .dissolve, loop: false))
        #expect(made.slides == base.slides)
        let same = SlideshowUpdate.applyConfig(
            ConfigChange(slideshow: base, update: UpdateConfig(id: base.id)))
        #expect(same == base)
    }
}

struct AppendTests {
    @Test func `new photos follow with the duration of the slideshow`() throws {
        var base = try slideshow(["/p/a.jpg"])
        base.config.duration = .five
        let made = PhotoAppending.append(
            AppendPhotos(slideshow: base, photos: ["/p/b.jpg", "/p/a.jpg", "/p/b.jpg", "/p/c.jpg"]))
        #expect(made.slides.map(\.photo) == ["/p/a.jpg", "/p/b.jpg", "/p/c.jpg"])
        #expect(made.slides.map(\.duration) == [.ten, .five, .five])
        #expect(made.slides.map(\.order) == [0, 1, 2])
    }

    @Test func `adding the same photos again changes nothing`() throws {
        let once = PhotoAppending.append(
            AppendPhotos(slideshow: try slideshow(), photos: ["/p/d.jpg"]))
        let twice = PhotoAppending.append(AppendPhotos(slideshow: once, photos: ["/p/d.jpg"]))
        #expect(once == twice)
        #expect(once.slides.count == 4)
    }

    @Test func `in pages or at once the ids are the same`() throws {
        let all = try slideshow((0..<600).map { "/p/\($0).jpg" })
        var paged = try slideshow((0..<256).map { "/p/\($0).jpg" })
        for page in [256..<512, 512..<600] {
            paged = PhotoAppending.append(
                AppendPhotos(slideshow: paged, photos: page.map { "/p/\($0).jpg" }))
        }
        #expect(all == paged)
    }
}
