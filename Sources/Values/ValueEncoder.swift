import FoundationEssentials

/// Writes `Codable` types as values.
///
/// UUIDs, dates and `[UInt8]` become leaves of their own; a date is rounded to milliseconds.
/// Doubles that are not finite, integers beyond 64 signed bits and dates outside of
/// ``Value/dateRange`` are refused.
public struct ValueEncoder: Sendable {
    /// Makes an encoder; it keeps nothing between two values.
    public init() {}

    /// The value of something encodable.
    ///
    /// - Throws: ``CodingError`` with the path to what could not be written, or whatever the type's
    ///   own `encode(to:)` throws.
    public func encode<T: Encodable>(_ value: T) throws -> Value {
        do {
            return try ValueBuilder.value(value, depth: 0)
        } catch {
            throw CodingError.within([], nil, error)
        }
    }
}

/// The place of one value while it is made. Containers may be kept and used in any order, so each
/// nested one is a builder of its own until the outermost is finished.
private final class ValueBuilder: Encoder {
    enum Shape {
        case empty
        case leaf
        case array
        case map
    }

    let depth: Int
    /// The way from the value whose `encode(to:)` runs to this place; empty but in nested
    /// containers.
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var shape = Shape.empty
    var leaf = Value.null
    var items: [Value] = []
    var members = Value.Members()
    /// Builders whose values stand in `items` or `members` when this one is finished.
    var openItems: [(index: Int, builder: ValueBuilder)] = []
    var openMembers: [String: ValueBuilder] = [:]
    /// The first breach of the rules in a call that cannot throw.
    var fault: CodingError?

    init(depth: Int, codingPath: [any CodingKey] = []) {
        self.depth = depth
        self.codingPath = codingPath
    }

    func take(_ wanted: Shape) {
        if shape == wanted, wanted != .leaf { return }
        if shape != .empty {
            fault =
                fault ?? CodingError(.misuse, expected: "one container a value", found: "several")
        } else if wanted != .leaf, depth >= Value.depthLimit {
            fault = CodingError(.tooDeep, expected: "at most \(Value.depthLimit) levels")
        } else {
            shape = wanted
        }
    }

    func finish() throws -> Value {
        if let fault { throw fault }
        for open in openItems {
            items[open.index] = try Self.finish(open.builder, CoderKey.index(open.index))
        }
        for (key, builder) in openMembers {
            members[key] = try Self.finish(builder, builder.codingPath.last)
        }
        return switch shape {
        case .empty: .map([:])
        case .leaf: leaf
        case .array: .array(items)
        case .map: .map(members)
        }
    }

