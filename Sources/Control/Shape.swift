internal import FoundationEssentials
internal import Synchronization

/// The structure of a `Codable` type as its coding sees it, in words: `{name: text, slides:
/// [text]}`.
///
/// Two builds that give a type other names agree as long as its shape is the same. It is found by
/// decoding the type from nothing and noting what it asks for, so it says what `init(from:)` reads.
/// What cannot be found that way is `_`, which fits everything: whatever would have been read after
/// an enumeration that takes neither the text nor the zero it is given and does not list its cases.
public enum Shape {
    /// The shape of a type.
    /// - Complexity: that of decoding a value of it, once in the life of the process.
    public static func of<T: Decodable>(_ type: T.Type) -> String {
        let key = ObjectIdentifier(type)
        if let known = cache.withLock({ $0[key] }) { return known }
        let shape = Probe(path: []).shape(of: type)
        cache.withLock { $0[key] = shape }
        return shape
    }

    private static let cache = Mutex<[ObjectIdentifier: String]>([:])

    /// Whether a value of one shape may stand where the other is expected.
    public static func fits(_ actual: String, _ expected: String) -> Bool {
        actual == expected || actual.isEmpty || expected.isEmpty
            || actual.contains(unknown) || expected.contains(unknown)
            || coarse(actual) == coarse(expected)
    }

    /// What stands for a leaf where the ends need not tell it apart. Dates and identifiers have
    /// words for people; a device in another language may say how it reads them.
    static let coarser: [Substring: Substring] = ["date": "number", "uuid": "text"]

    private static func coarse(_ shape: String) -> String {
        var text = ""
        var rest = shape[...]
        while let first = rest.first {
            let word = rest.prefix { $0.isLetter || $0.isNumber }
            guard !word.isEmpty else {
                text.append(first)
                rest.removeFirst()
                continue
            }
            rest = rest[word.endIndex...]
            // A member may have such a name.
            text += rest.first == ":" ? word : coarser[word] ?? word
        }
        return text
    }

    /// Fits everything.
    static let unknown = "_"
}

/// A type whose shape follows from those of its parts.
private protocol Composed {
    static func shape(_ probe: Probe) -> String
    /// The value without parts.
    static var empty: Any { get }
}

extension Optional: Composed where Wrapped: Decodable {
    fileprivate static func shape(_ probe: Probe) -> String { probe.shape(of: Wrapped.self) + "?" }
    fileprivate static var empty: Any { Self.none as Any }
}

extension Array: Composed where Element: Decodable {
    fileprivate static func shape(_ probe: Probe) -> String { "[\(probe.shape(of: Element.self))]" }
    fileprivate static var empty: Any { Self() }
}

extension Set: Composed where Element: Decodable {
    fileprivate static func shape(_ probe: Probe) -> String { "[\(probe.shape(of: Element.self))]" }
    fileprivate static var empty: Any { Self() }
}

extension Dictionary: Composed where Key: Decodable, Value: Decodable {
    fileprivate static func shape(_ probe: Probe) -> String {
        "{*: \(probe.shape(of: Value.self))}"
    }
    fileprivate static var empty: Any { Self() }
}

/// One walk through a type.
private struct Probe {
    /// The types around, so that one that holds itself ends.
    let path: [ObjectIdentifier]

    func shape<T: Decodable>(of type: T.Type) -> String {
        if let name = Self.leaves[ObjectIdentifier(type)] { return name }
        let key = ObjectIdentifier(type)
        guard !path.contains(key) else { return Shape.unknown }
        let inner = Probe(path: path + [key])
        if let composed = type as? any Composed.Type { return composed.shape(inner) }
        let notes = Notes(inner)
        let isWhole = (try? T(from: ProbeDecoder(notes: notes))) != nil
        return notes.text(isWhole: isWhole || notes.isLeaf)
    }

    /// A value of the type, for those that hold it.
    func value<T: Decodable>(of type: T.Type) throws -> T {
        if let empty = (type as? any Composed.Type)?.empty as? T { return empty }
        if let cases = type as? any CaseIterable.Type, let first = cases.first as? T {
            return first
        }
        guard !path.contains(ObjectIdentifier(type)) else { throw Nothing() }
        return try T(from: ProbeDecoder(notes: Notes(Probe(path: path + [ObjectIdentifier(type)]))))
    }

