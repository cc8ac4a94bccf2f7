import Contract
import FoundationEssentials
import Testing

@testable import Compute

/// A fixed id: the last byte is the argument.
func id(_ number: UInt8) -> UUID {
    UUID(uuid: (0xAA, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
}

func slideshow(_ photos: [String] = ["/p/a.jpg", "/p/b.jpg", "/p/c.jpg"]) throws -> Slideshow {
    try SlideshowCreation.create(
        NewSlideshow(
            id: id(1), name: "Summer", photos: photos, config: Config(),
            createdAt: Date(timeIntervalSince1970: 1)))
}

/// Runs the body and gives the code of the error that it throws.
func code(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ApplicationError)?.code ?? "another error: \(error)"
    }
}

struct SlideshowTextTests {
    @Test(arguments: [
        ("Summer", "Summer"), ("  Summer\n", "Summer"), ("\u{2003}a b\t", "a b"), ("é", "é"),
        ("👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"),
        (String(repeating: "x", count: 200), String(repeating: "x", count: 200)),
        (String(repeating: "🇩🇪", count: 200), String(repeating: "🇩🇪", count: 200)),
    ])
    func `a name is kept without the space around it`(text: String, name: String) throws {
        #expect(try SlideshowText.name(text) == name)
    }

    @Test(arguments: [
        "", " ", "\n\t", String(repeating: "x", count: 201), "a\nb", "a\u{0}b", "\u{1B}[2J",
        "a\u{7F}",
        "a\u{9B}31m", "a\u{2028}b", "\u{202E}gpj", "e" + String(repeating: "\u{301}", count: 3_000),
    ])
    func `a name that is empty, long or unsafe to show is refused`(text: String) {
        #expect(code { _ = try SlideshowText.name(text) } == ApplicationError.Code.invalidName)
    }

    @Test func `a message names the control character and shows none`() {
        let error = #expect(throws: ApplicationError.self) { try SlideshowText.name("a\u{1B}b") }
        #expect(error?.message.contains("U+001B") == true)
        #expect(error?.message.contains("\u{1B}") == false)
        #expect(error?.retry == false)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("  ", nil), (" Beach ", "Beach"),
        ] as [(String?, String?)])
    func `an empty title is none`(text: String?, title: String?) throws {
        #expect(try SlideshowText.title(text) == title)
    }

    @Test(arguments: ["a\nb", "\u{1B}", String(repeating: "x", count: 201)])
    func `a title that is long or unsafe to show is refused`(text: String) {
        #expect(code { _ = try SlideshowText.title(text) } == ApplicationError.Code.invalidTitle)
    }
}

struct CreationTests {
    @Test func `a slideshow has a slide for each photo in order`() throws {
        let config = Config(duration: .thirty, transition: .none, loop: false)
        let made = try SlideshowCreation.create(
            NewSlideshow(
                id: id(7), name: " N ", photos: ["/b.png", "/a.png"], config: config,
                createdAt: Date(timeIntervalSince1970: 5)))
        #expect(made.id == id(7))
        #expect(made.name == "N")
        #expect(made.config == config)
        #expect(made.createdAt == Date(timeIntervalSince1970: 5))
        #expect(made.slides.map(\.photo) == ["/b.png", "/a.png"])
        #expect(made.slides.map(\.order) == [0, 1])
        #expect(made.slides.allSatisfy { $0.duration == .thirty && $0.title == nil })
    }

    @Test func `a slideshow may begin without photos`() throws {
        #expect(try slideshow([]).slides.isEmpty)
    }

    @Test func `the same request gives the same slideshow`() throws {
        #expect(try slideshow() == slideshow())
    }

    @Test func `every slide has its own id, a repeated photo too`() throws {
        let photos = ["/a.jpg", "/a.jpg", "/A.jpg", "/\u{E9}.jpg", "/e\u{301}.jpg", "/a.jpg"]
        let ids = try slideshow(photos).slides.map(\.id)
        #expect(Set(ids).count == photos.count)
    }
}

struct SlideIDTests {
    /// Of the reference implementation of MurmurHash3 x64 128.
    @Test(
        arguments: [
            ("", 0, 0),
            ("hello", 0xcbd8_a7b3_41bd_9b02, 0x5b1e_906a_48ae_1d19),
            (
                "The quick brown fox jumps over the lazy dog", 0xe34b_bc7b_bc07_1b6c,
                0x7a43_3ca9_c49a_9347
            ),
        ] as [(String, UInt64, UInt64)])
    func `the hash is the published one`(text: String, first: UInt64, second: UInt64) {
        let hash = SlideID.hash(Array(text.utf8))
        #expect(hash == (first, second))
    }

    @Test func `an id is of version 8 and never changes between builds`() {
        let derived = SlideID.derived(slideshow: id(1), photo: "/p/a.jpg", ordinal: 0)
        let text = Array(derived.uuidString)
        #expect(text[14] == "8")
        #expect("89AB".contains(text[19]))
        #expect(derived.uuidString == "00E63FF5-26FD-83F2-8218-611CEDE42D13")
    }

    @Test func `slideshow, photo and ordinal each change the id`() {
        let ids = [
            SlideID.derived(slideshow: id(1), photo: "/a", ordinal: 0),
            SlideID.derived(slideshow: id(2), photo: "/a", ordinal: 0),
            SlideID.derived(slideshow: id(1), photo: "/b", ordinal: 0),
            SlideID.derived(slideshow: id(1), photo: "/a", ordinal: 1),
            SlideID.derived(slideshow: id(1), photo: "", ordinal: -1),
        ]
        #expect(Set(ids).count == ids.count)
    }

    @Test func `ten thousand photos have ten thousand ids`() throws {
        let ids = try slideshow((0..<10_000).map { "/p/img\($0).jpg" }).slides.map(\.id)
        #expect(Set(ids).count == 10_000)
    }
}
