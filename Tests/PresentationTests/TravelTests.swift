import Contract
import Foundation
import Presentation
import Testing

/// The past on the screen: it moves by keys, refuses what would change something, and the screen is
/// as it was when the user returns.
@Suite struct TravelTests {
    private func moment(
        _ revision: UInt64, isOldest: Bool = false, isLatest: Bool = false
    ) -> Travel.Moment {
        Travel.Moment(
            revision: revision, at: Date(timeIntervalSince1970: 1_796_020_805),
            symbol: "Circuit.Slideshow.create#6", device: "circuit", isOldest: isOldest,
            isLatest: isLatest)
    }

    private func travelling(_ library: [SlideshowSummary], rows: Int = 12) -> Model {
        var model = connected(library, rows: rows)
        #expect(model.press(.character("T")) == [.travel(steps: 0)])
        model.apply(.commandStarted(id: 1, .travel(steps: 0)))
        model.apply(.travelled(moment(9, isLatest: true)))
        model.apply(.commandFinished(id: 1, nil))
        return model
    }

    static let keys: [(Key, [Intent])] = [
        (.left, [.travel(steps: -1)]), (.character("h"), [.travel(steps: -1)]),
        (.right, [.travel(steps: 1)]), (.character("l"), [.travel(steps: 1)]),
        (.pageUp, [.travel(steps: -10)]), (.wordLeft, [.travel(steps: -10)]),
        (.pageDown, [.travel(steps: 10)]), (.wordRight, [.travel(steps: 10)]),
        (.home, [.travel(steps: .min)]), (.end, [.travel(steps: .max)]),
        (.escape, [.present]), (.character("T"), [.present]), (.character("q"), [.quit]),
        (.control("c"), [.quit]), (.control("l"), [.redraw]), (.control("z"), [.suspend]),
        (.down, []), (.up, []), (.character("j"), []), (.character("x"), []),
    ]

    @Test(arguments: 0..<keys.count)
    func `a key of the past has its intent`(_ index: Int) {
        let (key, intents) = Self.keys[index]
        var model = travelling([summary(1), summary(2)])
        #expect(model.press(key) == intents)
        #expect(model.notice == nil)
        #expect(model.travel != nil)
    }

    @Test(arguments: [
        Key.character("n"), .character("e"), .character("d"), .delete, .insert, .enter,
        .character("r"), .character("o"), .character("t"), .character("a"), .function(2),
        .function(5), .backspace, .paste("n"),
    ])
    func `a key that would change something is refused with a hint`(_ key: Key) {
        var model = travelling([summary(1), summary(2)])
        #expect(model.press(key) == [])
        #expect(model.overlay == nil)
        #expect(model.notice?.code == "past")
        #expect(model.notice?.message.contains("esc") == true)
        #expect(model.press(key) == [])
        #expect(model.press(.character("x")) == [])
        #expect(model.notice == nil)
    }

    @Test func `a restart is refused in the past, too`() {
        var model = travelling([summary(1)])
        model.apply(.devices(threeDevices))
        #expect(model.press(.character("D"), .character("R")) == [])
        #expect(model.notice?.code == "past")
        #expect(model.press(.escape) == [])
        #expect(model.overlay == nil && model.travel != nil)
    }

