import Testing
import Values
import Wire

struct CBORReaderTests {
    static func read(_ bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { bytes throws(CBORError) in
            var reader = CBORReader(bytes)
            let value = try reader.value()
            try reader.finish()
            return value
        }
    }

    static func write(_ value: Value) -> [UInt8] {
        let writer = CBORWriter(capacity: 1)
        writer.value(value)
        return writer.bytes
    }

    static let twentyFive = Value.array((1...25).map { .int($0) })

    /// RFC 8949, appendix A: what this protocol reads, and whether it writes the same bytes.
    static let vectors: [(hex: String, value: Value, isWritten: Bool)] = [
        ("00", 0, true), ("01", 1, true), ("0a", 10, true), ("17", 23, true), ("1818", 24, true),
        ("1819", 25, true), ("1864", 100, true), ("1903e8", 1000, true),
        ("1a000f4240", 1_000_000, true), ("1b000000e8d4a51000", 1_000_000_000_000, true),
        ("20", -1, true), ("29", -10, true), ("3863", -100, true), ("3903e7", -1000, true),
        ("1b7fffffffffffffff", .int(.max), true), ("3b7fffffffffffffff", .int(.min), true),
        ("f90000", 0.0, false), ("f98000", -0.0, false), ("f93c00", 1.0, false),
        ("fb3ff199999999999a", 1.1, true), ("f93e00", 1.5, false), ("f97bff", 65504.0, false),
        ("fa47c35000", 100000.0, false), ("fa7f7fffff", 3.4028234663852886e+38, false),
        ("fb7e37e43c8800759c", 1.0e+300, true), ("f90001", 5.960464477539063e-8, false),
        ("f90400", 0.00006103515625, false), ("f9c400", -4.0, false),
        ("fbc010666666666666", -4.1, true), ("f4", false, true), ("f5", true, true),
        ("f6", .null, true), ("c11a514b67b0", .date(1_363_896_240_000), false),
        ("c1fb41d452d9ec200000", .date(1_363_896_240_500), true), ("40", .bytes([]), true),
        ("4401020304", .bytes([1, 2, 3, 4]), true), ("60", "", true), ("6161", "a", true),
        ("6449455446", "IETF", true), ("62225c", "\"\\", true), ("62c3bc", "ü", true),
        ("63e6b0b4", "水", true), ("64f0908591", "𐅑", true), ("80", [], true),
        ("83010203", [1, 2, 3], true), ("8301820203820405", [1, [2, 3], [4, 5]], true),
        ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", twentyFive, true),
        ("a0", [:], true), ("a26161016162820203", ["a": 1, "b": [2, 3]], true),
        ("826161a161626163", ["a", ["b": "c"]], true),
        (
            "a56161614161626142616361436164614461656145",
            ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"], true
        ),
        (
            "d825501b4e28ba2fa111d2883f0016d3cca427",
            .uuid(UUIDBytes(high: 0x1B4E_28BA_2FA1_11D2, low: 0x883F_0016_D3CC_A427)), true
        ),
    ]

    @Test(arguments: vectors.indices)
    func `the examples of RFC 8949 are read and written`(index: Int) throws {
        let vector = Self.vectors[index]
        #expect(try Self.read(hex(vector.hex)) == vector.value)
        if vector.isWritten { #expect(Self.write(vector.value) == hex(vector.hex)) }
        #expect(try Self.read(Self.write(vector.value)) == vector.value)
    }

    @Test(
        arguments: [
            ("", .truncated), ("18", .truncated), ("1900", .truncated),
            ("1b00000000000000", .truncated),
            ("1bffffffffffffffff", .outOfRange), ("3bffffffffffffffff", .outOfRange),
            ("f97c00", .outOfRange), ("f97e00", .outOfRange), ("fa7f800000", .outOfRange),
            ("fb7ff8000000000000", .outOfRange), ("f7", .unsupported), ("f0", .unsupported),
            ("f818", .unsupported), ("ff", .unsupported), ("5f4101ff", .unsupported),
            ("7f6161ff", .unsupported), ("9fff", .unsupported), ("bfff", .unsupported),
            ("1c", .unsupported), ("c249010000000000000000", .unsupported), ("c001", .unsupported),
            ("41", .truncated), ("61", .truncated), ("81", .truncated), ("a1", .truncated),
            ("a16161", .truncated), ("61ff", .notUTF8), ("62c328", .notUTF8),
            ("63eda080", .notUTF8),
            ("a10102", .mismatch), ("a2616101616102", .duplicateKey), ("0000", .trailing),
            ("d82541aa", .outOfRange), ("d82560", .mismatch), ("c160", .mismatch),
            ("c1fb7e37e43c8800759c", .outOfRange), ("c11b7fffffffffffffff", .outOfRange),
            ("d9d9f700", .unsupported), ("9bffffffffffffffff", .truncated),
            ("bbffffffffffffffff", .truncated), ("5bffffffffffffffff", .truncated),
            ("7b7fffffffffffffff00", .truncated), ("9b7fffffffffffffff00", .truncated),
            ("bb800000000000000000", .truncated),
        ] as [(String, CBORError.Code)])
    func `what is not of the protocol is refused by name`(text: String, code: CBORError.Code) {
        let error = #expect(throws: CBORError.self) { try Self.read(hex(text)) }
        #expect(error?.code == code)
    }

    @Test(arguments: 0..<20)
    func `random values come back, and no part of them passes`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<10 {
            let value = random.value(depth: 3)
            let bytes = Self.write(value)
            #expect(try Self.read(bytes) == value)
            let step = max(1, bytes.count / 200)
            for end in stride(from: 0, to: bytes.count, by: step) {
                let error = #expect(throws: CBORError.self) { try Self.read(Array(bytes[..<end])) }
                #expect(error?.code == .truncated)
            }
        }
    }

