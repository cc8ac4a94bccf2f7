import Contract
import Presentation
import Testing

@Suite struct FormTests {
    private func message(_ model: Model) -> String? {
        if case .form(let form) = model.overlay { form.message } else { nil }
    }

    @Test func `a slideshow is made from a name and a folder`() {
        var model = connected([])
        _ = model.press(.character("n"))
        model.type(" Holiday q?xD ")
        _ = model.press(.tab, .paste("/photos/2024\r"))
        #expect(model.press(.enter) == [.create(name: "Holiday q?xD", folder: "/photos/2024")])
        #expect(model.overlay == nil)
    }

    @Test(arguments: [
        ("/x", "/x"), ("  /x y  ", "/x y"), ("'/x y'", "/x y"), ("\"/x\"", "/x"),
        ("~", "/photos/me"), ("~/a", "/photos/me/a"), ("~other/a", nil), ("x", nil), ("", nil),
        ("''", nil), ("./x", nil),
    ])
    func `a path is absolute or starts at home`(text: String, path: String?) {
        var model = connected([])
        _ = model.press(.character("n"))
        model.type("A")
        _ = model.press(.down, .paste(text))
        let intents = model.press(.enter)
        #expect(intents == (path.map { [.create(name: "A", folder: $0)] } ?? []))
        #expect((message(model) != nil) == (path == nil))
    }

    @Test func `what is wrong is said in the form until the user types on`() {
        var model = connected([])
        _ = model.press(.character("n"), .enter)
        #expect(message(model) == "A name is needed.")
        model.type("A")
        #expect(message(model) == nil)
        #expect(model.press(.enter) == [])
        #expect(message(model) == "A path is needed.")
        model.type("relative")
        _ = model.press(.enter)
        #expect(message(model)?.contains("must begin with /") == true)
        _ = model.press(.backTab, .paste(String(repeating: "x", count: 300)), .enter)
        #expect(message(model)?.contains("it may have 200") == true)
        #expect(model.press(.escape) == [])
        #expect(model.overlay == nil)
    }

    @Test func `a home that is not known is said`() {
        var model = connected([], settings: Model.Settings())
        _ = model.press(.character("n"))
        model.type("A")
        _ = model.press(.tab, .paste("~/x"), .enter)
        #expect(message(model)?.contains("~ is not known") == true)
    }

    @Test func `renaming starts with the name`() {
        var model = connected([summary(1, "Holiday")])
        #expect(model.press(.character("e"), .enter) == [])
        #expect(model.overlay == nil)
        _ = model.press(.character("e"))
        model.type(" 2024")
        #expect(model.press(.enter) == [.rename(id(1), name: "Holiday 2024")])
        _ = model.press(.function(2), .control("u"), .enter)
        #expect(message(model) == "A name is needed.")
        model.apply(.library([summary(2)], isLoading: false))
        #expect(message(model) == "This slideshow was deleted meanwhile.")
        model.apply(.library([summary(1, "Holiday")], isLoading: false))
        #expect(message(model) == nil)
    }

    @Test func `photos are added to the open slideshow`() {
        var model = connected([summary(1)])
        _ = model.press(.enter)
        model.apply(.slideshow(slideshow(1)))
        _ = model.press(.character("a"), .paste("/more"))
        #expect(model.press(.enter) == [.addPhotos(id(1), path: "/more")])
    }

    @Test func `a form keeps what was typed while the kernel is away`() {
        var model = connected([])
        _ = model.press(.character("n"))
        model.type("A")
        _ = model.press(.tab, .paste("/x"))
        model.apply(.connection(.away(nil)))
        #expect(model.press(.enter) == [])
        #expect(message(model) == "The kernel is away; what you typed stays here.")
        model.apply(.connection(.connected))
        #expect(message(model) == nil, "it is back, and no lie stands there")
        #expect(model.press(.enter) == [.create(name: "A", folder: "/x")])
    }

    @Test func `a return of the kernel takes no other message away`() {
        var model = connected([])
        _ = model.press(.character("n"), .enter)
        model.apply(.connection(.away(nil)))
        model.apply(.connection(.connected))
        #expect(message(model) == "A name is needed.")
    }

    @Test func `what is not UTF-8 is seen and said until it is gone`() {
        var model = connected([])
        _ = model.press(.character("n"))
        var parser = KeyParser()
        // "Café" in Latin-1; the last byte begins a character that never comes.
        for key in parser.feed([0x43, 0x61, 0x66, 0xE9]) + parser.flush() {
            _ = model.handle(key)
        }
        guard case .form(let form) = model.overlay else { return #expect(Bool(false)) }
        #expect(form.fields[0].line.text == "Caf\u{FFFD}")
        #expect(message(model)?.contains("set the terminal to UTF-8") == true)
        model.type("s")
        #expect(message(model)?.contains("UTF-8") == true, "it is still there")
        #expect(model.render().lines.contains { $0.contains("UTF-8") })
        _ = model.press(.backspace, .backspace)
        #expect(message(model) == nil)
        _ = model.press(.tab, .paste("/Fotos/\u{FFFD}"))
        #expect(message(model)?.contains("UTF-8") == true)
        _ = model.press(.control("u"))
        #expect(message(model) == nil)
    }

    @Test func `a name that holds a replacement character is no news`() {
        var model = connected([summary(1, "A\u{FFFD}")])
        _ = model.press(.character("e"))
        model.type("B")
        #expect(message(model) == nil)
        #expect(model.press(.enter) == [.rename(id(1), name: "A\u{FFFD}B")])
    }

    @Test func `what a line does not hold is said`() {
        var model = connected([])
        _ = model.press(.character("n"), .paste(String(repeating: "x", count: 5_000)))
        #expect(message(model) == "A line holds 4096 bytes; the rest was left out.")
        _ = model.press(.character("y"))
        #expect(message(model)?.contains("left out") == true)
        _ = model.press(.backspace)
        #expect(message(model) == nil)
        _ = model.press(.character("y"))
        #expect(message(model) == nil)
    }

    @Test func `control keys that end the client work in a form`() {
        var model = connected([])
        #expect(model.press(.character("n"), .control("c")) == [.quit])
    }
}
