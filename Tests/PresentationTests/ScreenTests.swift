import Contract
import Foundation
import Presentation
import Testing

@Suite struct ScreenTests {
    private func expect(_ model: Model, _ grid: String) {
        let lines = grid.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(model.render().lines == lines)
    }

    @Test func `the library`() {
        var model = connected([summary(1), summary(2, "漢字 の旅", slides: 2_000), summary(3)])
        model.apply(.devices(threeDevices))
        _ = model.press(.down)
        expect(
            model,
            """
             Slideshows                                                        3 slideshows
              name                      slides  duration  transition  loop  created
              Show 1                         3  10 s      fade        loop  2026-11-30 06:41
            › 漢字 の旅                   2000  10 s      fade        loop  2026-11-30 06:42
              Show 3                         3  10 s      fade        loop  2026-11-30 06:43





             n new  enter open  ? help  q quit  e rename  d delete  D devices  r refresh
             ● compute ↻10  ● circuit ↻9  ✗ infrastructure failed ↻4
            """)
        let row = model.render()
        #expect(row[3, 0].style == .selection)
        #expect(row[3, 79].style == .selection)
        #expect(row[2, 5].style == .plain)
        #expect(row[11, 1].style == Style(.green))
        #expect(row[11, 30].style == Style(.red, .bold))
    }

    @Test func `a narrow library keeps its names`() {
        var model = connected(
            [summary(1, "A very long name indeed"), summary(2)], columns: 30, rows: 6)
        model.apply(.devices(threeDevices))
        expect(
            model,
            """
             Slideshows      2 slideshows
            › A very long name in…       3
              Show 2                     3


             ✗ infrastructure failed ↻4  …
            """)
    }

    @Test func `the smallest screen`() {
        var model = connected((1...9).map { summary($0) }, columns: 20, rows: 5)
        model.apply(.errors([ErrorNotice(code: "noPhotos", message: "none")]))
        model.apply(.connection(.away(nil)))
        expect(
            model,
            """
             Slide…  9 slidesh…
            › Show 1           3
             ✗ noPhotos: none x
             kernel away, reco…
             no devices known
            """)
    }