    @Test func `equal values are equal bytes, shorter keys first`() {
        let value: Value = ["b": 1, "aa": 2, "a": 3, "": 4]
        #expect(Self.write(value) == hex("a460046161036162016261610 2".filter { $0 != " " }))
    }

    /// Runs every method of the reader over the bytes; what they answer does not matter.
    static func exercise(_ bytes: UnsafeRawBufferPointer) {
        let methods: [(inout CBORReader) throws -> Void] = [
            { try $0.skip() },
            { _ = try $0.value() },
            { _ = try $0.uint() },
            { _ = try $0.int() },
            { _ = try $0.text() },
            { _ = try $0.bytes() },
            { _ = try $0.array() },
            { _ = try $0.map() },
            { _ = try $0.bool() },
            { _ = try $0.double() },
            { _ = try $0.tag() },
            { _ = try $0.uuid() },
            { _ = try $0.date() },
            { _ = try $0.item() },
            { _ = try $0.head() },
        ]
        for method in methods {
            var reader = CBORReader(bytes)
            while !reader.atEnd {
                let start = reader.position
                do {
                    try method(&reader)
                } catch {
                    #expect(reader.position == start)
                    reader = reader.at(start + 1)
                }
                #expect(reader.position > start && reader.position <= bytes.count)
            }
        }
    }

    @Test(arguments: 0..<20)
    func `no bytes whatever make the reader trap`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(500 + seed))
        for _ in 0..<20 {
            let noise = (0..<random.below(80)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            noise.withUnsafeBytes { Self.exercise($0) }
            var damaged = Array(Self.write(random.value(depth: 2)).prefix(300))
            for _ in 0..<random.below(4) where !damaged.isEmpty {
                damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            damaged.withUnsafeBytes { Self.exercise($0) }
        }
    }

    @Test func `the deepest value passes and a deeper one is refused`() throws {
        for open in ["81", "a160"] {
            let deepest = hex(String(repeating: open, count: 64)) + [0]
            #expect(try Self.read(deepest).depth == 64)
            let deeper = hex(String(repeating: open, count: 65)) + [0]
            let error = #expect(throws: CBORError.self) { try Self.read(deeper) }
            #expect(error?.code == .tooDeep)
            let skipped = deeper.withUnsafeBytes { bytes in
                #expect(throws: CBORError.self) {
                    var reader = CBORReader(bytes)
                    try reader.skip()
                }
            }
            #expect(skipped?.code == .tooDeep)
        }
        // A row of tags is no depth, and must not be recursion either.
        let tags = [UInt8](repeating: 0xC1, count: 1_000_000)
        #expect(throws: CBORError.self) { try Self.read(tags) }
    }

    @Test func `heads that lie about their length reserve next to nothing`() {
        // Each array claims as many items as bytes follow: 64 levels of a 16 MiB frame.
        let frame = 16 * 1024 * 1024
        var bytes = [UInt8](repeating: 0xFF, count: frame)
        for level in 0..<64 {
            bytes.replaceSubrange((level * 5)..<(level * 5 + 5), with: hex("9a00ff0000"))
        }
        let error = #expect(throws: CBORError.self) { try Self.read(bytes) }
        #expect(error?.code == .unsupported)
    }
}
