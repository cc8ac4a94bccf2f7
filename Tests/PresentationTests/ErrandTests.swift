import Contract
import Control
import FoundationEssentials
import Presentation
import Testing

/// What was asked for and has failed can be tried again without typing it again, and its error goes
/// when it has been done.
@Suite struct ErrandTests {
    private static let wrong = ErrorNotice(
        code: "noFolder", message: "there is no folder /wrong",
        symbol: CircuitPort.createSlideshow.name, flow: "7-1", key: "key 1")

    private func form(_ model: Model) -> Form? {
        if case .form(let form) = model.overlay { form } else { nil }
    }

    private func texts(_ model: Model) -> [String]? { form(model)?.fields.map(\.line.text) }

    /// A new slideshow was asked for, and the command was accepted.
    private func asked(_ model: inout Model, _ number: UInt64, folder: String) {
        let intents = model.press(.enter)
        #expect(intents == [.create(name: "A", folder: folder)])
        for intent in intents {
            model.apply(
                .commandStarted(
                    id: number, intent, creates: id(Int(number)), key: "key \(number)"))
        }
        model.apply(.commandFinished(id: number, nil))
        #expect(model.overlay == nil)
    }

    /// What was asked for is on its way, and accepted.
    private func start(_ model: inout Model, _ number: UInt64, _ intents: [Intent]) {
        #expect(intents.count == 1)
        for intent in intents {
            var creates: UUID?
            if case .create = intent { creates = id(Int(number)) }
            model.apply(
                .commandStarted(id: number, intent, creates: creates, key: "key \(number)"))
        }
        model.apply(.commandFinished(id: number, nil))
    }

    /// Fills the form of a new slideshow in, from where it is.
    private func create(_ model: inout Model, _ name: String, _ folder: String) -> [Intent] {
        _ = model.press(.character("n"), .control("u"))
        model.type(name)
        _ = model.press(.tab, .control("u"), .paste(folder))
        return model.press(.enter)
    }

    @Test func `an error is that of its own form, whoever asks for the same`() {
        var model = connected([])
        start(&model, 1, create(&model, "A", "/a"))
        start(&model, 2, create(&model, "B", "/b"))
        func error(_ number: Int, key: String?) -> ErrorNotice {
            ErrorNotice(
                code: "noFolder", message: "there is no folder", symbol: Self.wrong.symbol,
                flow: "7-\(number)", key: key)
        }
        // Another client's, and one of somebody who has chosen no key.
        model.apply(.errors([error(8, key: "theirs"), error(9, key: nil)]))
        _ = model.press(.character("n"))
        #expect(texts(model) == ["", ""])
        _ = model.press(.escape)
        model.apply(
            .errors([error(8, key: "theirs"), error(9, key: nil), error(1, key: "key 1")]))
        _ = model.press(.character("n"))
        #expect(texts(model) == ["A", "/a"], "it is the first that has failed")
        model.apply(.library([summary(2)], isLoading: false))
        #expect(model.noticeCount == 3, "the second is done, and was not what had failed")
        // The form is where it was left: at the folder.
        _ = model.press(.control("u"), .paste("/right"))
        start(&model, 3, model.press(.enter))
        model.apply(.library([summary(2), summary(3)], isLoading: false))
        #expect(model.noticeCount == 2, "those of others stay")
        #expect(model.notice?.key == nil)
    }

    @Test func `a form that has failed and is cancelled is given up`() {
        var model = connected([])
        start(&model, 1, create(&model, "A", "/a"))
        model.apply(.errors([Self.wrong]))
        _ = model.press(.character("n"), .escape, .character("n"))
        #expect(texts(model) == ["", ""])
        #expect(model.notice == Self.wrong, "it is still an error")
    }

    @Test func `two forms that failed are both kept, the last one first`() {
        var model = connected([])
        start(&model, 1, create(&model, "A", "/a"))
        start(&model, 2, create(&model, "B", "/b"))
        let errors = (1...2).map {
            ErrorNotice(
                code: "noFolder", message: "none", symbol: Self.wrong.symbol, flow: "7-\($0)",
                key: "key \($0)")
        }
        model.apply(.errors(errors))
        _ = model.press(.character("n"))
        #expect(texts(model) == ["B", "/b"])
        start(&model, 3, model.press(.enter))
        model.apply(.library([summary(3)], isLoading: false))
        #expect(model.noticeCount == 1)
        _ = model.press(.character("n"))
        #expect(texts(model) == ["A", "/a"])
    }