    @Test func `the screen says which revision, when and by whom`() {
        var model = travelling([summary(1), summary(2)])
        #expect(
            model.render().lines[9].hasPrefix(
                " ◷ revision 9 (latest) · 2026-11-30 06:40:05 · Circuit.Slideshow.create (c"))
        model.apply(.travelled(moment(3, isOldest: true)))
        model.apply(.library([summary(1)], isLoading: true))
        let lines = model.render().lines
        #expect(lines[9].contains("revision 3") && lines[9].contains("(oldest)"))
        #expect(lines[10].hasPrefix(" ← → step  esc present"))
        #expect(!lines.contains { $0.contains("Show 2") })
        model.apply(
            .travelled(
                Travel.Moment(
                    revision: 0, at: nil, symbol: nil, device: nil, isOldest: true,
                    isLatest: false)))
        #expect(model.render().lines[9].hasPrefix(" ◷ revision 0 (oldest)"))
        #expect(model.render().lines[9].hasSuffix("esc present"))
    }

    @Test func `the present is as it was left`() {
        var model = connected([summary(1), summary(2), summary(3)])
        _ = model.press(.down, .down, .character("T"))
        #expect(model.render().lines[9].contains("going to the past"))
        model.apply(.travelled(moment(9)))
        model.apply(.library([summary(1)], isLoading: false))
        #expect(model.library.selected?.id == id(1))
        _ = model.press(.character("n"))
        model.apply(.library([summary(1), summary(2), summary(3), summary(4)], isLoading: false))
        model.apply(.present)
        #expect(model.travel == nil)
        #expect(model.library.selected?.id == id(3))
        #expect(model.notice == nil)
        #expect(model.press(.character("r")) == [.refresh])
    }

    @Test func `a slideshow is shown while it was open, and is open again afterwards`() {
        var model = connected([summary(1), summary(2)])
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1, slides: 5)))
        _ = model.press(.down, .down, .down, .character("T"))
        model.apply(.travelled(moment(9)))
        model.apply(.slideshow(slideshow(1, slides: 2)))
        #expect(model.open?.content?.slides.count == 2)
        for past in [nil, slideshow(2)] {
            model.apply(.slideshow(past))
            #expect(model.open == nil)
            #expect(model.press(.enter) == [])
        }
        model.apply(.slideshow(slideshow(1, slides: 1)))
        #expect(model.open?.id == id(1))
        #expect(model.press(.left) == [.travel(steps: -1)])
        model.apply(.slideshow(nil))
        model.apply(.slideshow(slideshow(1, slides: 6)))
        model.apply(.present)
        #expect(model.open?.content?.slides.count == 6)
        #expect(model.open?.cursor.index == 3)
        #expect(model.press(.escape) == [.close])
    }

    @Test func `who is sent back, or loses the kernel, is in the present`() {
        var model = travelling([summary(1)])
        model.apply(.present)
        #expect(model.travel == nil)
        #expect(model.press(.character("T"), .left) == [.travel(steps: 0), .travel(steps: -1)])
        model.apply(.connection(.away(nil)))
        #expect(model.travel == nil)
        #expect(model.press(.character("T")) == [])
        #expect(model.travel == nil)
        #expect(model.notice?.code == "away")
    }

    @Test func `who loses the kernel sees the present that was known last`() {
        var model = travelling([summary(1), summary(2)])
        model.apply(.library([summary(1)], isLoading: false))
        #expect(model.library.rows.count == 1)
        model.apply(.connection(.away(nil)))
        #expect(model.library.rows.map(\.id) == [id(1), id(2)])
        model.apply(.connection(.connected))
        #expect(model.library.rows.map(\.id) == [id(1), id(2)])
    }

    @Test func `a way that does not lead there leaves the user where they are`() {
        var model = connected([summary(1)])
        _ = model.press(.character("T"))
        model.apply(.commandStarted(id: 1, .travel(steps: 0)))
        let gone = ErrorNotice(code: "unavailable", message: "not kept")
        model.apply(.commandFinished(id: 1, gone))
        #expect(model.travel == nil)
        #expect(model.notice == gone)
        _ = model.press(.character("x"))
        var there = travelling([summary(1)])
        there.apply(.commandStarted(id: 2, .travel(steps: -1)))
        there.apply(.commandFinished(id: 2, gone))
        #expect(there.travel?.moment?.revision == 9)
        #expect(there.notice == gone)
        there.apply(.commandStarted(id: 3, .present))
        there.apply(.commandFinished(id: 3, gone))
        #expect(there.travel != nil)
    }
}
