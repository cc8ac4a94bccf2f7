public import FoundationEssentials

extension UUIDBytes {
    /// The same UUID as the library's type.
    public init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) { bytes in
            UUIDBytes(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

extension UUID {
    /// The same UUID in the library's type.
    public init(_ bytes: UUIDBytes) {
        let halves = (bytes.high.bigEndian, bytes.low.bigEndian)
        self = withUnsafeBytes(of: halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension Value {
    /// The milliseconds of a date, rounded; nil outside of ``dateRange``.
    public static func milliseconds(of date: Date) -> Int64? {
        milliseconds(secondsSince1970: date.timeIntervalSince1970)
    }

    /// The milliseconds of a time, rounded; nil outside of ``dateRange`` and for what is not
    /// finite.
    public static func milliseconds(secondsSince1970 seconds: Double) -> Int64? {
        guard let sum = Int64(exactly: (seconds * 1000).rounded()), dateRange.contains(sum) else {
            return nil
        }
        return sum
    }
}

extension Date {
    /// The date that a ``Value/date(_:)`` leaf says.
    public init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

/// The same value under the type that it is known to have: where generic code has found that
/// `Wanted` is the type of `value`, this says so to the compiler without a dynamic cast.
@inline(__always)
package func reinterpret<Known, Wanted>(_ value: Known, as type: Wanted.Type) -> Wanted {
    unsafeBitCast(value, to: type)
}
