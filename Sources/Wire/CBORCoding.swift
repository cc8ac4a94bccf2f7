import Control

/// CBOR as the coding of payloads.
package struct CBORCoding: Coding {
    package init() {}

    package func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        try CBOREncoder().encode(value)
    }

    package func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        try CBORDecoder().decode(type, from: bytes)
    }

    package var void: [UInt8] { [0xF6] }

    package func join(_ parts: [[UInt8]]) -> [UInt8] {
        let writer = CBORWriter(capacity: parts.reduce(9) { $0 + $1.count })
        writer.array(parts.count)
        for part in parts { writer.raw(part) }
        return writer.bytes
    }

    package func split(_ bytes: [UInt8], into count: Int) throws -> [[UInt8]] {
        try bytes.withUnsafeBytes { raw in
            var reader = CBORReader(raw)
            guard try reader.array() == count else { throw WireError.field("parts") }
            var parts: [[UInt8]] = []
            for _ in 0..<count { parts.append([UInt8](try reader.item())) }
            try reader.finish()
            return parts
        }
    }
}
