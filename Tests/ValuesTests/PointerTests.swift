import Testing
import Values

struct PointerTests {
    // RFC 6901 §5.
    static let document: Value = [
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
        " ": 7, "m~n": 8,
    ]

    @Test(
        arguments: [
            ("", document), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1),
            ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7),
            ("/m~0n", 8),
        ] as [(String, Value)])
    func `the examples of RFC 6901 resolve`(text: String, expected: Value) throws {
        let pointer = try Pointer(parsing: text)
        #expect(pointer.resolve(in: Self.document) == expected)
        #expect(pointer.description == text)
    }

    @Test(arguments: [
        "/foo/2", "/foo/00", "/foo/01", "/foo/-", "/foo/1e0", "/foo/+1", "/foo/ 1", "/foo/",
        "/foo/99999999999999999999", "/bar", "/foo/0/x", "/foo/-1",
    ])
    func `what is not there resolves to nothing`(text: String) throws {
        #expect(try Pointer(parsing: text).resolve(in: Self.document) == nil)
    }

    @Test(arguments: [("foo", 0), ("/~", 1), ("/a/~2", 3), ("/~~", 1)])
    func `a text that is no pointer is refused with its place`(text: String, position: Int) {
        let error = #expect(throws: PointerError.self) { try Pointer(parsing: text) }
        #expect(error?.position == position)
    }

    @Test func `every list of tokens survives its text`() throws {
        var random = RandomValues(seed: 1)
        for _ in 0..<200 {
            let tokens = (0..<random.below(4)).map { _ in
                RandomValues.texts[random.below(RandomValues.texts.count)]
            }
            #expect(try Pointer(parsing: Pointer(tokens).description).tokens == tokens)
        }
    }
}
