import Values

/// What a type's `encode(to:)` gets: a place in the stream at which one value begins.
final class CBORStreamEncoder: Encoder {
    let sink: CBORSink
    /// The way from the value whose `encode(to:)` runs to this place; empty but for super encoders.
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    @exclusivity(unchecked) private var depth: Int
    @exclusivity(unchecked) private var start: Int

    init(sink: CBORSink, codingPath: [any CodingKey]) {
        self.sink = sink
        self.codingPath = codingPath
        depth = sink.depth
        start = sink.writer.count
    }

    /// Lets a value write itself here. A value that writes nothing is an empty map.
    func run<T: Encodable>(_ value: T) throws {
        let outer = (depth, start)
        depth = sink.depth
        start = sink.writer.count
        defer { (depth, start) = outer }
        try value.encode(to: self)
        guard !sink.isTangled else { return }
        sink.close(to: depth)
        if sink.writer.count == start { sink.writer.map(0) }
    }

    /// Whether the place is the end of the stream, so that writing can begin.
    private var isCurrent: Bool {
        sink.depth == depth && sink.writer.count == start
    }

    private func open(major: UInt8) -> CBORContainer {
        guard !sink.isTangled, isCurrent else {
            sink.tangle()
            return CBORContainer(level: 0, token: 0)
        }
        return sink.open(major: major)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            CBORKeyedSink(sink: sink, container: open(major: 5), codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        CBORUnkeyedSink(sink: sink, container: open(major: 4), codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        CBORSingleSink(encoder: self)
    }

    /// Writes the one value of this place.
    func single(_ write: (CBORSink) throws -> Void) throws {
        guard !sink.isTangled, isCurrent else { return sink.tangle() }
        do { try write(sink) } catch { throw CodingError.within(codingPath, nil, error) }
    }
}

private struct CBORKeyedSink<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let sink: CBORSink
    let container: CBORContainer
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) {
        guard sink.begin(container) else { return }
        sink.writer.text(key.stringValue)
        sink.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        guard sink.begin(container) else { return }
        let start = sink.writer.count
        sink.writer.text(key.stringValue)
        do {
            try sink.value(value)
        } catch {
            sink.rollBack(container, to: start)
            throw CodingError.within(codingPath, key, error)
        }
    }

    private func open(_ key: any CodingKey, major: UInt8) -> CBORContainer {
        guard sink.begin(container) else { return CBORContainer(level: 0, token: 0) }
        sink.writer.text(key.stringValue)
        return sink.open(major: major)
    }

    private func encoder(_ key: any CodingKey) -> any Encoder {
        if sink.begin(container) {
            sink.writer.text(key.stringValue)
            sink.await(container)
        }
        return CBORStreamEncoder(sink: sink, codingPath: codingPath + [key])
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(
            CBORKeyedSink<Nested>(
                sink: sink, container: open(key, major: 5), codingPath: codingPath + [key]))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        CBORUnkeyedSink(
            sink: sink, container: open(key, major: 4), codingPath: codingPath + [key])
    }

    mutating func superEncoder() -> any Encoder { encoder(CoderKey.superclass) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct CBORUnkeyedSink: UnkeyedEncodingContainer {
    let sink: CBORSink
    let container: CBORContainer
    let codingPath: [any CodingKey]
    var count: Int { sink.count(of: container) }

    mutating func encodeNil() {
        guard sink.begin(container) else { return }
        sink.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        guard sink.begin(container) else { return }
        let start = sink.writer.count
        do {
            try sink.value(value)
        } catch {
            sink.rollBack(container, to: start)
            throw CodingError.within(codingPath, CoderKey.index(count), error)
        }
    }

    private func open(major: UInt8) -> (container: CBORContainer, path: [any CodingKey]) {
        let path = codingPath + [CoderKey.index(count)]
        guard sink.begin(container) else { return (CBORContainer(level: 0, token: 0), path) }
        return (sink.open(major: major), path)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        let (nested, path) = open(major: 5)
        return KeyedEncodingContainer(
            CBORKeyedSink<Nested>(sink: sink, container: nested, codingPath: path))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let (nested, path) = open(major: 4)
        return CBORUnkeyedSink(sink: sink, container: nested, codingPath: path)
    }

    mutating func superEncoder() -> any Encoder {
        let path = codingPath + [CoderKey.index(count)]
        if sink.begin(container) { sink.await(container) }
        return CBORStreamEncoder(sink: sink, codingPath: path)
    }
}

private struct CBORSingleSink: SingleValueEncodingContainer {
    let encoder: CBORStreamEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws {
        try encoder.single { $0.writer.null() }
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        try encoder.single { try $0.value(value) }
    }
}
