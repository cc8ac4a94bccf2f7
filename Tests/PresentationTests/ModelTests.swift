import Contract
import Presentation
import Testing

@Suite struct ModelTests {
    @Test(arguments: [
        (Key.character("q"), [Intent.quit]), (.control("c"), [.quit]), (.control("l"), [.redraw]),
        (.control("z"), [.suspend]), (.character("r"), [.refresh]), (.enter, [.open(id(2))]),
        (.right, [.open(id(2))]), (.character("n"), []), (.character("d"), []), (.escape, []),
        (.paste("q"), []), (.alt("q"), []), (.character("x"), []), (.function(9), []),
    ])
    func `a key of the library has its intent`(key: Key, intents: [Intent]) {
        var model = connected([summary(1), summary(2)])
        _ = model.press(.down)
        #expect(model.press(key) == intents)
    }

    @Test func `keys of an empty library ask for nothing that is not there`() {
        var model = connected([])
        #expect(model.press(.enter, .character("e"), .character("d"), .delete, .down) == [])
        #expect(model.overlay == nil)
    }

    @Test func `deleting asks first`() {
        var model = connected([summary(1), summary(2, "Holiday")])
        #expect(model.press(.down, .character("d"), .character("n")) == [])
        #expect(model.overlay == nil)
        #expect(model.press(.character("d"), .enter, .character("x")) == [])
        #expect(model.overlay == .confirmDelete(summary(2, "Holiday")))
        #expect(model.press(.character("y")) == [.delete(id(2))])
        _ = model.press(.character("d"))
        model.apply(.library([summary(1)], isLoading: false))
        #expect(model.overlay == nil)
    }

    @Test func `an opened slideshow is shown when the kernel has it`() {
        var model = connected([summary(1, "Holiday")])
        #expect(model.press(.enter) == [.open(id(1))])
        #expect(model.open?.phase == .opening)
        model.apply(.slideshow(slideshow(2)))
        #expect(model.open?.phase == .opening)
        model.apply(.slideshow(slideshow(1, "Holiday")))
        #expect(model.open?.phase == .current)
        #expect(model.press(.escape) == [.close])
        #expect(model.open == nil)
        _ = model.press(.enter)
        #expect(model.press(.left) == [.close])
    }