    private static func finish(_ builder: ValueBuilder, _ key: (any CodingKey)?) throws -> Value {
        do { return try builder.finish() } catch { throw CodingError.within([], key, error) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        take(.map)
        return KeyedEncodingContainer(KeyedBuilder(builder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        take(.array)
        return UnkeyedBuilder(builder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleBuilder(builder: self)
    }

    func nested(under key: any CodingKey) -> ValueBuilder {
        ValueBuilder(depth: depth + 1, codingPath: codingPath + [key])
    }
}

extension ValueBuilder {
    /// The value of anything; the known leaves do not ask the type.
    @inline(__always)
    static func value<T: Encodable>(_ value: T, depth: Int) throws -> Value {
        if T.self == String.self { return .text(reinterpret(value, as: String.self)) }
        if T.self == Int.self { return .int(Int64(reinterpret(value, as: Int.self))) }
        if T.self == Double.self { return try double(reinterpret(value, as: Double.self)) }
        if T.self == Bool.self { return .bool(reinterpret(value, as: Bool.self)) }
        return try other(value, depth: depth)
    }

    static func double(_ value: Double) throws -> Value {
        guard value.isFinite else {
            throw CodingError(.outOfRange, expected: "a finite number", found: "\(value)")
        }
        return .double(value)
    }

    static func integer(_ value: some FixedWidthInteger) throws -> Value {
        guard let value = Int64(exactly: value) else {
            throw CodingError(.outOfRange, expected: "a 64-bit integer", found: "\(value)")
        }
        return .int(value)
    }

    static func other<T: Encodable>(_ value: T, depth: Int) throws -> Value {
        if T.self == UUID.self { return .uuid(UUIDBytes(reinterpret(value, as: UUID.self))) }
        if T.self == Date.self {
            guard let date = Value.milliseconds(of: reinterpret(value, as: Date.self)) else {
                throw CodingError(.outOfRange, expected: "a date of the years 1 to 9999")
            }
            return .date(date)
        }
        if T.self == [UInt8].self { return .bytes(reinterpret(value, as: [UInt8].self)) }
        if T.self == Data.self { return .bytes([UInt8](reinterpret(value, as: Data.self))) }
        if T.self == Value.self { return reinterpret(value, as: Value.self) }
        if T.self == Float.self { return try double(Double(reinterpret(value, as: Float.self))) }
        if let integer = try rareInteger(value) { return integer }
        let builder = ValueBuilder(depth: depth)
        try value.encode(to: builder)
        return try builder.finish()
    }

    private static func rareInteger<T>(_ value: T) throws -> Value? {
        if T.self == Int64.self { return .int(reinterpret(value, as: Int64.self)) }
        if T.self == Int32.self { return .int(Int64(reinterpret(value, as: Int32.self))) }
        if T.self == Int16.self { return .int(Int64(reinterpret(value, as: Int16.self))) }
        if T.self == Int8.self { return .int(Int64(reinterpret(value, as: Int8.self))) }
        if T.self == UInt32.self { return .int(Int64(reinterpret(value, as: UInt32.self))) }
        if T.self == UInt16.self { return .int(Int64(reinterpret(value, as: UInt16.self))) }
        if T.self == UInt8.self { return .int(Int64(reinterpret(value, as: UInt8.self))) }
        if T.self == UInt64.self { return try integer(reinterpret(value, as: UInt64.self)) }
        if T.self == UInt.self { return try integer(reinterpret(value, as: UInt.self)) }
        return nil
    }
}

private struct KeyedBuilder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let builder: ValueBuilder
    var codingPath: [any CodingKey] { builder.codingPath }

    private func set(_ value: Value, _ key: String) {
        builder.members[key] = value
        if !builder.openMembers.isEmpty { builder.openMembers[key] = nil }
    }

    private func open(_ key: any CodingKey) -> ValueBuilder {
        let nested = builder.nested(under: key)
        builder.members[key.stringValue] = .null
        builder.openMembers[key.stringValue] = nested
        return nested
    }

    mutating func encodeNil(forKey key: Key) {
        set(.null, key.stringValue)
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        do {
            set(try ValueBuilder.value(value, depth: builder.depth + 1), key.stringValue)
        } catch {
            throw CodingError.within(codingPath, key, error)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        open(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        open(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { open(CoderKey.superclass) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { open(key) }
}

private struct UnkeyedBuilder: UnkeyedEncodingContainer {
    let builder: ValueBuilder
    var codingPath: [any CodingKey] { builder.codingPath }
    var count: Int { builder.items.count }

    private func open() -> ValueBuilder {
        let nested = builder.nested(under: CoderKey.index(count))
        builder.openItems.append((count, nested))
        builder.items.append(.null)
        return nested
    }

    mutating func encodeNil() {
        builder.items.append(.null)
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        do {
            builder.items.append(try ValueBuilder.value(value, depth: builder.depth + 1))
        } catch {
            throw CodingError.within(codingPath, CoderKey.index(count), error)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        open().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        open().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { open() }
}

private struct SingleBuilder: SingleValueEncodingContainer {
    let builder: ValueBuilder
    var codingPath: [any CodingKey] { builder.codingPath }

    mutating func encodeNil() {
        builder.take(.leaf)
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        do {
            let leaf = try ValueBuilder.value(value, depth: builder.depth)
            builder.take(.leaf)
            builder.leaf = leaf
        } catch {
            throw CodingError.within(codingPath, nil, error)
        }
    }
}
