import FoundationEssentials
import Testing
import Values

struct CodableTests {
    struct Row: Codable, Equatable {
        var id: UUID
        var photo: String?
        var at: Date
        var sizes: [UInt8]
        var ratio: Double
        var small: Int8
        var any: Value
    }

    static let uuid = UUID(uuidString: "1B4E28BA-2FA1-11D2-883F-0016D3CCA427")!
    static let row = Row(
        id: uuid, photo: nil, at: Date(timeIntervalSince1970: 1.2345), sizes: [1, 2], ratio: 2,
        small: -3, any: ["x": [1, .uuid(UUIDBytes(uuid))]])

    @Test func `a type becomes a value with its own leaves and comes back`() throws {
        let value = try ValueEncoder().encode(["rows": [Self.row]])
        #expect(
            value == [
                "rows": [
                    [
                        "id": .uuid(UUIDBytes(Self.uuid)), "at": .date(1235),
                        "sizes": .bytes([1, 2]),
                        "ratio": 2.0, "small": -3, "any": Self.row.any,
                    ]
                ]
            ])
        let back = try ValueDecoder().decode([String: [Row]].self, from: value)
        #expect(back["rows"]?.first?.at == Date(milliseconds: 1235))
        #expect(try ValueEncoder().encode(back) == value)
    }

    @Test func `leaves that the shell cannot tell apart are read leniently`() throws {
        let decoder = ValueDecoder()
        let uuid = UUIDBytes(Self.uuid)
        #expect(try decoder.decode(String.self, from: .uuid(uuid)) == uuid.description)
        #expect(try decoder.decode(String.self, from: .date(0)) == "1970-01-01T00:00:00.000Z")
        #expect(try decoder.decode(UUID.self, from: .text(uuid.description)) == Self.uuid)
        #expect(try decoder.decode(UUID.self, from: .text(Self.uuid.uuidString)) == Self.uuid)
        #expect(
            try decoder.decode(Date.self, from: "1970-01-01T00:00:01Z")
                == Date(timeIntervalSince1970: 1))
        #expect(try decoder.decode(Double.self, from: 3) == 3)
        #expect(try decoder.decode(Int.self, from: 3.0) == 3)
        #expect(try decoder.decode(UUIDBytes.self, from: .uuid(uuid)) == uuid)
    }

    static func failure(_ body: () throws -> Void) -> CodingError? {
        do { try body() } catch { return error as? CodingError }
        return nil
    }

    @Test func `an error names the way, the wanted and the found`() throws {
        struct Slide: Codable { var photo: String }
        struct Show: Codable { var slides: [Slide] }
        let value: Value = ["slides": [["photo": "a"], ["photo": 5]]]
        let mismatch = Self.failure { _ = try ValueDecoder().decode(Show.self, from: value) }
        #expect(mismatch?.code == .mismatch)
        #expect(mismatch?.description == "slides/1/photo: expected text, found integer")
        let missing = Self.failure {
            _ = try ValueDecoder().decode(Show.self, from: ["slides": [[:]]])
        }
        #expect(missing?.code == .missing)
        #expect(missing?.location == "slides/0/photo")
        enum Kind: String, Codable { case still }
        let refused = Self.failure {
            _ = try ValueDecoder().decode([String: Kind].self, from: ["kind": "movie"])
        }
        #expect(refused?.code == .refused)
        #expect(refused?.location == "kind")
        let infinite = Self.failure { _ = try ValueEncoder().encode(["a": [1, Double.infinity]]) }
        #expect(infinite?.code == .outOfRange)
        #expect(infinite?.location == "a/1")
    }

    @Test func `numbers and dates out of range are refused`() {
        let encoder = ValueEncoder()
        let decoder = ValueDecoder()
        let bodies: [() throws -> Void] = [
            { _ = try encoder.encode(UInt64.max) }, { _ = try encoder.encode(Double.nan) },
            { _ = try encoder.encode(Float.infinity) },
            { _ = try encoder.encode(Date.distantPast - 1e12) },
            { _ = try decoder.decode(Int8.self, from: 128) },
            { _ = try decoder.decode(UInt.self, from: -1) },
            { _ = try decoder.decode(Int.self, from: 1.5) },
            { _ = try decoder.decode(Int.self, from: 1e300) },
            { _ = try decoder.decode(Float.self, from: 1e300) },
        ]
        for body in bodies { #expect(Self.failure(body)?.code == .outOfRange) }
        let kinds: [() throws -> Void] = [
            { _ = try decoder.decode(Bool.self, from: 1) },
            { _ = try decoder.decode(String.self, from: 1) },
            { _ = try decoder.decode(Int.self, from: "1") },
            { _ = try decoder.decode([Int].self, from: [:]) },
            { _ = try decoder.decode([String: Int].self, from: []) },
            { _ = try decoder.decode(UUID.self, from: 1) },
            { _ = try decoder.decode([UInt8].self, from: [1]) },
        ]
        for body in kinds { #expect(Self.failure(body)?.code == .mismatch) }
    }

    @Test func `values and patches pass through other coders`() throws {
        let value: Value = ["a": [1, 2.5, "x", .null, true]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Value.self, from: data) == value)
        let patch = Patch([.add(["a"], value), .remove(["b"])])
        #expect(try ValueEncoder().encode(patch) == patch.value)
        #expect(try ValueDecoder().decode(Patch.self, from: patch.value) == patch)
    }
}
