import Contract
import Presentation
import Testing

@Suite struct ConnectionTests {
    private func names(_ model: Model) -> [String] { model.library.rows.map(\.name) }

    @Test func `the last known library stays until the new kernel has read its own`() {
        var model = connected([summary(1), summary(2)])
        model.apply(.connection(.away("closed")))
        let away = model.render()
        #expect(away.lines.contains { $0.contains("kernel away, reconnecting…") })
        #expect(away[2, 2].style.attributes.contains(.dim))
        #expect(model.apply(.connection(.connected)) == [.refresh])
        model.apply(.commandStarted(id: 1, .refresh))
        model.apply(.library([], isLoading: false))
        model.apply(.library([], isLoading: true))
        #expect(names(model) == ["Show 1", "Show 2"])
        model.apply(.library([summary(1)], isLoading: false))
        #expect(names(model) == ["Show 1"])
        #expect(!model.render()[2, 2].style.attributes.contains(.dim))
    }

    @Test(arguments: [60, 80, 120, 160])
    func `what to do while the kernel is away is never cut`(columns: Int) {
        var model = connected([summary(1)], columns: columns)
        model.apply(.devices(threeDevices))
        let path = String(repeating: "/long", count: 30)
        let reason = "no kernel named main runs: start it with `concentric up` (nobody at \(path))"
        model.apply(.connection(.away(reason)))
        let lines = model.render().lines
        #expect(lines.contains { $0.contains("kernel away, reconnecting…") })
        #expect(lines.contains { $0.contains("start it with `concentric up`") }, "\(lines)")
        #expect(lines.last?.hasPrefix(" ○ compute ↻10  ○ circuit ↻9  ○ infrastructure") == true)
        #expect(!lines.contains { $0.contains("●") || $0.contains("failed") })
        _ = model.press(.character("D"))
        #expect(model.render().lines.contains { $0.contains("○ unseen") })
        model.apply(.connection(.connected))
        #expect(model.render().lines.contains { $0.contains("● ready") })
    }

    @Test func `a kernel that is there and says nothing is told of until it does`() {
        var model = connected([summary(1)])
        func isTold(_ model: Model) -> Bool {
            model.render().lines.contains { $0.contains("does not answer: is it stopped?") }
        }
        model.apply(.silence(true))
        #expect(isTold(model))
        model.apply(.silence(false))
        #expect(!isTold(model))
        model.apply(.silence(true))
        model.apply(.connection(.away(nil)))
        model.apply(.connection(.connected))
        #expect(!isTold(model), "it is another connection")
    }

    @Test func `an empty library is believed when it was read`() {
        var model = Model(size: Size(columns: 60, rows: 10))
        #expect(model.render().lines.contains { $0.contains("connecting to the kernel…") })
        #expect(model.apply(.connection(.connected)) == [.refresh])
        model.apply(.library([], isLoading: false))
        #expect(model.render().lines.contains { $0.contains("loading…") })
        model.apply(.commandStarted(id: 1, .refresh))
        var failed = model
        failed.apply(.commandFinished(id: 1, ErrorNotice(code: "unavailable", message: "x")))
        #expect(failed.render().lines.contains { $0.contains("could not be read") })
        model.apply(.commandFinished(id: 1, nil))
        #expect(model.render().lines.contains { $0.contains("No slideshows yet") })
        #expect(model.render().lines.contains { $0.contains("Press n to make one") })
    }

