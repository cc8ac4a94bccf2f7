import FoundationEssentials
import Testing
import Values
import Wire

struct CBORCodableTests {
    static func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        try CBOREncoder().encode(value)
    }

    static func tree(_ bytes: [UInt8]) throws -> Value {
        try CBORReaderTests.read(bytes)
    }

    /// Both ways through both coders: the bytes say what the value says, and both come back.
    static func roundTrip<T: Codable & Equatable>(_ value: T) throws {
        let bytes = try encode(value)
        let tree = try ValueEncoder().encode(value)
        #expect(try Self.tree(bytes) == tree, "\(T.self)")
        #expect(try CBORDecoder().decode(T.self, from: bytes) == value, "\(T.self)")
        #expect(try ValueDecoder().decode(T.self, from: tree) == value, "\(T.self)")
        for end in 0..<min(bytes.count, 400) {
            #expect(throws: CodingError.self) {
                try CBORDecoder().decode(T.self, from: Array(bytes[..<end]))
            }
        }
    }

    struct Shape: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let check: @Sendable () throws -> Void

        init<T: Codable & Equatable & SendableMetatype>(
            _ value: @autoclosure @escaping @Sendable () -> T
        ) {
            testDescription = "\(T.self)"
            check = { try CBORCodableTests.roundTrip(value()) }
        }
    }

    @Test(arguments: CodableShapes.all)
    func `a type comes back from both coders, which agree`(shape: Shape) throws {
        try shape.check()
    }

    @Test func `all of UInt64 passes the wire`() throws {
        let bytes = try Self.encode(UInt64.max)
        #expect(try CBORDecoder().decode(UInt64.self, from: bytes) == .max)
        #expect(throws: CodingError.self) { try CBORDecoder().decode(Int.self, from: bytes) }
    }

    /// wire 3.2: bytes have a way of their own through the coding, and the same head.
    @Test(arguments: [0, 1, 23, 24, 255, 256, 1_024, 1_025, 65_535, 65_536, 100_000])
    func `bytes have the shortest head`(_ count: Int) throws {
        let bytes = [UInt8](repeating: 7, count: count)
        let writer = CBORWriter()
        writer.bytes(bytes)
        let isShortest = CBORCoding().encode(bytes: bytes) == writer.bytes
        #expect(isShortest)
        let comesBack = try CBORCoding().decode(bytes: writer.bytes) == bytes
        #expect(comesBack)
    }

    @Test func `leaves that writers confuse are read leniently`() throws {
        let decoder = CBORDecoder()
        let text = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
        let uuid = try #require(UUIDBytes(text))
        #expect(try decoder.decode(String.self, from: Self.encode(UUID(uuid))) == text)
        #expect(try decoder.decode(UUID.self, from: Self.encode(text.uppercased())) == UUID(uuid))
        let date = Date(timeIntervalSince1970: 1)
        #expect(
            try decoder.decode(String.self, from: Self.encode(date)) == "1970-01-01T00:00:01.000Z")
        #expect(try decoder.decode(Date.self, from: Self.encode("1970-01-01T00:00:01Z")) == date)
        #expect(try decoder.decode(Double.self, from: Self.encode(-3)) == -3)
        #expect(try decoder.decode(Int.self, from: Self.encode(3.0)) == 3)
        #expect(try decoder.decode([Int].self, from: Self.encode([1.0, 2.0])) == [1, 2])
    }

    struct Two: Codable, Equatable {
        var a: Int
        var b: Int?
    }

    /// wire 3.5 and 3.6, for types as for values.
    @Test(arguments: [
        ("a2 6161 01 6162 02", nil), ("a2 6162 02 6161 01", nil), ("a2 6161 01 6163 02", nil),
        ("a2 6161 01 6161 02", "duplicateKey"), ("a3 6161 01 6162 02 6161 01", "duplicateKey"),
        ("a3 6161 01 617a 02 617a 03", "duplicateKey"), ("a2 6161 01 61ff 02", "notUTF8"),
        ("a2 6161 01 62c3a9 02", nil), ("a2 6161 01 62c328 02", "notUTF8"),
    ])
    func `a map with a key twice, or one that is no text, is no type`(
        _ hex: String, _ refusal: String?
    ) throws {
        let digits = Array(hex.replacing(" ", with: ""))
        let bytes = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0
        }
        let error = Self.failure { _ = try CBORDecoder().decode(Two.self, from: bytes) }
        #expect((error == nil) == (refusal == nil), "\(error.map { "\($0)" } ?? "")")
        if let refusal { #expect("\(try #require(error))".contains(refusal)) }
    }

    @Test(arguments: [2, 16, 17, 1_000])
    func `the last of many keys is not one of the others`(_ count: Int) throws {
        for repeats in [false, true] {
            let writer = CBORWriter()
            writer.map(count)
            for number in 0..<count {
                writer.text("k\(repeats && number == count - 1 ? 0 : (number * 7_919) % count)")
                writer.int(Int64(number))
            }
            let error = Self.failure {
                _ = try CBORDecoder().decode([String: Int].self, from: writer.bytes)
            }
            #expect((error != nil) == repeats, "\(count)")
        }
    }

    static func failure(_ body: () throws -> Void) -> CodingError? {
        do { try body() } catch { return error as? CodingError }
        return nil
    }

    @Test func `an error names the way, the wanted and the found`() throws {
        struct Slide: Codable { var photo: String }
        struct Show: Codable { var slides: [Slide] }
        func read(_ value: Value) -> CodingError? {
            let bytes = CBORReaderTests.write(value)
            return Self.failure { _ = try CBORDecoder().decode(Show.self, from: bytes) }
        }
        let mismatch = read(["slides": [["photo": "a"], ["photo": 5]]])
        #expect(mismatch?.description == "slides/1/photo: expected text, found integer")
        #expect(read(["slides": [["photo": "a"], [:]]])?.location == "slides/1/photo")
        #expect(read(["slides": [["photo": "a"], [:]]])?.code == .missing)
        #expect(read(["slides": [1]])?.description == "slides/0: expected a map, found integer")
        #expect(read(["slides": .null])?.code == .mismatch)
        #expect(read(1)?.description == "expected a map, found integer")
        let infinite = Self.failure { _ = try Self.encode(["a": [1, Double.infinity]]) }
        #expect(infinite?.code == .outOfRange)
        #expect(infinite?.location == "a/1")
    }

    @Test func `an error leaves the writer as it was`() throws {
        let writer = CBORWriter()
        writer.int(5)
        #expect(throws: CodingError.self) {
            try CBOREncoder().encode(["a": [Double.nan]], into: writer)
        }
        #expect(writer.bytes == [5])
    }

    @Test func `bytes after the value are refused`() throws {
        let bytes = try Self.encode([1, 2]) + [0]
        #expect(throws: CodingError.self) { try CBORDecoder().decode([Int].self, from: bytes) }
    }

    struct Nest: Codable, Equatable {
        var inner: [Nest]
        init(_ depth: Int) { inner = depth == 0 ? [] : [Nest(depth - 1)] }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            inner = []
            while !container.isAtEnd { inner.append(try container.decode(Nest.self)) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for nest in inner { try container.encode(nest) }
        }
    }

    @Test func `depth is limited alike in all coders`() throws {
        try Self.roundTrip(Nest(63))
        #expect(throws: CodingError.self) { try Self.encode(Nest(64)) }
        #expect(throws: CodingError.self) { try ValueEncoder().encode(Nest(64)) }
        let hostile = [UInt8](repeating: 0x81, count: 1_000_000)
        let error = Self.failure { _ = try CBORDecoder().decode(Nest.self, from: hostile) }
        #expect(error?.code == .tooDeep)
    }

    @Test(arguments: 0..<10)
    func `no bytes whatever make the decoder trap`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(900 + seed))
        let sound = try Self.encode(CodableShapes.record)
        for _ in 0..<300 {
            var bytes = sound
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? CBORDecoder().decode(CodableShapes.Record.self, from: bytes)
            _ = try? CBORDecoder().decode([String: Value].self, from: bytes)
        }
    }

    @Test func `a decoder that a type has kept finds nothing afterwards`() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        let keeper = try CBORDecoder().decode(Keeper.self, from: Self.encode("a text"))
        #expect(throws: CodingError.self) { try String(from: keeper.decoder) }
    }
}
