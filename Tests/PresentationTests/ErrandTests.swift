import Contract
import Control
import Presentation
import Testing

/// What was asked for and has failed can be tried again without typing it again, and its error goes
/// when it has been done.
@Suite struct ErrandTests {
    private static let wrong = ErrorNotice(
        code: "noFolder", message: "there is no folder /wrong",
        symbol: CircuitPort.createSlideshow.name, flow: "7-1")

    private func form(_ model: Model) -> Form? {
        if case .form(let form) = model.overlay { form } else { nil }
    }

    private func texts(_ model: Model) -> [String]? { form(model)?.fields.map(\.line.text) }

    /// A new slideshow was asked for, and the command was accepted.
    private func asked(_ model: inout Model, _ number: UInt64, folder: String) {
        let intents = model.press(.enter)
        #expect(intents == [.create(name: "A", folder: folder)])
        for intent in intents {
            model.apply(.commandStarted(id: number, intent, creates: id(Int(number))))
        }
        model.apply(.commandFinished(id: number, nil))
        #expect(model.overlay == nil)
    }

    @Test func `a slideshow of a wrong folder is corrected where it was typed`() {
        var model = connected([])
        _ = model.press(.character("n"))
        model.type("A")
        _ = model.press(.tab, .paste("/wrong"))
        asked(&model, 1, folder: "/wrong")
        let other = ErrorNotice(code: "x", message: "y", symbol: "Zoo.echo", flow: "7-2")
        model.apply(.errors([Self.wrong, other]))
        _ = model.press(.character("n"))
        #expect(texts(model) == ["A", "/wrong"])
        #expect(form(model)?.message == "there is no folder /wrong")
        _ = model.press(.control("u"), .paste("/right"))
        asked(&model, 2, folder: "/right")
        #expect(model.noticeCount == 2, "it is not done yet")
        model.apply(.library([summary(2)], isLoading: false))
        #expect(model.notice == other && model.noticeCount == 1)
        let again = ErrorNotice(
            code: "noFolder", message: "there is no folder /wrong", symbol: Self.wrong.symbol,
            flow: "7-3")
        model.apply(.errors([Self.wrong, other, again]))
        #expect(model.notice == again && model.noticeCount == 2, "a later one is another")
        _ = model.press(.character("n"))
        #expect(texts(model) == ["", ""])
    }

    @Test func `a form that was refused at once is as it was left`() {
        var model = connected([summary(1)])
        _ = model.press(.character("e"))
        model.type("!")
        let intents = model.press(.enter)
        #expect(intents == [.rename(id(1), name: "Show 1!")])
        model.apply(.commandStarted(id: 1, intents[0]))
        model.apply(.commandFinished(id: 1, ErrorNotice(code: "e", message: "it is taken")))
        _ = model.press(.character("e"))
        #expect(texts(model) == ["Show 1!"] && form(model)?.message == "it is taken")
        model.apply(.commandStarted(id: 2, .rename(id(1), name: "B")))
        model.apply(.commandFinished(id: 2, nil))
        #expect(model.notice == nil)
    }

    @Test func `photos that were added after all take the error with them`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1)))
        _ = model.press(.character("a"), .paste("/none"), .enter)
        let error = ErrorNotice(
            code: "noPhotos", message: "none", symbol: CircuitPort.addPhotos.name)
        model.apply(.errors([error]))
        _ = model.press(.character("a"))
        #expect(texts(model) == ["/none"])
        _ = model.press(.control("u"), .paste("/some"), .enter)
        model.apply(.slideshow(slideshow(1)))
        #expect(model.notice == error)
        model.apply(.slideshow(slideshow(1, slides: 5)))
        #expect(model.notice == nil)
    }

    @Test func `an error of one thing stays when another is done`() {
        var model = connected([summary(1), summary(2)])
        model.apply(.commandStarted(id: 1, .delete(id(1))))
        let error = ErrorNotice(code: "e", message: "no")
        model.apply(.commandFinished(id: 1, error))
        model.apply(.commandStarted(id: 2, .delete(id(2))))
        model.apply(.commandFinished(id: 2, nil))
        #expect(model.notice == error)
        model.apply(.commandStarted(id: 3, .delete(id(1))))
        model.apply(.commandFinished(id: 3, nil))
        #expect(model.notice == nil)
    }
}
