import Testing
import Values

struct JSONTests {
    static let uuid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    static let date = "2026-11-30T05:46:59.123Z"

    static let exact: [(Value, String)] = [
        (.null, "null"), (true, "true"), (false, "false"), (0, "0"), (-1, "-1"),
        (.int(.max), "9223372036854775807"), (.int(.min), "-9223372036854775808"),
        (1.0, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e21, "1e+21"),
        (.double(.leastNonzeroMagnitude), "5e-324"),
        (.double(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
        ("", "\"\""), ("é\n\"\\\u{1}/", #""é\n\"\\\u0001/""#),
        // A terminal would take orders from these.
        ("\u{9B}2J\u{7F}", #""\u009b2J\u007f""#), ("a\u{202E}b\u{2028}", #""a\u202eb\u2028""#),
        ("\r\n日本😀", #""\r\n日本😀""#),
        (.uuid(UUIDBytes(uuid)!), "\"\(uuid)\""), (.text(uuid), "{\"$text\":\"\(uuid)\"}"),
        (.text(uuid.uppercased()), "\"\(uuid.uppercased())\""),
        (.date(1_796_017_619_123), "\"\(date)\""), (.text(date), "{\"$text\":\"\(date)\"}"),
        ("2026-11-30T05:46:59Z", "\"2026-11-30T05:46:59Z\""),
        ("2026-02-30T05:46:59.123Z", "\"2026-02-30T05:46:59.123Z\""),
        (.date(.max), "{\"$date\":9223372036854775807}"),
        (.bytes([]), #"{"$bytes":""}"#), (.bytes([1]), #"{"$bytes":"AQ"}"#),
        (.bytes([0xFB, 0xFF, 0xFE]), #"{"$bytes":"-__-"}"#),
        ([], "[]"), ([1, [2]], "[1,[2]]"), ([:], "{}"),
        (["b": 1, "a": 2, "B": 3], #"{"B":3,"a":2,"b":1}"#),
        (["$a": 1], #"{"$map":{"$a":1}}"#), (["$a": 1, "b": 2], #"{"$a":1,"b":2}"#),
        (["$text": "x"], #"{"$map":{"$text":"x"}}"#),
        (["$map": ["$map": 1]], #"{"$map":{"$map":{"$map":{"$map":1}}}}"#),
        (["$bytes": .bytes([1])], #"{"$map":{"$bytes":{"$bytes":"AQ"}}}"#),
        (["$map": ["$x": 1], "b": 2], #"{"$map":{"$map":{"$x":1}},"b":2}"#),
        (["$": ["a": 1]], #"{"$map":{"$":{"a":1}}}"#),
    ]

    @Test(arguments: exact.indices)
    func `a value has one text and comes back from it`(index: Int) throws {
        let (value, text) = Self.exact[index]
        #expect(value.json() == text)
        #expect(try Value.parse(json: text) == value)
        #expect(try Value.parse(json: value.json(pretty: true)) == value)
    }

    @Test func `two values never have one text`() {
        let texts = Self.exact.map { $0.0.json() }
        #expect(Set(texts).count == Self.exact.count)
    }

    @Test(arguments: 0..<30)
    func `random values come back from their text`(seed: Int) throws {
        var random = RandomValues(seed: UInt64(seed))
        for _ in 0..<100 {
            let value = random.value()
            #expect(try Value.parse(json: value.json()) == value)
            #expect(try Value.parse(json: value.json(pretty: true)) == value)
        }
    }

    @Test(
        arguments: [
            (" [ 1 , 2 ]\n", [1, 2]), (#""\u00e9\ud83d\ude00\/\b\f""#, "é😀/\u{8}\u{C}"),
            ("9223372036854775808", 9223372036854775808.0), ("1E2", 100.0), ("-0", 0),
            (#"{"$map":{"a":1}}"#, ["a": 1]), ("1e-400", 0.0),
        ] as [(String, Value)])
    func `other texts of a value are read too`(text: String, value: Value) throws {
        #expect(try Value.parse(json: text) == value)
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("nul", 3), ("[1,]", 3), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{a:1}", 1),
        ("{\"a\":1,\"a\":2}", 7), ("{\"a\":1,}", 7), ("01", 1), ("1.", 2), (".5", 0), ("+1", 0),
        ("1e", 2), ("1e400", 0), ("\"abc", 0), ("\"\u{1}\"", 1), (#""\x""#, 1), (#""\u12"#, 1),
        (#""\ud800""#, 1), (#""\udc00""#, 1), (#""\ud800\ud800""#, 1), (#""\ud800\n""#, 1),
        ("1 2", 2), ("[", 1), ("{", 1), ("tru", 3), ("NaN", 0), (#"{"$a":1}"#, 0),
        (#"{"$text":1}"#, 0), (#"{"$bytes":"A"}"#, 0), (#"{"$bytes":"AR"}"#, 0),
        (#"{"$bytes":"AQ=="}"#, 0), (#"{"$map":1}"#, 0), (#"{"$map":{"$x":1},"b":2}"#, 8),
        (#"{"$text":{"$text":"a"}}"#, 0), (#"[{"$date":1.5}]"#, 1),
    ])
    func `what is no JSON is refused with its place`(text: String, offset: Int) {
        let error = #expect(throws: JSONError.self) { try Value.parse(json: text) }
        #expect(error?.offset == offset, "\(error?.description ?? "")")
    }

    @Test func `an error names line and column`() {
        let error = #expect(throws: JSONError.self) { try Value.parse(json: "{\n  \"a\": x\n}") }
        #expect(error?.line == 2)
        #expect(error?.column == 8)
    }

    @Test func `the deepest value passes and a deeper one is refused`() throws {
        var value: Value = .bytes([1])
        for _ in 0..<Value.depthLimit { value = ["$a": value] }
        #expect(try Value.parse(json: value.json()) == value)
        #expect(throws: JSONError.self) { try Value.parse(json: Value.array([value]).json()) }
        let hostile = String(repeating: "[", count: 1_000_000)
        #expect(throws: JSONError.self) { try Value.parse(json: hostile) }
        let nested = String(repeating: #"{"$map":"#, count: 1000)
        #expect(throws: JSONError.self) { try Value.parse(json: nested) }
    }

    @Test func `pretty text has a line for each element`() {
        let value: Value = ["a": [1, 2], "b": [:], "c": []]
        #expect(
            value.json(pretty: true)
                == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}")
    }
}