    @Test func `a closing that arrives late does not close what was opened again`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.commandStarted(id: 1, .open(id(1))))
        model.apply(.slideshow(slideshow(1)))
        model.apply(.commandFinished(id: 1, nil))
        #expect(model.press(.escape, .enter) == [.close, .open(id(1))])
        model.apply(.commandStarted(id: 2, .open(id(1))))
        #expect(model.open?.content != nil)
        model.apply(.slideshow(nil))
        #expect(model.open?.id == id(1))
        model.apply(.slideshow(slideshow(1)))
        model.apply(.commandFinished(id: 2, nil))
        #expect(model.open?.phase == .current)
        model.apply(.slideshow(nil))
        #expect(model.open == nil)
    }

    @Test func `what another client opens does not take this one along`() {
        var model = connected([summary(1, "Mine"), summary(2, "Theirs")])
        model.apply(.slideshow(slideshow(2, "Theirs")))
        #expect(model.open == nil)
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1, "Mine")))
        model.apply(.slideshow(slideshow(2, "Theirs")))
        #expect(model.open?.phase == .elsewhere("Theirs"))
        #expect(model.open?.content?.name == "Mine")
        #expect(model.render().lines[1].contains("“Theirs” was opened on another screen"))
        #expect(model.press(.enter) == [.open(id(1))])
        model.apply(.slideshow(slideshow(1, "Mine")))
        model.apply(.slideshow(slideshow(2, "Theirs")))
        #expect(model.press(.escape) == [])
        #expect(model.open == nil)
    }

    @Test func `an opening that fails leads back and says why`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.commandStarted(id: 4, .open(id(1))))
        model.apply(.commandFinished(id: 4, ErrorNotice(code: "notFound", message: "gone")))
        #expect(model.open == nil)
        #expect(model.notice?.code == "notFound")
    }

    @Test func `configuration keys go on from the last choice`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        #expect(model.press(.character("d")) == [])
        model.apply(.slideshow(slideshow(1)))
        #expect(
            model.press(.character("d"), .character("d"), .character("t"), .character("l"))
                == [
                    .setDuration(id(1), .fifteen), .setDuration(id(1), .thirty),
                    .setTransition(id(1), .slide), .setLoop(id(1), false),
                ])
        #expect(model.render().lines[1] == " d duration 30 s  t transition slide  l loop off")
        let chosen = Config(duration: .thirty, transition: .slide, loop: false)
        model.apply(.slideshow(slideshow(1, config: chosen)))
        #expect(model.open?.draft == nil)
        for _ in 0..<Config.Duration.allCases.count { _ = model.press(.character("d")) }
        #expect(model.open?.config == chosen)
    }

    @Test func `a choice that was refused is taken back`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1)))
        let intents = model.press(.character("t"), .character("t"))
        for (number, intent) in intents.enumerated() {
            model.apply(.commandStarted(id: UInt64(number), intent))
        }
        let error = ErrorNotice(code: "storage", message: "disk full")
        model.apply(.commandFinished(id: 0, error))
        #expect(model.open?.config?.transition == .dissolve)
        model.apply(.commandFinished(id: 1, error))
        #expect(model.open?.config?.transition == .fade)
    }

    @Test func `a failed device is restarted from the panel`() {
        var model = connected([])
        model.apply(.devices(threeDevices))
        #expect(
            model.press(.character("D"), .end, .character("R")) == [
                .restart(device: "infrastructure")
            ])
        model.apply(.devices(Array(threeDevices.reversed())))
        #expect(model.press(.character("R")) == [.restart(device: "infrastructure")])
        #expect(model.press(.escape, .character("R")) == [])
        model.apply(.devices([]))
        #expect(model.press(.character("D"), .character("R")) == [])
    }

    @Test func `help scrolls and closes`() {
        var model = connected([], rows: 8)
        _ = model.press(.character("?"))
        let first = model.render().lines
        _ = model.press(.down, .pageDown)
        #expect(model.render().lines != first)
        _ = model.press(.end, .down, .down)
        let last = model.render().lines
        _ = model.press(.up, .down)
        #expect(model.render().lines == last)
        #expect(model.press(.home, .up, .escape) == [])
        #expect(model.overlay == nil)
    }

    @Test func `a screen that is too small takes no blind keys`() {
        var model = connected([summary(1)], columns: 19, rows: 24)
        #expect(model.press(.enter, .character("d"), .character("y"), .character("r")) == [])
        #expect(model.press(.character("q")) == [.quit])
        #expect(model.press(.control("c")) == [.quit])
    }

    @Test(arguments: [21, 22, 23])
    func `random keys and events in any size never trap`(seed: UInt64) {
        var random = SplitMix(state: seed)
        let keys: [Key] =
            "ndeytlaDRxr?qjkgG hoq/".map { Key.character($0) } + [
                .enter, .escape, .tab, .backTab, .up, .down, .left, .right, .home, .end, .pageUp,
                .pageDown, .delete, .backspace, .paste("/x\u{1B}[2J漢"), .control("w"), .insert,
            ]
        var model = connected((1...30).map { summary($0, "漢字 \u{1B}[31m \($0)") })
        for step in 0..<3_000 {
            let number = Int.random(in: 0...30, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0:
                let size = Size(
                    columns: Int.random(in: 0...90, using: &random),
                    rows: Int.random(in: 0...30, using: &random))
                model.apply(.resize(size))
            case 1:
                model.apply(.library((0..<number).map { summary($0) }, isLoading: number % 2 == 0))
            case 2: model.apply(.slideshow(number < 5 ? nil : slideshow(number, slides: number)))
            case 3: model.apply(.connection(number < 10 ? .away("x") : .connected))
            case 4: model.apply(.devices(Array(threeDevices.prefix(number % 4))))
            case 5:
                model.apply(
                    .errors((0..<number % 3).map { ErrorNotice(code: "c\($0)", message: "m") }))
            case 6: model.apply(.commandFinished(id: UInt64(number), nil))
            default:
                for intent in model.handle(keys.randomElement(using: &random) ?? .enter) {
                    model.apply(.commandStarted(id: UInt64(number), intent))
                }
            }
            if step % 3 == 0 { #expect(model.render().size == model.size) }
        }
    }
}