    @Test func `what was open is opened again`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1)))
        model.apply(.connection(.away(nil)))
        #expect(model.open?.content != nil)
        #expect(model.apply(.connection(.connected)) == [.refresh, .open(id(1))])
        model.apply(.slideshow(nil))
        #expect(model.open?.content != nil)
        model.apply(.slideshow(slideshow(1, slides: 4)))
        #expect(model.open?.phase == .current)
        #expect(model.open?.content?.slides.count == 4)
    }

    @Test(arguments: [
        Key.enter, .character("r"),
    ])
    func `nothing is sent while the kernel is away and the user is told`(key: Key) {
        var model = connected([summary(1)])
        model.apply(.connection(.away(nil)))
        #expect(model.press(key, key) == [])
        #expect(model.open == nil)
        #expect(model.notice?.code == "away")
        #expect(model.press(.character("x")) == [])
        #expect(model.notice == nil)
        _ = model.press(key)
        let error = ErrorNotice(code: "storage", message: "disk full")
        model.apply(.errors([error]))
        model.apply(.connection(.connected))
        #expect(model.notice == error && model.noticeCount == 1, "it is not away any more")
        #expect(model.press(.control("z"), .character("q")) == [.suspend, .quit])
    }

    @Test func `a connection that was refused says why`() {
        var model = Model(size: Size(columns: 60, rows: 10))
        model.apply(.connection(.refused("kernel speaks 2, this client 1")))
        #expect(model.render().lines.contains { $0.contains("no connection: kernel speaks 2") })
    }

    @Test func `the newest error is shown until it is dismissed`() {
        var model = connected([])
        let first = ErrorNotice(code: "noPhotos", message: "none", symbol: "Circuit.create")
        let second = ErrorNotice(code: "storage", message: "disk full")
        model.apply(.errors([first]))
        #expect(model.notice == first)
        model.apply(.errors([first, second]))
        #expect(model.notice == second)
        model.apply(.commandFinished(id: 9, first))
        #expect(model.notice == first)
        #expect(
            model.render().lines.contains {
                $0.contains("✗ noPhotos: none (Circuit.create)  ") && $0.contains("+2  x dismiss")
            })
        #expect(model.press(.character("x")) == [])
        #expect(model.notice == second)
        #expect(model.press(.character("x")) == [.dismissError])
        #expect(model.notice == nil)
        #expect(model.press(.character("x")) == [])
    }

    @Test func `one failure told twice is dismissed once`() {
        var model = connected([])
        let own = ErrorNotice(code: "noPhotos", message: "none")
        model.apply(.commandFinished(id: 1, own))
        model.apply(.errors([ErrorNotice(code: "noPhotos", message: "none", symbol: "S")]))
        #expect(model.press(.character("x")) == [.dismissError])
        #expect(model.notice == nil)
    }

    @Test func `errors of own commands are kept in bounds`() {
        var model = connected([])
        for number in 0..<1_000 {
            model.apply(.commandFinished(id: 1, ErrorNotice(code: "e", message: "\(number)")))
        }
        var count = 0
        while model.notice != nil, count < 1_000 {
            _ = model.press(.character("x"))
            count += 1
        }
        #expect(count == 32)
    }

    @Test(arguments: [
        (Intent.create(name: "Holiday", folder: "/x"), "creating “Holiday”…"),
        (.rename(id(1), name: "B"), "renaming “Show 1”…"),
        (.delete(id(1)), "deleting “Show 1”…"), (.refresh, "reading the library…"),
        (.restart(device: "compute"), "restarting compute…"),
        (.addPhotos(id(1), path: "/x"), "adding photos to “Show 1”…"),
        (.delete(id(7)), "deleting “slideshow”…"),
    ])
    func `a command on its way is shown until it has ended`(intent: Intent, label: String) {
        var model = connected([summary(1)])
        model.apply(.commandStarted(id: 1, intent))
        #expect(model.render().lines[0].hasSuffix(label))
        model.apply(.commandStarted(id: 2, intent))
        #expect(model.activity == "\(label) (+1)")
        model.apply(.second)
        #expect(model.activity == "\(label) (+1)", "it is as fast as it should be")
        model.apply(.second)
        #expect(model.activity == "2 s  \(label) (+1)")
        model.apply(.commandFinished(id: 1, nil))
        model.apply(.commandFinished(id: 2, nil))
        model.apply(.commandFinished(id: 3, nil))
        #expect(model.activity == nil)
        model.apply(.second)
        model.apply(.commandStarted(id: 4, intent))
        #expect(model.activity == label)
    }
}
