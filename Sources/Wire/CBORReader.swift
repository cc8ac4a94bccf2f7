/// Why bytes are not the CBOR that was expected.
package struct CBORError: Error, Equatable, CustomStringConvertible {
    package enum Code: UInt8, Sendable {
        /// The bytes end inside of an item, or a length points beyond them.
        case truncated
        /// An item of another kind stands there.
        case mismatch
        /// A number, date or length that its target cannot hold.
        case outOfRange
        /// A head of RFC 8949 that this protocol does not use: indefinite lengths, unknown tags.
        case unsupported
        /// A text is not UTF-8.
        case notUTF8
        /// A map holds a key twice.
        case duplicateKey
        case tooDeep
        /// Bytes follow the item.
        case trailing
    }

    package let code: Code
    /// The offset of the item.
    package let position: Int

    package init(_ code: Code, at position: Int) {
        self.code = code
        self.position = position
    }

    package var description: String { "\(code) at byte \(position)" }
}

/// Reads CBOR (RFC 8949, definite lengths only) from borrowed bytes.
///
/// Every read is checked against the end, so no bytes whatever can trap or make it look outside. A
/// read that throws leaves the position where it was. The bytes must outlive the reader.
package struct CBORReader {
    private let base: UnsafeRawPointer?
    private let end: Int
    package private(set) var position: Int

    package init(_ bytes: UnsafeRawBufferPointer) {
        base = bytes.baseAddress
        end = bytes.count
        position = 0
    }

    /// A reader of the same bytes that stands somewhere else.
    @inline(__always)
    package func at(_ position: Int) -> CBORReader {
        var other = self
        other.position = min(max(0, position), end)
        return other
    }

    package var atEnd: Bool { position >= end }

    /// How many bytes follow.
    package var remaining: Int { end - position }

    /// The bytes between two positions; empty where they are no range of this reader.
    package func slice(_ from: Int, _ to: Int) -> UnsafeRawBufferPointer {
        guard let base, from >= 0, from <= to, to <= end else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: base + from, count: to - from)
    }

    /// The first byte of the next item.
    @inline(__always)
    package var initialByte: UInt8? {
        guard let base, position < end else { return nil }
        return base.load(fromByteOffset: position, as: UInt8.self)
    }

    /// The head of the next item. For major type 7 the argument is what follows the initial byte.
    @inline(__always)
    package mutating func head() throws(CBORError) -> (major: UInt8, argument: UInt64) {
        guard let base, position < end else { throw CBORError(.truncated, at: position) }
        let at = base + position
        let initial = at.load(as: UInt8.self)
        let info = initial & 31
        let left = end - position
        if info < 24 {
            position += 1
            return (initial >> 5, UInt64(info))
        }
        switch info {
        case 24 where left >= 2:
            position += 2
            return (initial >> 5, UInt64((at + 1).load(as: UInt8.self)))
        case 25 where left >= 3:
            position += 3
            let argument = UInt16(bigEndian: (at + 1).loadUnaligned(as: UInt16.self))
            return (initial >> 5, UInt64(argument))
        case 26 where left >= 5:
            position += 5
            let argument = UInt32(bigEndian: (at + 1).loadUnaligned(as: UInt32.self))
            return (initial >> 5, UInt64(argument))
        case 27 where left >= 9:
            position += 9
            return (initial >> 5, UInt64(bigEndian: (at + 1).loadUnaligned(as: UInt64.self)))
        default:
            throw CBORError(info < 28 ? .truncated : .unsupported, at: position)
        }
    }

    /// The argument of an item that must have this major type.
    @inline(__always)
    private mutating func argument(_ major: UInt8) throws(CBORError) -> UInt64 {
        let start = position
        let head = try head()
        guard head.major == major else {
            position = start
            throw CBORError(.mismatch, at: start)
        }
        return head.argument
    }

    @inline(__always)
    package mutating func uint() throws(CBORError) -> UInt64 {
        try argument(0)
    }

    @inline(__always)
    package mutating func int() throws(CBORError) -> Int64 {
        let start = position
        let head = try head()
        guard head.major <= 1 else {
            position = start
            throw CBORError(.mismatch, at: start)
        }
        guard head.argument <= UInt64(Int64.max) else {
            position = start
            throw CBORError(.outOfRange, at: start)
        }
        let value = Int64(bitPattern: head.argument)
        return head.major == 0 ? value : ~value
    }

    @inline(__always)
    package mutating func bool() throws(CBORError) -> Bool {
        switch initialByte {
        case 0xF5: position += 1
        case 0xF4:
            position += 1
            return false
        case nil: throw CBORError(.truncated, at: position)
        default: throw CBORError(.mismatch, at: position)
        }
        return true
    }

    @inline(__always)
    package var isNull: Bool { initialByte == 0xF6 }

    /// Steps over a null, if one is next.
    @inline(__always)
    package mutating func skipNull() -> Bool {
        guard isNull else { return false }
        position += 1
        return true
    }

    /// A finite float of two, four or eight bytes; no integer.
    @inline(__always)
    package mutating func double() throws(CBORError) -> Double {
        let start = position
        let initial = initialByte
        let head = try head()
        let value: Double
        switch initial {
        case 0xFB: value = Double(bitPattern: head.argument)
        case 0xFA: value = Double(Float(bitPattern: UInt32(truncatingIfNeeded: head.argument)))
        case 0xF9: value = Self.half(UInt16(truncatingIfNeeded: head.argument))
        default:
            position = start
            throw CBORError(.mismatch, at: start)
        }
        guard value.isFinite else {
            position = start
            throw CBORError(.outOfRange, at: start)
        }
        return value
    }

    /// RFC 8949, appendix D.
    private static func half(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 31)
        let mantissa = Double(bits & 0x3FF)
        let size: Double
        switch exponent {
        case 0: size = Double(sign: .plus, exponent: -24, significand: mantissa)
        case 31: size = mantissa == 0 ? .infinity : .nan
        default: size = Double(sign: .plus, exponent: exponent - 25, significand: mantissa + 1024)
        }
        return bits >> 15 == 0 ? size : -size
    }

    @inline(__always)
    private mutating func content(_ major: UInt8) throws(CBORError) -> UnsafeRawBufferPointer {
        let start = position
        let length = try argument(major)
        guard length <= UInt64(end - position), let base else {
            position = start
            throw CBORError(.truncated, at: start)
        }
        let content = UnsafeRawBufferPointer(start: base + position, count: Int(length))
        position += content.count
        return content
    }

    /// The content of a byte string, borrowed.
    @inline(__always)
    package mutating func bytes() throws(CBORError) -> UnsafeRawBufferPointer {
        try content(2)
    }

    /// The content of a text, borrowed and not yet checked to be UTF-8.
    @inline(__always)
    package mutating func utf8() throws(CBORError) -> UnsafeRawBufferPointer {
        try content(3)
    }

    @inline(__always)
    package mutating func text() throws(CBORError) -> String {
        let start = position
        let utf8 = try content(3)
        guard let text = String(utf8: utf8) else {
            position = start
            throw CBORError(.notUTF8, at: start)
        }
        return text
    }

    /// The count of an array, at most one for each byte left: safe to reserve for.
    @inline(__always)
    package mutating func array() throws(CBORError) -> Int {
        try count(4, of: 1)
    }

    /// The count of a map, at most one for each two bytes left: safe to reserve for.
    @inline(__always)
    package mutating func map() throws(CBORError) -> Int {
        try count(5, of: 2)
    }

    /// - Parameter bytes: what each of those that are counted takes at least.
    @inline(__always)
    private mutating func count(_ major: UInt8, of bytes: Int) throws(CBORError) -> Int {
        let start = position
        let count = try argument(major)
        guard count <= UInt64((end - position) / bytes) else {
            position = start
            throw CBORError(.truncated, at: start)
        }
        return Int(count)
    }

    @inline(__always)
    package mutating func tag() throws(CBORError) -> UInt64 {
        try argument(6)
    }

    /// Steps over the next item, whatever it is, and checks that it is well-formed.
    package mutating func skip() throws(CBORError) {
        let start = position
        do throws(CBORError) {
            try skip(depth: 0)
        } catch {
            position = start
            throw error
        }
    }

    private mutating func skip(depth: Int) throws(CBORError) {
        let start = position
        var head = try head()
        // Tags hold one item and stand in a row; the row is as long as the bytes at most.
        while head.major == 6 { head = try self.head() }
        switch head.major {
        case 0, 1: return
        case 2, 3:
            guard head.argument <= UInt64(end - position) else {
                throw CBORError(.truncated, at: start)
            }
            position += Int(head.argument)
        case 4, 5:
            guard depth < Self.depthLimit else { throw CBORError(.tooDeep, at: start) }
            let width: UInt64 = head.major == 4 ? 1 : 2
            guard head.argument <= UInt64(end - position) / width else {
                throw CBORError(.truncated, at: start)
            }
            for _ in 0..<(head.argument * width) { try skip(depth: depth + 1) }
        default: return
        }
    }

    /// The bytes of the next item, borrowed, stepping over it.
    package mutating func item() throws(CBORError) -> UnsafeRawBufferPointer {
        let start = position
        try skip()
        return slice(start, position)
    }

    /// Refuses bytes that follow.
    package func finish() throws(CBORError) {
        guard atEnd else { throw CBORError(.trailing, at: position) }
    }

    /// How many arrays and maps may stand inside each other, as in a value.
    package static let depthLimit = 64
}

extension String {
    /// The text of bytes, if they are UTF-8. The initializer of the library that validates is
    /// generic and looks its types up anew for each text, which costs more than all else.
    @inline(__always)
    init?(utf8 bytes: UnsafeRawBufferPointer) {
        let text: String? = bytes.withMemoryRebound(to: UInt8.self) { bytes in
            guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
            return String(copying: text)
        }
        guard let text else { return nil }
        self = text
    }
}
