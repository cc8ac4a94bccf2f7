/// A tree of data: what regions hold, what patches change, what the shell prints.
///
/// The leaves are those of JSON with three refinements that keep a value exact on its way through
/// text and bytes: integers are apart from doubles, bytes are apart from text, and dates and UUIDs
/// are leaves of their own. Equality is exact: texts and keys are compared byte by byte (two
/// spellings of "é" are two paths on a disk), doubles by their bits, and `int(1)` is not
/// `double(1)`.
public enum Value: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A finite double; the coders refuse every other.
    case double(Double)
    case text(String)
    case bytes([UInt8])
    case array([Value])
    /// Members by key.
    case map(Members)
    /// Milliseconds since 1970-01-01T00:00:00Z, within ``dateRange``.
    case date(Int64)
    case uuid(UUIDBytes)

    /// How many arrays and maps may stand inside each other; coders, parser and patches refuse
    /// more.
    public static let depthLimit = 64

    /// The years 0001 to 9999 in milliseconds since 1970, in UTC.
    public static let dateRange: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999
}

extension Value: Hashable {
    /// Compares exactly, see ``Value``.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        default: false
        }
    }

    /// Feeds the kind and the content.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .text(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .map(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        }
    }
}

extension String {
    /// Whether both are the same UTF-8, which is finer than `==` (canonical equivalence).
    package func hasSameBytes(as other: String) -> Bool {
        KeyOrder(self, other) == .same
    }

    /// Whether the UTF-8 of this comes before that of the other; the order of keys in JSON text.
    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension Value {
    /// The boolean, if this is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, if this is one.
    public var int: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    /// The double, if this is one.
    public var double: Double? {
        if case .double(let value) = self { value } else { nil }
    }

    /// The text, if this is one.
    public var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The bytes, if this holds some.
    public var bytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The elements, if this is an array.
    public var array: [Value]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, if this is a map.
    public var map: Members? {
        if case .map(let value) = self { value } else { nil }
    }

    /// The milliseconds since 1970, if this is a date.
    public var date: Int64? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The UUID, if this is one.
    public var uuid: UUIDBytes? {
        if case .uuid(let value) = self { value } else { nil }
    }

    /// Whether this is null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The member of a map; nil where there is none or this is no map.
    public subscript(key: String) -> Value? {
        if case .map(let members) = self { members[key] } else { nil }
    }

    /// The element of an array; nil where there is none or this is no array.
    public subscript(index: Int) -> Value? {
        guard case .array(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }

    /// What this is, in the words of the messages to a person.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "integer"
        case .double: "double"
        case .text: "text"
        case .bytes: "bytes"
        case .array: "array"
        case .map: "map"
        case .date: "date"
        case .uuid: "UUID"
        }
    }
}

// There is no nil literal: it would make `value["key"] == nil` and `condition ? value : nil` mean
// null.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Makes a double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Makes an array.
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
    /// Makes a map; of a key that stands twice the last member counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        var members = Members()
        for (key, value) in elements { members[key] = value }
        self = .map(members)
    }
}