    @Test func `an open slideshow`() {
        var model = connected([summary(1, "Holiday")], rows: 10)
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1, "Holiday")))
        _ = model.press(.down)
        expect(
            model,
            """
             ‹ Holiday                                                             3 slides
             d duration 10 s  t transition fade  l loop on
               #  title                                 folder                      duration
               1  image1.jpg                            /photos/1                   10 s
            ›  2  The second                            /photos/1                   10 s
               3  image3.jpg                            /photos/1                   10 s


             esc back  a add photos  ? help  q quit  e rename  D devices  T time
             no devices known
            """)
        #expect(model.render()[3, 44].style == .dim)
    }

    @Test(
        arguments: [
            ([], " n new  enter open  ? help  q quit"),
            ([.character("n")], " enter send  esc cancel  tab next"),
            ([.character("d")], " y delete  n keep  ^C quit"),
            ([.character("D")], " R restart  esc back  x dismiss"),
            ([.character("?")], " esc back  ↑ ↓ scroll  ^C quit"),
            ([.character("n"), .escape], " n new  enter open  ? help  q quit"),
        ] as [([Key], String)])
    func `the keys that are named are those that work here`(_ keys: [Key], _ hints: String) {
        var model = connected([summary(1)], columns: 36, rows: 60)
        for key in keys { _ = model.handle(key) }
        #expect(model.render().lines[58] == hints)
    }

    @Test func `a form`() {
        var model = connected([], columns: 40, rows: 8)
        _ = model.press(.character("n"))
        model.type("Holi")
        expect(
            model,
            """
             Slideshows
            ┌─ New slideshow ──────────────────────┐
            │ Name    Holi                         │
            │ Folder                               │
            │ enter create  esc cancel  tab next   │
            └──────────────────────────────────────┘
             enter send  esc cancel  tab next
             no devices known
            """)
        #expect(model.render().cursor == Position(row: 2, column: 14))
        _ = model.press(.tab)
        #expect(model.render().cursor == Position(row: 3, column: 10))
        _ = model.press(.escape)
        #expect(model.render().cursor == nil)
    }

    @Test func `the question before a deletion`() {
        var model = connected([summary(1, "Holiday")], columns: 44, rows: 8)
        _ = model.press(.delete)
        #expect(model.render().lines[2].contains("Delete “Holiday” with 3 slides? The"))
        #expect(model.render().lines[4].contains("y delete  n keep"))
    }

    @Test func `the device panel`() {
        var model = connected([], columns: 104, rows: 8)
        model.apply(.devices(threeDevices))
        _ = model.press(.character("D"))
        let lines = model.render().lines
        #expect(lines[1].contains("name") && lines[1].contains("last exit"))
        #expect(lines[2].contains("compute") && lines[2].contains("71") && lines[2].contains("11"))
        #expect(lines[4].contains("✗ failed") && lines[4].contains("signal 11"))
    }

    @Test(arguments: [(0, 0), (1, 1), (19, 24), (80, 4), (3, 2)])
    func `a screen that is too small says so`(columns: Int, rows: Int) {
        let model = connected([summary(1)], columns: columns, rows: rows)
        let text = model.render().lines.joined()
        #expect("needs 20x5".hasPrefix(text.replacing("…", with: "")) || text.contains("…"))
        #expect(!text.contains("Show"))
    }

    @Test(arguments: [
        DeviceStatus.State.starting, .ready, .late, .draining, .waiting, .failed, .stopped, .done,
        .unkillable, .unknown("odd\u{1B}[2J"),
    ])
    func `each state of a device has a mark and a word`(state: DeviceStatus.State) {
        var model = connected([], columns: 40)
        model.apply(.devices([DeviceStatus(name: "one", state: state)]))
        let line = model.render().lines.last ?? ""
        #expect(line.contains("one"))
        #expect(state == .ready || line.contains(state.name.prefix(3)))
        #expect(DeviceStatus.State(state.name) == state)
        #expect(!line.contains("\u{1B}"))
    }

    @Test func `no escape of a name reaches the terminal`() {
        let evil = "\u{1B}[2J\u{1B}]0;x\u{7}\u{9B}31m\r\n\u{8}"
        var model = connected([summary(1, evil)], columns: 100, rows: 20)
        model.apply(.devices([DeviceStatus(name: evil, state: .init(evil), lastExit: evil)]))
        model.apply(.errors([ErrorNotice(code: evil, message: evil, symbol: evil)]))
        model.apply(.commandStarted(id: 1, .create(name: evil, folder: evil)))
        var models = [model]
        for key in [Key.character("e"), .character("d"), .character("D"), .character("?")] {
            var next = model
            _ = next.press(key)
            models.append(next)
        }
        _ = model.press(.enter)
        var open = slideshow(1, evil)
        open.slides[0].title = evil
        open.slides[1].photo = evil
        open.slides[2].photo = "/\(evil)/x"
        model.apply(.slideshow(open))
        models.append(model)
        model.apply(.slideshow(slideshow(2, evil)))
        model.apply(.connection(.away(evil)))
        models.append(model)
        #expect(models.count == 7)
        for model in models {
            var terminal = TinyTerminal(model.size)
            var renderer = Renderer()
            terminal.feed(renderer.bytes(for: model.render()))
            #expect(terminal.difference(from: model.render()) == [])
        }
    }

    @Test(arguments: [
        (0.0, 0, "1970-01-01 00:00"), (951_782_400, 0, "2000-02-29 00:00"),
        (-1, 0, "1969-12-31 23:59"), (1_796_020_859, 7_200, "2026-11-30 08:40"),
        (4_107_542_400, 0, "2100-03-01 00:00"), (.infinity, 0, "?"), (.nan, 0, "?"),
        (1e300, 0, "?"),
        (253_402_300_799, 0, "9999-12-31 23:59"), (253_402_300_799, 1, "?"),
    ])
    func `a time is shown by the calendar`(seconds: Double, offset: Int, text: String) {
        var summary = summary(1)
        summary.createdAt = Date(timeIntervalSince1970: seconds)
        let model = connected([summary], settings: Model.Settings(utcOffset: offset))
        #expect(model.render().lines[2].hasSuffix("  loop  " + text))
    }
}
