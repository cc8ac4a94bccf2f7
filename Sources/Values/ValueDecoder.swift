import FoundationEssentials

/// Reads `Codable` types from values.
///
/// It is lenient between leaves that a writer who knows no types cannot tell apart: a `String` may
/// stand as a UUID or date (it gets the canonical text), a `UUID` or `Date` as text, a `Double` as
/// an integer, an integer as a double without a fraction.
public struct ValueDecoder: Sendable {
    /// Makes a decoder; it keeps nothing between two values.
    public init() {}

    /// Something decodable of a value.
    ///
    /// - Throws: ``CodingError`` with the path to what was not as expected, or whatever the type's
    ///   own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
        do {
            return try ValueSource.decode(type, from: value, depth: 0)
        } catch {
            throw CodingError.within([], nil, error)
        }
    }
}

/// One value on the way into a type.
struct ValueSource: Decoder {
    let value: Value
    let depth: Int
    /// The way from the value whose `init(from:)` runs to this place; empty but in nested
    /// containers.
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: Value, depth: Int, codingPath: [any CodingKey] = []) {
        self.value = value
        self.depth = depth
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let members) = value else { throw mismatch("a map") }
        try checkDepth()
        return KeyedDecodingContainer(KeyedSource(source: self, members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let items) = value else { throw mismatch("an array") }
        try checkDepth()
        return UnkeyedSource(source: self, items: items)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleSource(source: self)
    }

    func nested(_ value: Value, under key: any CodingKey) -> ValueSource {
        ValueSource(value, depth: depth + 1, codingPath: codingPath + [key])
    }

    private func checkDepth() throws {
        guard depth < Value.depthLimit else {
            throw CodingError.within(
                codingPath, nil,
                CodingError(.tooDeep, expected: "at most \(Value.depthLimit) levels"))
        }
    }

    private func mismatch(_ expected: String) -> any Error {
        CodingError.within(codingPath, nil, CodingError.mismatch(value, expected))
    }
}

extension CodingError {
    fileprivate static func mismatch(_ value: Value, _ expected: String) -> CodingError {
        CodingError(.mismatch, expected: expected, found: value.kind)
    }
}

extension ValueSource {
    /// Anything of a value; the known leaves do not ask the type.
    @inline(__always)
    static func decode<T: Decodable>(_ type: T.Type, from value: Value, depth: Int) throws -> T {
        if type == String.self { return reinterpret(try text(value), as: type) }
        if type == Int.self { return reinterpret(try integer(value, Int.self), as: type) }
        if type == Double.self { return reinterpret(try double(value), as: type) }
        if type == Bool.self {
            guard case .bool(let flag) = value else { throw CodingError.mismatch(value, "a bool") }
            return reinterpret(flag, as: type)
        }
        return try other(type, from: value, depth: depth)
    }

    static func other<T: Decodable>(_ type: T.Type, from value: Value, depth: Int) throws -> T {
        if type == UUID.self { return reinterpret(try uuid(value), as: type) }
        if type == Date.self { return reinterpret(try date(value), as: type) }
        if type == [UInt8].self { return reinterpret(try bytes(value), as: type) }
        if type == Data.self { return reinterpret(Data(try bytes(value)), as: type) }
        if type == Value.self { return reinterpret(value, as: type) }
        if type == Float.self {
            let wide = try double(value)
            guard Float(wide).isFinite else {
                throw CodingError(.outOfRange, expected: "a 32-bit number", found: "\(wide)")
            }
            return reinterpret(Float(wide), as: type)
        }
        if let integer = try rareInteger(type, value) { return integer }
        return try T(from: ValueSource(value, depth: depth))
    }

    private static func rareInteger<T>(_ type: T.Type, _ value: Value) throws -> T? {
        if type == Int64.self { return reinterpret(try integer(value, Int64.self), as: type) }
        if type == Int32.self { return reinterpret(try integer(value, Int32.self), as: type) }
        if type == Int16.self { return reinterpret(try integer(value, Int16.self), as: type) }
        if type == Int8.self { return reinterpret(try integer(value, Int8.self), as: type) }
        if type == UInt64.self { return reinterpret(try integer(value, UInt64.self), as: type) }
        if type == UInt32.self { return reinterpret(try integer(value, UInt32.self), as: type) }
        if type == UInt16.self { return reinterpret(try integer(value, UInt16.self), as: type) }
        if type == UInt8.self { return reinterpret(try integer(value, UInt8.self), as: type) }
        if type == UInt.self { return reinterpret(try integer(value, UInt.self), as: type) }
        return nil
    }

