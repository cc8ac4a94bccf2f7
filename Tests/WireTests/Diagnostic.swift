import Values
import Wire

/// CBOR in the diagnostic notation of RFC 8949 section 8, as the golden vectors write it.
enum Diagnostic {
    static func text(of bytes: [UInt8]) throws -> String {
        try bytes.withUnsafeBytes { raw in
            var reader = CBORReader(raw)
            let text = try item(&reader)
            try reader.finish()
            return text
        }
    }

    private static func item(_ reader: inout CBORReader) throws -> String {
        switch reader.initialByte.map({ $0 >> 5 }) {
        case 0, 1: return try reader.int().description
        case 2:
            let digits = try reader.bytes().map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "h'\(digits.joined())'"
        case 3: return Value.text(try reader.text()).json()
        case 4:
            let items = try (0..<reader.array()).map { _ in try item(&reader) }
            return "[\(items.joined(separator: ", "))]"
        case 5:
            let members = try (0..<reader.map()).map { _ in
                try item(&reader) + ": " + item(&reader)
            }
            return "{\(members.joined(separator: ", "))}"
        case 6: return try "\(reader.tag())(\(item(&reader)))"
        default:
            if reader.skipNull() { return "null" }
            if let bool = try? reader.bool() { return "\(bool)" }
            return "\(try reader.double())"
        }
    }
}
