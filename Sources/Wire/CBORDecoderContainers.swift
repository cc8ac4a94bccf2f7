import Values

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a type's `init(from:)` gets: a place in the bytes at which one value begins.
final class CBORPlace: Decoder {
    /// A member of the map at this place: where key and value stand.
    struct Member {
        var key: Int
        var keyEnd: Int
        var value: Int
    }

    let source: CBORSource
    let start: Int
    let depth: Int
    /// The way from the value whose `init(from:)` runs to this place; empty but in nested
    /// containers.
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// How far the containers have read, -1 before the first, and how many items stand between that
    /// and the end of this place.
    @exclusivity(unchecked) var end = -1
    @exclusivity(unchecked) var itemsLeft = 0
    /// The map, scanned once; a search begins behind the last hit, for keys come in their order.
    @exclusivity(unchecked) private var members: ContiguousArray<Member> = []
    @exclusivity(unchecked) private var hint = 0
    @exclusivity(unchecked) private var isScanned = false

    init(_ source: CBORSource, _ start: Int, depth: Int, codingPath: [any CodingKey] = []) {
        self.source = source
        self.start = start
        self.depth = depth
        self.codingPath = codingPath
    }

    /// The position behind this place, whatever the type has left unread.
    func finish() throws -> Int {
        var position = end
        if position < 0 {
            position = start
            itemsLeft = 1
        }
        while itemsLeft > 0 {
            try source.skip(&position)
            itemsLeft -= 1
        }
        return position
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        do {
            if !isScanned { try scan() }
        } catch {
            throw CodingError.within(codingPath, nil, error)
        }
        return KeyedDecodingContainer(CBORKeyedPlace(place: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        do {
            try checkDepth()
            var position = start
            let count = try source.read("an array", at: &position) { reader throws(CBORError) in
                try reader.array()
            }
            end = position
            itemsLeft = count
            return CBORUnkeyedPlace(place: self, position: position, total: count)
        } catch {
            throw CodingError.within(codingPath, nil, error)
        }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        CBORSinglePlace(place: self)
    }

    func nested(_ position: Int, under key: any CodingKey) -> CBORPlace {
        CBORPlace(source, position, depth: depth + 1, codingPath: codingPath + [key])
    }

    private func checkDepth() throws {
        guard depth < Value.depthLimit else {
            throw CodingError(.tooDeep, expected: "at most \(Value.depthLimit) levels")
        }
    }

    private func scan() throws {
        try checkDepth()
        var position = start
        let found = try source.read("a map", at: &position) {
            reader throws(CBORError) -> ContiguousArray<Member> in
            let count = try reader.map()
            var members: ContiguousArray<Member> = []
            members.reserveCapacity(min(count, 1024))
            for _ in 0..<count {
                let start = reader.position
                let key = try reader.utf8()
                guard Self.isText(key) else { throw CBORError(.notUTF8, at: start) }
                let value = reader.position
                members.append(Member(key: value - key.count, keyEnd: value, value: value))
                try reader.skip()
            }
            if let twice = Self.duplicate(in: members, reader) {
                throw CBORError(.duplicateKey, at: twice.key)
            }
            return members
        }
        members = found
        isScanned = true
        end = position
        itemsLeft = 0
    }

    @inline(__always)
    private static func isText(_ key: UnsafeRawBufferPointer) -> Bool {
        var all: UInt8 = 0
        for byte in key { all |= byte }
        return all < 0x80 || String(validating: key, as: UTF8.self) != nil
    }

    /// A member whose key another one has, too (wire 3.6). The fields of a type are few, and most
    /// differ in their length; a map of many is sorted.
    private static func duplicate(
        in members: ContiguousArray<Member>, _ reader: CBORReader
    ) -> Member? {
        guard members.count > 1 else { return nil }
        func areSame(_ one: Member, _ other: Member) -> Bool {
            one.keyEnd - one.key == other.keyEnd - other.key
                && reader.slice(one.key, one.keyEnd).elementsEqual(
                    reader.slice(other.key, other.keyEnd))
        }
        guard members.count > fewMembers else {
            for index in 1..<members.count {
                for earlier in 0..<index where areSame(members[index], members[earlier]) {
                    return members[index]
                }
            }
            return nil
        }
        let sorted = members.sorted { one, other in
            let (length, another) = (one.keyEnd - one.key, other.keyEnd - other.key)
            guard length == another else { return length < another }
            return reader.slice(one.key, one.keyEnd).lexicographicallyPrecedes(
                reader.slice(other.key, other.keyEnd))
        }
        return zip(sorted, sorted.dropFirst()).first(where: areSame)?.1
    }

    private static let fewMembers = 16

    /// Where the value of a key begins.
    @inline(__always)
    func find(_ key: String) -> Int? {
        var key = key
        return key.withUTF8 { name in
            var next = hint
            for _ in 0..<members.count {
                if next >= members.count { next = 0 }
                let member = members[next]
                if member.keyEnd - member.key == name.count {
                    let bytes = source.reader.slice(member.key, member.keyEnd)
                    if bytes.count == name.count, Self.same(bytes, name) {
                        hint = next + 1
                        return member.value
                    }
                }
                next += 1
            }
            return nil
        }
    }

    @inline(__always)
    private static func same(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let first = left.baseAddress, let second = right.baseAddress else {
            return left.isEmpty
        }
        return memcmp(first, second, left.count) == 0
    }

    var keys: [String] {
        members.map { String(decoding: source.reader.slice($0.key, $0.keyEnd), as: UTF8.self) }
    }
}

private struct CBORKeyedPlace<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let place: CBORPlace
    var codingPath: [any CodingKey] { place.codingPath }
    var allKeys: [Key] { place.keys.compactMap(Key.init) }

    func contains(_ key: Key) -> Bool { place.find(key.stringValue) != nil }

    @inline(__always)
    private func position(_ key: any CodingKey) throws -> Int {
        if let position = place.find(key.stringValue) { return position }
        throw CodingError.within(
            codingPath, key, CodingError(.missing, expected: "a value", found: "nothing"))
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        place.source.reader.at(try position(key)).isNull
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decode(type, at: try position(key), key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let position = place.find(key.stringValue),
            !place.source.reader.at(position).isNull
        else { return nil }
        return try decode(type, at: position, key)
    }

    @inline(__always)
    private func decode<T: Decodable>(_ type: T.Type, at position: Int, _ key: Key) throws -> T {
        var position = position
        do {
            return try place.source.decode(type, at: &position, depth: place.depth + 1)
        } catch {
            throw CodingError.within(codingPath, key, error)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try place.nested(try position(key), under: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try place.nested(try position(key), under: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        place.nested(try position(CoderKey.superclass), under: CoderKey.superclass)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        place.nested(try position(key), under: key)
    }
}

private struct CBORUnkeyedPlace: UnkeyedDecodingContainer {
    let place: CBORPlace
    var position: Int
    let total: Int
    var currentIndex = 0

    init(place: CBORPlace, position: Int, total: Int) {
        self.place = place
        self.position = position
        self.total = total
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex >= total }

    /// Reads the element at the position; the position moves only if that succeeds.
    @inline(__always)
    private mutating func step<Result>(
        _ body: (CBORSource, inout Int) throws -> Result
    ) throws -> Result {
        do {
            guard currentIndex < total else {
                throw CodingError(.missing, expected: "an element", found: "the end")
            }
            var next = position
            let result = try body(place.source, &next)
            position = next
            currentIndex += 1
            place.end = next
            place.itemsLeft = total - currentIndex
            return result
        } catch {
            throw CodingError.within(codingPath, CoderKey.index(currentIndex), error)
        }
    }

    mutating func decodeNil() throws -> Bool {
        guard isAtEnd || place.source.reader.at(position).isNull else { return false }
        try step { source, position in try source.skip(&position) }
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let depth = place.depth + 1
        return try step { source, position in
            try source.decode(type, at: &position, depth: depth)
        }
    }

    private mutating func next() throws -> CBORPlace {
        let nested = place.nested(position, under: CoderKey.index(currentIndex))
        try step { source, position in try source.skip(&position) }
        return nested
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

private struct CBORSinglePlace: SingleValueDecodingContainer {
    let place: CBORPlace
    var codingPath: [any CodingKey] { place.codingPath }

    func decodeNil() -> Bool { place.source.reader.at(place.start).isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        var position = place.start
        do {
            let value = try place.source.decode(type, at: &position, depth: place.depth)
            place.end = position
            place.itemsLeft = 0
            return value
        } catch {
            throw CodingError.within(codingPath, nil, error)
        }
    }
}