    static func text(_ value: Value) throws -> String {
        switch value {
        case .text(let text): return text
        case .uuid(let uuid): return uuid.description
        case .date(let date):
            if let text = DateText.print(date) { return text }
            throw CodingError.mismatch(value, "text")
        default: throw CodingError.mismatch(value, "text")
        }
    }

    static func integer<Integer: FixedWidthInteger>(
        _ value: Value, _ type: Integer.Type
    ) throws -> Integer {
        let found: String
        switch value {
        case .int(let int):
            if let exact = Integer(exactly: int) { return exact }
            found = "\(int)"
        case .double(let double):
            if let exact = Integer(exactly: double) { return exact }
            found = "\(double)"
        default: throw CodingError.mismatch(value, "an integer")
        }
        throw CodingError(
            .outOfRange, expected: "an integer of \(type.min)...\(type.max)", found: found)
    }

    static func double(_ value: Value) throws -> Double {
        switch value {
        case .double(let double): return double
        case .int(let int): return Double(int)
        default: throw CodingError.mismatch(value, "a number")
        }
    }

    static func uuid(_ value: Value) throws -> UUID {
        switch value {
        case .uuid(let uuid): return UUID(uuid)
        case .text(let text):
            if let uuid = UUIDBytes(text) { return UUID(uuid) }
            throw CodingError(.refused, expected: "a UUID", found: "another text")
        default: throw CodingError.mismatch(value, "a UUID")
        }
    }

    static func date(_ value: Value) throws -> Date {
        switch value {
        case .date(let date): return Date(milliseconds: date)
        case .text(let text):
            if let date = DateText.parse(text) { return Date(milliseconds: date) }
            throw CodingError(.refused, expected: "a date", found: "another text")
        default: throw CodingError.mismatch(value, "a date")
        }
    }

    static func bytes(_ value: Value) throws -> [UInt8] {
        guard case .bytes(let bytes) = value else { throw CodingError.mismatch(value, "bytes") }
        return bytes
    }
}

private struct KeyedSource<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let source: ValueSource
    let members: Value.Members
    var codingPath: [any CodingKey] { source.codingPath }
    var allKeys: [Key] { members.keys.compactMap(Key.init) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func member(_ key: any CodingKey) throws -> Value {
        guard let member = members[key.stringValue] else {
            throw CodingError.within(
                codingPath, key, CodingError(.missing, expected: "a value", found: "nothing"))
        }
        return member
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try member(key).isNull
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let member = try member(key)
        do {
            return try ValueSource.decode(type, from: member, depth: source.depth + 1)
        } catch {
            throw CodingError.within(codingPath, key, error)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try source.nested(try member(key), under: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try source.nested(try member(key), under: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        source.nested(try member(CoderKey.superclass), under: CoderKey.superclass)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        source.nested(try member(key), under: key)
    }
}

private struct UnkeyedSource: UnkeyedDecodingContainer {
    let source: ValueSource
    let items: [Value]
    var currentIndex = 0

    init(source: ValueSource, items: [Value]) {
        self.source = source
        self.items = items
    }

    var codingPath: [any CodingKey] { source.codingPath }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    private func item() throws -> Value {
        guard !isAtEnd else {
            throw CodingError.within(
                codingPath, CoderKey.index(currentIndex),
                CodingError(.missing, expected: "an element", found: "the end"))
        }
        return items[currentIndex]
    }

    private mutating func next() throws -> ValueSource {
        let nested = source.nested(try item(), under: CoderKey.index(currentIndex))
        currentIndex += 1
        return nested
    }

    mutating func decodeNil() throws -> Bool {
        guard try item().isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let item = try item()
        do {
            let result = try ValueSource.decode(type, from: item, depth: source.depth + 1)
            currentIndex += 1
            return result
        } catch {
            throw CodingError.within(codingPath, CoderKey.index(currentIndex), error)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct SingleSource: SingleValueDecodingContainer {
    let source: ValueSource
    var codingPath: [any CodingKey] { source.codingPath }

    func decodeNil() -> Bool { source.value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        do {
            return try ValueSource.decode(type, from: source.value, depth: source.depth)
        } catch {
            throw CodingError.within(codingPath, nil, error)
        }
    }
}
