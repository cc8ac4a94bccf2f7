import Contract
import Presentation
import Testing

@Suite struct ListCursorTests {
    private func selected(_ model: Model) -> String? { model.library.selected?.name }

    /// The row of the screen with the selection.
    private func row(_ model: Model) -> Int? {
        model.render().lines.firstIndex { $0.hasPrefix("›") }
    }

    @Test func `the selection stays on its slideshow and its row while the list changes`() {
        var model = connected((1...100).map { summary($0) })
        for _ in 0..<50 { _ = model.press(.down) }
        #expect(selected(model) == "Show 51")
        let before = row(model)
        model.apply(
            .library(
                [summary(900), summary(901)] + (1...100).map { summary($0) }, isLoading: false))
        #expect(selected(model) == "Show 51")
        #expect(row(model) == before)
        model.apply(.library((30...100).map { summary($0) }, isLoading: false))
        #expect(selected(model) == "Show 51")
        #expect(row(model) == before)
        model.apply(.library((1...100).reversed().map { summary($0) }, isLoading: false))
        #expect(selected(model) == "Show 51")
        model.apply(.library([summary(51, "Renamed")], isLoading: false))
        #expect(selected(model) == "Renamed")
        #expect(row(model) == 2)
    }

    @Test func `the selection moves to a neighbour when its slideshow is gone`() {
        var model = connected((1...5).map { summary($0) })
        _ = model.press(.down, .down)
        model.apply(.library([1, 2, 4, 5].map { summary($0) }, isLoading: false))
        #expect(selected(model) == "Show 4")
        _ = model.press(.end)
        model.apply(.library([1, 2, 4].map { summary($0) }, isLoading: false))
        #expect(selected(model) == "Show 4")
        model.apply(.library([], isLoading: false))
        #expect(selected(model) == nil)
        _ = model.press(.down, .up, .pageDown, .end)
        model.apply(.library([summary(7)], isLoading: false))
        #expect(selected(model) == "Show 7")
    }

    @Test(arguments: [
        ([Key.down], 2), ([.character("j"), .character("j"), .character("k")], 2), ([.up], 1),
        ([.end], 3_000), ([.character("G"), .up], 2_999), ([.end, .home], 1), ([.pageDown], 9),
        ([.pageDown, .pageUp, .pageUp], 1), ([.end, .pageDown], 3_000), ([.character(" ")], 9),
        ([.control("d")], 5),
    ])
    func `keys move the selection and it stays on the screen`(keys: [Key], number: Int) {
        var model = connected((1...3_000).map { summary($0) })
        let intents = keys.flatMap { model.handle($0) }
        #expect(intents == [])
        #expect(selected(model) == "Show \(number)")
        #expect(row(model) != nil)
    }

    @Test func `growing the screen wastes no row`() {
        var model = connected((1...20).map { summary($0) }, rows: 10)
        _ = model.press(.end)
        model.apply(.resize(Size(columns: 80, rows: 30)))
        #expect(model.render().lines[2].contains("Show 1 "))
        model.apply(.resize(Size(columns: 80, rows: 9)))
        #expect(row(model) != nil)
        #expect(selected(model) == "Show 20")
    }

    @Test func `a slideshow that was made here is selected when it appears`() {
        var model = connected([summary(5)])
        model.apply(.commandStarted(id: 1, .create(name: "New", folder: "/x"), creates: id(9)))
        model.apply(.library([summary(5), summary(6)], isLoading: false))
        #expect(selected(model) == "Show 5")
        model.apply(.library([summary(5), summary(9), summary(6)], isLoading: false))
        #expect(selected(model) == "Show 9")
        model.apply(.commandStarted(id: 2, .create(name: "New", folder: "/x"), creates: id(10)))
        _ = model.press(.up)
        model.apply(.library([summary(5), summary(9), summary(10)], isLoading: false))
        #expect(selected(model) == "Show 5")
    }

    @Test func `only the rows on the screen are laid out`() {
        let model = connected((1...100_000).map { summary($0) }, rows: 24)
        let few = connected((1...30).map { summary($0) }, rows: 24)
        #expect(fastest { _ = model.render() } < fastest { _ = few.render() } * 20)
    }

    /// The least of several runs, which other work on the machine disturbs least.
    private func fastest(_ body: () -> Void) -> Duration {
        (0..<10).map { _ in ContinuousClock().measure(body) }.min() ?? .zero
    }
}
