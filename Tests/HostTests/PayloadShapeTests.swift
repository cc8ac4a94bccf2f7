import Control
import Testing
import Values

@testable import Host

/// What does not fit into the kernel's own symbols is named.
@Suite struct PayloadShapeTests {
    private static let shape = PayloadShape(
        "Kernel.x",
        [
            .needed("device", .text, "NAME"), .optional("swap", .bool, "BOOL"),
            .optional("signal", .word, "NAME or NUMBER"), .optional("last", .count, "NUMBER"),
            .optional("steps", .whole, "NUMBER"),
        ])
    private static let usage =
        #"Kernel.x takes {"device": NAME, "swap"?: BOOL, "signal"?: NAME or NUMBER, "#
        + #""last"?: NUMBER, "steps"?: NUMBER}"#

    static let right: [(json: String, count: Int)] = [
        (#""a""#, 1), (#"{"device": "a"}"#, 1), (#"{"device": "a", "swap": null}"#, 1),
        (#"{"device": "", "swap": false, "signal": 15, "last": 0, "steps": -9}"#, 5),
        (#"{"device": "a", "signal": "TERM"}"#, 2),
    ]

    @Test(arguments: right.indices)
    func `what fits is taken`(_ row: Int) throws {
        let found = try Self.shape.check(try Value.parse(json: Self.right[row].json))
        #expect(found.count == Self.right[row].count)
        #expect(found["device"]?.text != nil)
    }

    static let wrong: [(json: String, said: String)] = [
        ("null", #": "device" is missing"#), ("{}", #": "device" is missing"#),
        (#"{"device": null}"#, #": "device" is missing"#), ("11", ", not 11"),
        ("-1.5", ", not -1.5"), ("true", ", not true"), ("[]", ", not []"),
        (#"["a"]"#, #", not ["a"]"#), (#"{"device": 7}"#, #": "device" is 7, no text"#),
        (#"{"device": {"a": 1}}"#, #": "device" is {"a":1}, no text"#),
        (#"{"device": "a", "swop": true}"#, #": there is no "swop""#),
        (#"{"device": "a", "b": 1, "a": 1}"#, #": there is no "a""#),
        (#"{"device": "a", "swap": "yes"}"#, #": "swap" is "yes", neither true nor false"#),
        (#"{"device": "a", "signal": true}"#, #": "signal" is true, neither a text nor a number"#),
        (#"{"device": "a", "last": -5}"#, #": "last" is -5, no whole number from 0"#),
        (#"{"device": "a", "last": 1.5}"#, #": "last" is 1.5, no whole number from 0"#),
        (#"{"device": "a", "steps": "x"}"#, #": "steps" is "x", no whole number"#),
    ]

    @Test(arguments: wrong.indices)
    func `what does not fit is named, with what does`(_ row: Int) throws {
        let (json, said) = Self.wrong[row]
        let value = try Value.parse(json: json)
        let error = #expect(throws: KernelError.self) { try Self.shape.check(value) }
        #expect(error?.code == .malformed && error?.message == Self.usage + said)
        #expect(error?.outcome == Outcome.none)
    }

    @Test func `a symbol that takes nothing says so`() throws {
        let shape = PayloadShape("Kernel.y")
        #expect(try shape.check(.null).isEmpty && shape.check(.map([:])).isEmpty)
        for (value, said) in [
            (Value.text("a"), #"Kernel.y takes nothing, not "a""#),
            (["a": 1], #"Kernel.y takes nothing: there is no "a""#),
        ] {
            let error = #expect(throws: KernelError.self) { try shape.check(value) }
            #expect(error?.message == said)
        }
    }

    @Test func `of what is huge the beginning is shown, and bytes that are no value are told`() {
        let huge = Value.array((0..<10_000).map { .int($0) })
        for value in [huge, ["device": huge], [String(repeating: "x", count: 100_000): 1]] {
            let error = #expect(throws: KernelError.self) { try Self.shape.check(value) }
            #expect((error?.message.utf8.count ?? 9_999) < 300)
        }
        for bytes: [UInt8] in [[], [0xFF], [0x61], [0xF6, 0xF6]] {
            let error = #expect(throws: KernelError.self) { try Self.shape.read(bytes) }
            #expect(error?.message.hasPrefix("the payload of Kernel.x: ") == true, "\(bytes)")
        }
    }
}
