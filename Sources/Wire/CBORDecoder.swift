import FoundationEssentials
import Values

/// Reads `Codable` types from CBOR, as lenient between leaves as ``ValueDecoder``.
package struct CBORDecoder: Sendable {
    package init() {}

    package func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// Reads one value that takes all of the bytes.
    ///
    /// - Throws: ``CodingError`` with the path to what was not as expected, or whatever the type's
    ///   own `init(from:)` throws.
    package func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> T {
        let source = CBORSource(CBORReader(bytes))
        // A decoder that a type has kept finds nothing afterwards, rather than memory that is gone.
        defer { source.reader = CBORReader(UnsafeRawBufferPointer(start: nil, count: 0)) }
        do {
            var position = 0
            let value = try source.decode(type, at: &position, depth: 0)
            guard source.reader.at(position).atEnd else {
                throw source.explain(CBORError(.trailing, at: position), "the end")
            }
            return value
        } catch {
            throw CodingError.within([], nil, error)
        }
    }
}

/// The bytes of one value and all that is inside of it.
final class CBORSource {
    @exclusivity(unchecked) var reader: CBORReader

    init(_ reader: CBORReader) {
        self.reader = reader
    }

    /// Reads a leaf at a position and moves it; errors say what was expected.
    @inline(__always)
    func read<Result>(
        _ expected: @autoclosure () -> String, at position: inout Int,
        _ body: (inout CBORReader) throws(CBORError) -> Result
    ) throws -> Result {
        var reader = reader.at(position)
        do throws(CBORError) {
            let result = try body(&reader)
            position = reader.position
            return result
        } catch {
            throw explain(error, expected())
        }
    }

    func skip(_ position: inout Int) throws {
        try read("an item", at: &position) { reader throws(CBORError) in try reader.skip() }
    }

    /// The error of the bytes in the words of the coder.
    func explain(_ error: CBORError, _ expected: String) -> CodingError {
        switch error.code {
        case .mismatch:
            CodingError(.mismatch, expected: expected, found: kind(at: error.position))
        case .outOfRange:
            CodingError(.outOfRange, expected: expected, found: "one out of range")
        case .tooDeep:
            CodingError(.tooDeep, expected: "at most \(Value.depthLimit) levels")
        default:
            CodingError(.malformed, expected: expected, found: error.description)
        }
    }

    private func kind(at position: Int) -> String {
        guard let initial = reader.at(position).initialByte else { return "the end" }
        return switch initial {
        case 0x00...0x3F: "integer"
        case 0x40...0x5F: "bytes"
        case 0x60...0x7F: "text"
        case 0x80...0x9F: "array"
        case 0xA0...0xBF: "map"
        case 0xC1: "date"
        case 0xC0...0xDF: initial == 0xD8 ? "UUID or another tag" : "another tag"
        case 0xF4, 0xF5: "bool"
        case 0xF6: "null"
        case 0xF9...0xFB: "double"
        default: "another item"
        }
    }
}

