import Testing
import Values
import Wire

/// Payloads as people read them.
@Suite struct DiagnosticNotationTests {
    private static func bytes(_ value: Value) -> [UInt8] {
        let writer = CBORWriter()
        writer.value(value)
        return writer.bytes
    }

    static let values: [(value: Value, text: String)] = [
        (.null, "null"), (.bool(true), "true"), (.int(-7), "-7"), (.double(1.5), "1.5"),
        (.text("a\"\n"), #""a\"\n""#), (.bytes([0, 255]), "h'00ff'"), (.array([]), "[]"),
        (.map([:]), "{}"), (.array([1, .array(["x"])]), "[1, [\"x\"]]"),
        (.map(["b": 1, "a": .null]), "{\"a\": null, \"b\": 1}"), (.date(1_500), "1(1.5)"),
    ]

    @Test(arguments: 0..<values.count)
    func `a value is written as in the golden vectors`(_ index: Int) throws {
        let (value, text) = Self.values[index]
        let bytes = Self.bytes(value)
        #expect(DiagnosticNotation.text(of: bytes, limit: 512) == text)
        #expect(try Diagnostic.text(of: bytes) == text)
    }

    @Test func `whatever is cut or is no CBOR ends with an ellipsis`() {
        let whole = Self.bytes(
            .map(["name": .text(String(repeating: "n", count: 300)), "of": .array([1, 2, 3])]))
        for count in 0..<whole.count {
            let text = DiagnosticNotation.text(of: Array(whole.prefix(count)), limit: 512)
            #expect(text.hasSuffix("…"), "\(count)")
        }
        #expect(
            DiagnosticNotation.text(of: Array(whole.prefix(12)), limit: 512)
                == "{\"of\": [1, 2, 3], \"nam…")
        for limit in 0..<320 {
            let text = DiagnosticNotation.text(of: whole, limit: limit)
            #expect(text.utf8.count <= limit + 3 && text.hasSuffix("…"))
        }
    }

    @Test func `no bytes trap it`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let text = DiagnosticNotation.text(of: bytes, limit: 64)
            #expect(text.utf8.count <= 67)
        }
        let deep = [UInt8](repeating: 0x81, count: 100_000)
        #expect(DiagnosticNotation.text(of: deep, limit: 512).hasSuffix("…"))
    }
}