    @Test func `what a dead kernel had accepted is said to be lost, unless it is there`() {
        var model = connected([])
        start(&model, 1, create(&model, "A", "/a"))
        start(&model, 2, create(&model, "B", "/b"))
        model.apply(.connection(.away("closed")))
        model.apply(.kernelIsNew)
        #expect(model.apply(.connection(.connected)) == [.refresh])
        model.apply(.commandStarted(id: 3, .refresh))
        #expect(model.notice == nil, "it may be there")
        model.apply(.library([summary(2)], isLoading: false))
        model.apply(.commandFinished(id: 3, nil))
        #expect(model.notice?.code == "kernelLost" && model.noticeCount == 1)
        _ = model.press(.character("n"))
        #expect(texts(model) == ["A", "/a"])
        #expect(form(model)?.message?.contains("was not made") == true)
        start(&model, 4, model.press(.enter))
        model.apply(.library([summary(2), summary(4)], isLoading: false))
        #expect(model.notice == nil)
        // The same kernel again: what it does is not lost.
        start(&model, 5, create(&model, "C", "/c"))
        model.apply(.connection(.away("closed")))
        #expect(model.apply(.connection(.connected)) == [.refresh])
        model.apply(.commandStarted(id: 6, .refresh))
        model.apply(.library([summary(2), summary(4)], isLoading: false))
        model.apply(.commandFinished(id: 6, nil))
        #expect(model.notice == nil)
    }

    /// Photos that are there already change nothing that this client could see.
    @Test(arguments: [(1, false), (1, true), (100, false)])
    func `what must have ended, or has nothing left to change, is not told as lost`(
        _ seconds: Int, _ isDeleted: Bool
    ) {
        var model = connected([summary(1), summary(2)])
        model.apply(.slideshow(slideshow(1, slides: 6)))
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1, slides: 6)))
        _ = model.press(.character("a"), .control("u"), .paste("/a"))
        start(&model, 1, model.press(.enter))
        #expect(model.countsSeconds)
        for _ in 0..<seconds { model.apply(.second) }
        #expect(model.countsSeconds == (seconds < 90))
        let left = isDeleted ? [summary(2)] : [summary(1), summary(2)]
        if isDeleted {
            model.apply(.slideshow(nil))
            model.apply(.library(left, isLoading: false))
        }
        model.apply(.connection(.away("closed")))
        model.apply(.kernelIsNew)
        model.apply(.connection(.connected))
        model.apply(.commandStarted(id: 3, .refresh))
        model.apply(.library(left, isLoading: false))
        model.apply(.commandFinished(id: 3, nil))
        #expect((model.notice?.code == "kernelLost") == (seconds < 90 && !isDeleted))
    }

    @Test func `forms that were sent are kept in bounds`() {
        var model = connected([])
        for number in 1...100 {
            start(&model, UInt64(number), create(&model, "A\(number)", "/a"))
        }
        let errors = (1...100).map {
            ErrorNotice(code: "e", message: "\($0)", flow: "7-\($0)", key: "key \($0)")
        }
        model.apply(.errors(errors))
        var shown = 0
        while shown < 100 {
            _ = model.press(.character("n"))
            guard texts(model) != ["", ""] else { break }
            shown += 1
            let number = UInt64(1_000 + shown)
            start(&model, number, model.press(.enter))
            model.apply(.library([summary(Int(number))], isLoading: false))
        }
        #expect(shown == 32)
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
        start(&model, 2, model.press(.enter))
        #expect(model.notice == nil)
        _ = model.press(.character("e"))
        #expect(texts(model) == ["Show 1"])
    }

    @Test func `photos that were added after all take the error with them`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1)))
        _ = model.press(.character("a"), .paste("/none"))
        start(&model, 1, model.press(.enter))
        let error = ErrorNotice(
            code: "noPhotos", message: "none", symbol: CircuitPort.addPhotos.name, key: "key 1")
        model.apply(.errors([error]))
        _ = model.press(.character("a"))
        #expect(texts(model) == ["/none"])
        _ = model.press(.control("u"), .paste("/some"))
        start(&model, 2, model.press(.enter))
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