extension CBORSource {
    /// Anything at a position, which moves behind it; the known leaves do not ask the type.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, at position: inout Int, depth: Int
    ) throws -> T {
        if type == String.self { return reinterpret(try text(&position), as: type) }
        if type == Int.self { return reinterpret(try integer(&position, Int.self), as: type) }
        if type == Double.self { return reinterpret(try double(&position), as: type) }
        if type == Bool.self {
            return reinterpret(
                try read("a bool", at: &position) { reader throws(CBORError) in
                    try reader.bool()
                }, as: type)
        }
        if type == UUID.self { return reinterpret(try uuid(&position), as: type) }
        if type == Date.self { return reinterpret(try date(&position), as: type) }
        return try other(type, at: &position, depth: depth)
    }

    private func other<T: Decodable>(
        _ type: T.Type, at position: inout Int, depth: Int
    ) throws -> T {
        if type == [UInt8].self { return reinterpret([UInt8](try bytes(&position)), as: type) }
        if type == Data.self { return reinterpret(Data(try bytes(&position)), as: type) }
        if type == Value.self {
            return reinterpret(
                try read("a value", at: &position) { reader throws(CBORError) in
                    try reader.value(depth: depth)
                }, as: type)
        }
        if type == Float.self {
            let wide = try double(&position)
            guard Float(wide).isFinite else {
                throw CodingError(.outOfRange, expected: "a 32-bit number", found: "\(wide)")
            }
            return reinterpret(Float(wide), as: type)
        }
        if let integer = try rareInteger(type, &position) { return integer }
        let place = CBORPlace(self, position, depth: depth)
        let value = try T(from: place)
        position = try place.finish()
        return value
    }

    private func rareInteger<T>(_ type: T.Type, _ position: inout Int) throws -> T? {
        if type == Int64.self { return reinterpret(try integer(&position, Int64.self), as: type) }
        if type == Int32.self { return reinterpret(try integer(&position, Int32.self), as: type) }
        if type == Int16.self { return reinterpret(try integer(&position, Int16.self), as: type) }
        if type == Int8.self { return reinterpret(try integer(&position, Int8.self), as: type) }
        if type == UInt64.self { return reinterpret(try integer(&position, UInt64.self), as: type) }
        if type == UInt32.self { return reinterpret(try integer(&position, UInt32.self), as: type) }
        if type == UInt16.self { return reinterpret(try integer(&position, UInt16.self), as: type) }
        if type == UInt8.self { return reinterpret(try integer(&position, UInt8.self), as: type) }
        if type == UInt.self { return reinterpret(try integer(&position, UInt.self), as: type) }
        return nil
    }
}

extension CBORSource {
    private func major(_ position: Int) -> UInt8? {
        reader.at(position).initialByte.map { $0 >> 5 }
    }

    @inline(__always)
    func text(_ position: inout Int) throws -> String {
        try read("text", at: &position) { reader throws(CBORError) in
            guard (reader.initialByte ?? 0) >> 5 == 6 else { return try reader.text() }
            var ahead = reader
            if try ahead.tag() == CBORTag.uuid { return try reader.uuid().description }
            let date = try reader.date()
            guard let text = DateText.print(date) else {
                throw CBORError(.outOfRange, at: reader.position)
            }
            return text
        }
    }

    @inline(__always)
    func integer<Integer: FixedWidthInteger>(
        _ position: inout Int, _ type: Integer.Type
    ) throws -> Integer {
        try read("an integer of \(type.min)...\(type.max)", at: &position) {
            reader throws(CBORError) in
            let start = reader.position
            let exact: Integer?
            switch (reader.initialByte ?? 0) >> 5 {
            case 0: exact = Integer(exactly: try reader.uint())
            case 7: exact = Integer(exactly: try reader.double())
            default: exact = Integer(exactly: try reader.int())
            }
            guard let exact else { throw CBORError(.outOfRange, at: start) }
            return exact
        }
    }

    func double(_ position: inout Int) throws -> Double {
        try read("a number", at: &position) { reader throws(CBORError) in
            switch (reader.initialByte ?? 0) >> 5 {
            case 0: Double(try reader.uint())
            case 1: Double(try reader.int())
            default: try reader.double()
            }
        }
    }

    func bytes(_ position: inout Int) throws -> UnsafeRawBufferPointer {
        try read("bytes", at: &position) { reader throws(CBORError) in try reader.bytes() }
    }

    private func uuid(_ position: inout Int) throws -> UUID {
        guard major(position) == 3 else {
            return UUID(
                try read("a UUID", at: &position) { reader throws(CBORError) in
                    try reader.uuid()
                })
        }
        guard let uuid = UUIDBytes(try text(&position)) else {
            throw CodingError(.refused, expected: "a UUID", found: "another text")
        }
        return UUID(uuid)
    }

    private func date(_ position: inout Int) throws -> Date {
        guard major(position) == 3 else {
            return Date(
                milliseconds: try read("a date", at: &position) { reader throws(CBORError) in
                    try reader.date()
                })
        }
        guard let date = DateText.parse(try text(&position)) else {
            throw CodingError(.refused, expected: "a date", found: "another text")
        }
        return Date(milliseconds: date)
    }
}
