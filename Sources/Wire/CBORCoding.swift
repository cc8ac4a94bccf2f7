import Control
import Values

/// CBOR as the coding of payloads.
package struct CBORCoding: Coding {
    package init() {}

    package func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        if T.self == [UInt8].self { return encode(bytes: reinterpret(value, as: [UInt8].self)) }
        return try CBOREncoder().encode(value)
    }

    package func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        if T.self == [UInt8].self, let content = Self.content(of: bytes) {
            return reinterpret(content, as: T.self)
        }
        return try CBORDecoder().decode(type, from: bytes)
    }

    package func decode(bytes: [UInt8]) throws -> [UInt8] {
        try Self.content(of: bytes) ?? CBORDecoder().decode([UInt8].self, from: bytes)
    }

    /// Bytes are copied without the machinery of `Codable`. Few go over a piece of the stack:
    /// an array that is made of bytes is made faster than one that is made empty and filled.
    package func encode(bytes: [UInt8]) -> [UInt8] {
        let length = bytes.count
        guard length <= Self.mostOnStack else {
            return [UInt8](unsafeUninitializedCapacity: length + Self.longestHead) {
                buffer, count in
                count = Self.put(bytes, UnsafeMutableRawBufferPointer(buffer))
            }
        }
        return withUnsafeTemporaryAllocation(byteCount: length + Self.longestHead, alignment: 1) {
            let count = Self.put(bytes, $0)
            return [UInt8](UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    private static let longestHead = 9
    private static let mostOnStack = 1_024

    /// Writes a byte string and returns its length.
    @inline(__always)
    private static func put(_ bytes: [UInt8], _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let length = bytes.count
        let width: Int
        switch length {
        case 0..<24: (buffer[0], width) = (0x40 | UInt8(length), 0)
        case 24..<0x100: (buffer[0], width) = (0x58, 1)
        case 0x100..<0x1_0000: (buffer[0], width) = (0x59, 2)
        case 0x1_0000..<0x1_0000_0000: (buffer[0], width) = (0x5A, 4)
        default: (buffer[0], width) = (0x5B, 8)
        }
        for place in 0..<width {
            buffer[1 + place] = UInt8(truncatingIfNeeded: length >> (8 * (width - 1 - place)))
        }
        let count = 1 + width
        guard length > 0 else { return count }
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: source)
        }
        return count + length
    }

    /// The content of an item that is bytes and nothing else.
    private static func content(of bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBytes { raw in
            var reader = CBORReader(raw)
            guard let content = try? reader.bytes(), reader.atEnd else { return nil }
            return [UInt8](content)
        }
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
