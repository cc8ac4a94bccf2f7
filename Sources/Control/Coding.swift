/// Turns values into bytes and back; the wire's coding is CBOR, but control data does not know
/// that.
public protocol Coding: Sendable {
    /// The bytes of a value.
    /// - Throws: whatever the value's own `encode(to:)` throws, or the coding's error.
    func encode<T: Encodable>(_ value: T) throws -> [UInt8]

    /// The value of bytes that `encode` has made, perhaps by another build.
    /// - Throws: an error that names the path inside the value and what was expected there.
    func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T

    /// What `encode` makes of bytes.
    func encode(bytes: [UInt8]) throws -> [UInt8]

    /// What `decode` makes of bytes that stand for bytes.
    func decode(bytes: [UInt8]) throws -> [UInt8]

    /// The bytes of a value that carries nothing.
    var void: [UInt8] { get }

    /// Joins encoded parts into one sequence, without looking into them.
    func join(_ parts: [[UInt8]]) -> [UInt8]

    /// Takes apart what `join` has made.
    /// - Throws: when the bytes are not a sequence of `count` parts.
    func split(_ bytes: [UInt8], into count: Int) throws -> [[UInt8]]
}

extension Coding {
    /// What `encode` makes of bytes.
    public func encode(bytes: [UInt8]) throws -> [UInt8] { try encode(bytes) }

    /// What `decode` makes of bytes that stand for bytes.
    public func decode(bytes: [UInt8]) throws -> [UInt8] { try decode([UInt8].self, from: bytes) }
}

/// How values of one type travel. A witness, because tuples and `Void` are not `Codable`.
public struct Coder<T>: Sendable {
    /// The structure of the type; see `Shape`.
    public var shape: String { describe() }
    private let describe: @Sendable () -> String
    /// Makes bytes of a value.
    public let encode: @Sendable (T, any Coding) throws -> [UInt8]
    /// Makes a value of bytes.
    public let decode: @Sendable ([UInt8], any Coding) throws -> T

    /// A coder of its parts.
    public init(
        shape: @escaping @autoclosure @Sendable () -> String,
        encode: @escaping @Sendable (T, any Coding) throws -> [UInt8],
        decode: @escaping @Sendable ([UInt8], any Coding) throws -> T
    ) {
        describe = shape
        self.encode = encode
        self.decode = decode
    }
}

extension Coder where T: Codable & SendableMetatype {
    /// The coder of a `Codable` type.
    public static var codable: Self {
        // To find out that a value is bytes costs more than to copy them: it is done once.
        if let bytes = Coder<[UInt8]>.bytes as? Self { return bytes }
        return Coder(
            shape: Shape.of(T.self), encode: { try $1.encode($0) },
            decode: { try $1.decode(T.self, from: $0) })
    }
}

extension Coder where T == [UInt8] {
    /// The coder of bytes.
    static var bytes: Self {
        Coder(
            shape: Shape.of([UInt8].self), encode: { try $1.encode(bytes: $0) },
            decode: { try $1.decode(bytes: $0) })
    }
}

extension Coder where T == Void {
    /// The coder of nothing.
    public static var void: Self {
        Coder(shape: "()", encode: { $1.void }, decode: { _, _ in })
    }
}

extension Coder {
    /// The coder of what the branches of a fork give.
    static func pack<each N>(_ coder: repeat Coder<each N>) -> Coder where T == (repeat each N) {
        var all: [@Sendable () -> String] = []
        repeat all.append((each coder).describe)
        let shapes = all
        let count = shapes.count
        return Coder(
            shape: "(\(shapes.map { $0() }.joined(separator: ", ")))",
            encode: { values, coding in
                var parts = Parts(coding)
                repeat parts.add(each coder, each values)
                return coding.join(try parts.taken())
            },
            decode: { bytes, coding in
                let parts = Splits(try coding.split(bytes, into: count), coding)
                return (repeat try parts.next(each coder))
            })
    }

    /// The coder of what branches of one type give.
    static func list<N>(_ coders: [Coder<N>]) -> Coder where T == [N] {
        Coder(
            shape: "[\(coders.first?.shape ?? "_")]",
            encode: { values, coding in
                coding.join(try zip(coders, values).map { try $0.encode($1, coding) })
            },
            decode: { bytes, coding in
                try zip(coders, coding.split(bytes, into: coders.count)).map {
                    try $0.decode($1, coding)
                }
            })
    }

    /// The coder of a pair: the request that entered a pipe, and the value that it has become.
    static func pair<A, B>(_ first: Coder<A>, _ second: Coder<B>) -> Coder<(A, B)>
    where T == (A, B) {
        Coder<(A, B)>(
            shape: "(\(first.shape), \(second.shape))",
            encode: { pair, coding in
                coding.join([
                    try first.encode(pair.0, coding), try second.encode(pair.1, coding),
                ])
            },
            decode: { bytes, coding in
                let parts = try coding.split(bytes, into: 2)
                return (try first.decode(parts[0], coding), try second.decode(parts[1], coding))
            })
    }
}

/// The parts of a sequence that is being written; the first error ends it.
private struct Parts {
    private let coding: any Coding
    private var parts: [[UInt8]] = []
    private var error: (any Error)?

    init(_ coding: any Coding) { self.coding = coding }

    mutating func add<Part>(_ coder: Coder<Part>, _ value: Part) {
        guard error == nil else { return }
        do {
            parts.append(try coder.encode(value, coding))
        } catch {
            self.error = error
        }
    }

    func taken() throws -> [[UInt8]] {
        if let error { throw error }
        return parts
    }
}

/// The parts of a sequence that is being read.
private final class Splits {
    private let coding: any Coding
    private var parts: ArraySlice<[UInt8]>

    init(_ parts: [[UInt8]], _ coding: any Coding) {
        self.parts = parts[...]
        self.coding = coding
    }

    func next<Part>(_ coder: Coder<Part>) throws -> Part {
        try coder.decode(parts.popFirst() ?? [], coding)
    }
}