    private static let leaves: [ObjectIdentifier: String] = [
        ObjectIdentifier(Bool.self): "bool", ObjectIdentifier(String.self): "text",
        ObjectIdentifier(Date.self): "date", ObjectIdentifier(UUID.self): "uuid",
        ObjectIdentifier(Double.self): "number", ObjectIdentifier(Float.self): "number",
        ObjectIdentifier(Int.self): "int", ObjectIdentifier(Int8.self): "int",
        ObjectIdentifier(Int16.self): "int", ObjectIdentifier(Int32.self): "int",
        ObjectIdentifier(Int64.self): "int", ObjectIdentifier(UInt.self): "int",
        ObjectIdentifier(UInt8.self): "int", ObjectIdentifier(UInt16.self): "int",
        ObjectIdentifier(UInt32.self): "int", ObjectIdentifier(UInt64.self): "int",
    ]
}

extension CaseIterable {
    fileprivate static var first: Any? { allCases.first }
}

private struct Nothing: Error {}

/// What one type has asked for.
private final class Notes {
    let probe: Probe
    private var fields: [(name: String, shape: String)] = []
    private var elements: [String] = []
    private var leaf: String?
    private var isKeyed = false
    private var optional: String?

    init(_ probe: Probe) { self.probe = probe }

    var isLeaf: Bool { leaf != nil }

    func keyed() { isKeyed = true }
    /// A member is looked at before it is read: it may be missing.
    func mayMiss(_ name: String) { optional = name }

    func field(_ name: String, _ shape: String) {
        fields.append((name, optional == name ? shape + "?" : shape))
        optional = nil
    }

    func element(_ shape: String) { elements.append(shape) }
    func single(_ shape: String) { leaf = leaf ?? shape }

    func text(isWhole: Bool) -> String {
        if let leaf { return leaf }
        let rest = isWhole ? [] : [Shape.unknown]
        if isKeyed {
            let words = fields.map { "\($0.name): \($0.shape)" }.sorted() + rest
            return "{\(words.joined(separator: ", "))}"
        }
        return elements.isEmpty && rest.isEmpty
            ? Shape.unknown : "(\((elements + rest).joined(separator: ", ")))"
    }
}

private struct ProbeDecoder: Decoder {
    let notes: Notes
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        notes.keyed()
        return KeyedDecodingContainer(KeyedProbe(notes: notes))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { UnkeyedProbe(notes: notes) }
    func singleValueContainer() -> any SingleValueDecodingContainer { SingleProbe(notes: notes) }
}

private struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: Notes
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool {
        notes.mayMiss(key.stringValue)
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        notes.field(key.stringValue, notes.probe.shape(of: type))
        return try notes.probe.value(of: type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw Nothing() }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw Nothing()
    }
    func superDecoder() throws -> any Decoder { throw Nothing() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Nothing() }
}

private struct UnkeyedProbe: UnkeyedDecodingContainer {
    let notes: Notes
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex >= 16 }
    var currentIndex = 0

    init(notes: Notes) { self.notes = notes }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        currentIndex += 1
        notes.element(notes.probe.shape(of: type))
        return try notes.probe.value(of: type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw Nothing() }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw Nothing()
    }
    mutating func superDecoder() throws -> any Decoder { throw Nothing() }
}

private struct SingleProbe: SingleValueDecodingContainer {
    let notes: Notes
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode(_ type: Bool.Type) -> Bool { leaf("bool", false) }
    /// An identifier of zeros, for some types take no other text.
    func decode(_ type: String.Type) -> String {
        leaf("text", "00000000-0000-0000-0000-000000000000")
    }
    func decode(_ type: Double.Type) -> Double { leaf("number", 0) }
    func decode(_ type: Float.Type) -> Float { leaf("number", 0) }
    func decode(_ type: Int.Type) -> Int { leaf("int", 0) }
    func decode(_ type: Int8.Type) -> Int8 { leaf("int", 0) }
    func decode(_ type: Int16.Type) -> Int16 { leaf("int", 0) }
    func decode(_ type: Int32.Type) -> Int32 { leaf("int", 0) }
    func decode(_ type: Int64.Type) -> Int64 { leaf("int", 0) }
    func decode(_ type: UInt.Type) -> UInt { leaf("int", 0) }
    func decode(_ type: UInt8.Type) -> UInt8 { leaf("int", 0) }
    func decode(_ type: UInt16.Type) -> UInt16 { leaf("int", 0) }
    func decode(_ type: UInt32.Type) -> UInt32 { leaf("int", 0) }
    func decode(_ type: UInt64.Type) -> UInt64 { leaf("int", 0) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        notes.single(notes.probe.shape(of: type))
        return try notes.probe.value(of: type)
    }

    private func leaf<T>(_ name: String, _ value: T) -> T {
        notes.single(name)
        return value
    }
}
