public import FoundationEssentials

/// What may name a row of a ``Table``: a text, an integer, a UUID, or a type that wraps one.
///
/// Two ids are the same row if their texts have the same bytes.
public protocol RowID: Sendable {
    /// The text that stands for the id in the value of the region, in pointers and in JSON.
    var rowKey: String { get }
}

extension String: RowID {
    /// The text itself.
    public var rowKey: String { self }
}

extension Int: RowID {
    /// The digits.
    public var rowKey: String { description }
}

extension Int64: RowID {
    /// The digits.
    public var rowKey: String { description }
}

extension UUIDBytes: RowID {
    /// The text of RFC 9562 in lower case.
    public var rowKey: String { description }
}

extension UUID: RowID {
    /// The text of RFC 9562 in lower case.
    public var rowKey: String { UUIDBytes(self).description }
}

extension RawRepresentable where Self: RowID, RawValue: RowID {
    /// That of what is wrapped.
    public var rowKey: String { rawValue.rowKey }
}
