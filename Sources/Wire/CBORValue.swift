package import Values

/// Values as CBOR: a UUID is tag 37 on 16 bytes, a date tag 1 on a float of seconds, all else its
/// own kind.
package enum CBORTag {
    package static let date: UInt64 = 1
    package static let uuid: UInt64 = 37
}

extension CBORWriter {
    /// The value; keys in the order of RFC 8949 §4.2.1 (shorter first, then by bytes), which is
    /// that of ``Value/Members``, so that equal values are equal bytes.
    package func value(_ value: Value) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): int(number)
        case .double(let number): double(number)
        case .text(let string): text(string)
        case .bytes(let content): bytes(content)
        case .date(let milliseconds): date(milliseconds)
        case .uuid(let identifier): uuid(identifier)
        case .array(let items):
            array(items.count)
            for item in items { self.value(item) }
        case .map(let members):
            map(members.count)
            for (key, member) in members {
                text(key)
                self.value(member)
            }
        }
    }

    package func uuid(_ uuid: UUIDBytes) {
        tag(CBORTag.uuid)
        withUnsafeBytes(of: (uuid.high.bigEndian, uuid.low.bigEndian)) { bytes($0) }
    }

    /// A date in milliseconds since 1970.
    package func date(_ milliseconds: Int64) {
        tag(CBORTag.date)
        double(Double(milliseconds) / 1000)
    }
}

extension CBORReader {
    /// The next item as a value.
    ///
    /// Keys may stand in any order, none twice. Nothing is reserved beyond 1,024 elements before
    /// they are read, so that nested heads cannot ask for more memory than their bytes are worth.
    package mutating func value() throws(CBORError) -> Value {
        let start = position
        do throws(CBORError) {
            return try value(depth: 0)
        } catch {
            self = at(start)
            throw error
        }
    }

    mutating func value(depth: Int) throws(CBORError) -> Value {
        guard let initial = initialByte else { throw CBORError(.truncated, at: position) }
        switch initial >> 5 {
        case 0, 1: return .int(try int())
        case 2: return .bytes([UInt8](try bytes()))
        case 3: return .text(try text())
        case 4: return try items(depth: depth)
        case 5: return try members(depth: depth)
        case 6: return try tagged()
        default:
            if skipNull() { return .null }
            if initial == 0xF4 || initial == 0xF5 { return .bool(try bool()) }
            guard (0xF9...0xFB).contains(initial) else {
                throw CBORError(.unsupported, at: position)
            }
            return .double(try double())
        }
    }

    private mutating func items(depth: Int) throws(CBORError) -> Value {
        guard depth < Self.depthLimit else { throw CBORError(.tooDeep, at: position) }
        let count = try array()
        var items: [Value] = []
        items.reserveCapacity(min(count, 1024))
        for _ in 0..<count { items.append(try value(depth: depth + 1)) }
        return .array(items)
    }

    private mutating func members(depth: Int) throws(CBORError) -> Value {
        guard depth < Self.depthLimit else { throw CBORError(.tooDeep, at: position) }
        let count = try map()
        var members = Value.Members(capacity: count)
        for _ in 0..<count {
            let start = position
            let key = try text()
            guard members.updateValue(try value(depth: depth + 1), forKey: key) == nil else {
                throw CBORError(.duplicateKey, at: start)
            }
        }
        return .map(members)
    }

    private mutating func tagged() throws(CBORError) -> Value {
        var ahead = self
        switch try ahead.tag() {
        case CBORTag.uuid: return .uuid(try uuid())
        case CBORTag.date: return .date(try date())
        default: throw CBORError(.unsupported, at: position)
        }
    }

    package mutating func uuid() throws(CBORError) -> UUIDBytes {
        var ahead = self
        guard try ahead.tag() == CBORTag.uuid else { throw CBORError(.mismatch, at: position) }
        let bytes = try ahead.bytes()
        guard bytes.count == 16 else { throw CBORError(.outOfRange, at: position) }
        self = ahead
        return UUIDBytes(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// A date in milliseconds since 1970; the seconds may be an integer or a float.
    package mutating func date() throws(CBORError) -> Int64 {
        var ahead = self
        guard try ahead.tag() == CBORTag.date else { throw CBORError(.mismatch, at: position) }
        let isFloat = (ahead.initialByte ?? 0) >> 5 == 7
        let seconds = isFloat ? try ahead.double() : Double(try ahead.int())
        guard let milliseconds = Value.milliseconds(secondsSince1970: seconds) else {
            throw CBORError(.outOfRange, at: position)
        }
        self = ahead
        return milliseconds
    }
}
