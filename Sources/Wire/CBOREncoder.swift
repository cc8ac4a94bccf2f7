import FoundationEssentials
import Values

// Encoding streams: each key and value goes into the writer as the type hands it over, and a
// container's head is patched when something is written further out. Codable also lets a type use
// its containers in any order, leave a super encoder unused, or ask for the same container twice. A
// stream cannot do that, so the sink notices (`isTangled`), drops what it has, and the value takes
// the slower way through a tree (`ValueEncoder`), which can. Paths of errors are made while an
// error travels outward.

/// Writes `Codable` types as CBOR, as ``ValueEncoder`` would write them as values.
///
/// Only `UInt64` goes beyond: all of its 64 bits are written.
package struct CBOREncoder: Sendable {
    package init() {}

    package func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        let writer = CBORWriter()
        try encode(value, into: writer)
        return writer.bytes
    }

    /// Appends the value to what the writer holds; after an error the writer is as it was.
    package func encode<T: Encodable>(_ value: T, into writer: CBORWriter) throws {
        let start = writer.count
        do {
            let sink = CBORSink(writer)
            defer { sink.end() }
            try sink.value(value)
            if sink.isTangled {
                writer.truncate(to: start)
                writer.value(try ValueEncoder().encode(value))
            }
        } catch {
            writer.truncate(to: start)
            throw CodingError.within([], nil, error)
        }
    }
}

/// A container whose items are being written. Its token names it, so that it is known when it is
/// over.
struct CBORContainer {
    var level: Int
    var token: UInt32
}

/// The one stream of a value and all that is inside of it.
final class CBORSink {
    private struct Open {
        var position: Int
        var count: Int
        var token: UInt32
        /// Where the value of a super encoder must begin; -1 when none is awaited.
        var awaited: Int
        var major: UInt8
    }

    let writer: CBORWriter
    @exclusivity(unchecked) private var stack: ContiguousArray<Open> = []
    @exclusivity(unchecked) private var lastToken: UInt32 = 0
    /// Whether the type has used its containers in a way that a stream cannot follow.
    @exclusivity(unchecked) private(set) var isTangled = false
    /// The encoder of every ordinary value, which runs inside the one before.
    private var shared: CBORStreamEncoder?

    init(_ writer: CBORWriter) {
        self.writer = writer
        stack.reserveCapacity(8)
    }

    var depth: Int { stack.count }

    func tangle() {
        isTangled = true
    }

    /// Parts from the encoders: one that a type has kept writes nothing any more.
    func end() {
        isTangled = true
        shared = nil
    }

    /// Opens a container at the end of the stream.
    func open(major: UInt8) -> CBORContainer {
        guard stack.count < Value.depthLimit else {
            // The tree has the same limit, and says so.
            isTangled = true
            return CBORContainer(level: 0, token: 0)
        }
        lastToken &+= 1
        let position = writer.open()
        stack.append(
            Open(position: position, count: 0, token: lastToken, awaited: -1, major: major))
        return CBORContainer(level: stack.count - 1, token: lastToken)
    }

    func close(to level: Int) {
        while stack.count > level {
            let open = stack.removeLast()
            if open.awaited == writer.count { isTangled = true }
            writer.close(open.position, major: open.major, count: open.count)
        }
    }

    /// Makes the container the innermost one and counts an item; false when it is over.
    @inline(__always)
    func begin(_ container: CBORContainer) -> Bool {
        guard !isTangled, container.level < stack.count,
            stack[container.level].token == container.token
        else {
            isTangled = true
            return false
        }
        if stack.count > container.level + 1 { close(to: container.level + 1) }
        if stack[container.level].awaited == writer.count { isTangled = true }
        stack[container.level].count += 1
        return !isTangled
    }

    /// Takes the item back that ``begin(_:)`` counted.
    func rollBack(_ container: CBORContainer, to position: Int) {
        guard !isTangled else { return }
        stack.removeSubrange((container.level + 1)...)
        stack[container.level].count -= 1
        writer.truncate(to: position)
    }

    /// Says that the value of a super encoder comes next.
    func await(_ container: CBORContainer) {
        guard !isTangled else { return }
        stack[container.level].awaited = writer.count
    }

    func count(of container: CBORContainer) -> Int {
        guard container.level < stack.count, stack[container.level].token == container.token else {
            return 0
        }
        return stack[container.level].count
    }
}

extension CBORSink {
    /// Writes anything; the known leaves do not ask the type.
    @inline(__always)
    func value<T: Encodable>(_ value: T) throws {
        if T.self == String.self { return writer.text(reinterpret(value, as: String.self)) }
        if T.self == Int.self { return writer.int(Int64(reinterpret(value, as: Int.self))) }
        if T.self == Double.self { return try double(reinterpret(value, as: Double.self)) }
        if T.self == Bool.self { return writer.bool(reinterpret(value, as: Bool.self)) }
        if T.self == UUID.self { return writer.uuid(UUIDBytes(reinterpret(value, as: UUID.self))) }
        if T.self == Date.self { return try date(reinterpret(value, as: Date.self)) }
        try other(value)
    }

    private func double(_ value: Double) throws {
        guard value.isFinite else {
            throw CodingError(.outOfRange, expected: "a finite number", found: "\(value)")
        }
        writer.double(value)
    }

    private func date(_ value: Date) throws {
        guard let milliseconds = Value.milliseconds(of: value) else {
            throw CodingError(.outOfRange, expected: "a date of the years 1 to 9999")
        }
        writer.date(milliseconds)
    }

    private func other<T: Encodable>(_ value: T) throws {
        if T.self == [UInt8].self { return writer.bytes(reinterpret(value, as: [UInt8].self)) }
        if T.self == Data.self {
            return reinterpret(value, as: Data.self).withUnsafeBytes { writer.bytes($0) }
        }
        if T.self == Value.self { return writer.value(reinterpret(value, as: Value.self)) }
        if T.self == [String].self { return texts(reinterpret(value, as: [String].self)) }
        if T.self == [Int].self { return integers(reinterpret(value, as: [Int].self)) }
        if T.self == Float.self { return try double(Double(reinterpret(value, as: Float.self))) }
        if rareInteger(value) { return }
        let encoder = shared ?? CBORStreamEncoder(sink: self, codingPath: [])
        shared = encoder
        try encoder.run(value)
    }

    private func texts(_ texts: [String]) {
        writer.array(texts.count)
        for text in texts { writer.text(text) }
    }

    private func integers(_ integers: [Int]) {
        writer.array(integers.count)
        for integer in integers { writer.int(Int64(integer)) }
    }

    private func rareInteger<T>(_ value: T) -> Bool {
        if T.self == Int64.self {
            writer.int(reinterpret(value, as: Int64.self))
        } else if T.self == Int32.self {
            writer.int(Int64(reinterpret(value, as: Int32.self)))
        } else if T.self == Int16.self {
            writer.int(Int64(reinterpret(value, as: Int16.self)))
        } else if T.self == Int8.self {
            writer.int(Int64(reinterpret(value, as: Int8.self)))
        } else if T.self == UInt64.self {
            writer.uint(reinterpret(value, as: UInt64.self))
        } else if T.self == UInt32.self {
            writer.uint(UInt64(reinterpret(value, as: UInt32.self)))
        } else if T.self == UInt16.self {
            writer.uint(UInt64(reinterpret(value, as: UInt16.self)))
        } else if T.self == UInt8.self {
            writer.uint(UInt64(reinterpret(value, as: UInt8.self)))
        } else if T.self == UInt.self {
            writer.uint(UInt64(reinterpret(value, as: UInt.self)))
        } else {
            return false
        }
        return true
    }
}
