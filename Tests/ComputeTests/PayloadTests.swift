import Contract
import FoundationEssentials
import Testing

/// The forms that scripts send and read.
struct PayloadTests {
    private func decoded<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static let uuid = "AA000000-0000-4000-8000-000000000001"

    @Test func `a create request needs id, name and photos only`() throws {
        let short = try decoded(
            CreateSlideshow.self, #"{"id":"\#(Self.uuid)","name":"N","photos":["/p"]}"#)
        #expect(short == CreateSlideshow(id: id(1), name: "N", photos: ["/p"]))
        let full = try decoded(
            CreateSlideshow.self,
            #"{"id":"\#(Self.uuid)","name":"N","photos":[],"duration":"manual","#
                + #""transition":"none","loop":false}"#)
        #expect(full.duration == .manual && full.transition == Config.Transition.none)
        #expect(full.loop == false)
    }

    @Test(arguments: [
        "{}", #"{"id":"x","name":"N","photos":[]}"#, #"{"id":"\#(uuid)","photos":[]}"#,
        #"{"id":"\#(uuid)","name":"N","photos":"/p"}"#,
        #"{"id":"\#(uuid)","name":"N","photos":[],"duration":"7"}"#,
        #"{"id":"\#(uuid)","name":"N","photos":[],"duration":5}"#,
    ])
    func `a create request of another form is refused`(text: String) {
        #expect(throws: DecodingError.self) { try decoded(CreateSlideshow.self, text) }
    }

    @Test func `an update leaves out what stays`() throws {
        let update = UpdateSlideshow(id: id(1), titles: [SlideTitle(slide: id(1), title: nil)])
        #expect(
            try json(update)
                == #"{"id":"\#(Self.uuid)","titles":[{"slide":"\#(Self.uuid)"}]}"#)
        #expect(try decoded(UpdateSlideshow.self, json(update)) == update)
    }

    @Test func `the initial regions are complete`() throws {
        #expect(try json(LibraryState.initial) == #"{"isLoading":false,"slideshows":[]}"#)
        #expect(try json(SlideshowState.initial) == #"{"slideshow":null}"#)
        #expect(try decoded(SlideshowState.self, #"{"slideshow":null}"#) == .initial)
    }

    @Test func `an open slideshow comes back`() throws {
        let state = SlideshowState(slideshow: try slideshow())
        #expect(try decoded(SlideshowState.self, json(state)) == state)
    }

    @Test func `a last page has no cursor`() throws {
        #expect(try json(PhotoPage(photos: ["a"], cursor: nil)) == #"{"photos":["a"]}"#)
        #expect(try decoded(ScanPhotos.self, #"{"paths":["/p"]}"#) == ScanPhotos(paths: ["/p"]))
    }
}
