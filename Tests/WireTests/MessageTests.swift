import Control
import Testing
import Values
import Wire

/// Messages as bytes: the golden vectors, and what a hostile peer makes of them.
@Suite struct MessageTests {
    static let good = GoldenVector.messages.filter { $0.diagnostic != nil }
    static let bad = GoldenVector.messages.filter { $0.error != nil }

    @Test func `all vectors were found, each with a name of its own and one meaning`() {
        let all = GoldenVector.messages
        #expect(all.count == GoldenVector.expected)
        #expect(Set(all.map(\.name)).count == all.count)
        for vector in all {
            #expect((vector.diagnostic == nil) != (vector.error == nil), "\(vector.name)")
            #expect(vector.name != "")
            #expect(vector.bytes != [])
        }
    }

    /// wire 5.3
    @Test func `every kind of message has a vector`() throws {
        var missing = Set(MessageKind.allCases)
        for vector in Self.good {
            let value = try CBORReaderTests.read(vector.bytes)
            let kind = try #require(value.array?.first?.int)
            missing.remove(try #require(MessageKind(rawValue: UInt64(kind))))
        }
        #expect(missing == [])
    }

    /// wire 2.4, wire 3.2
    @Test(arguments: good)
    func `a vector is read and written again to the same bytes`(_ vector: GoldenVector) throws {
        #expect(try Diagnostic.text(of: vector.bytes) == vector.diagnostic)
        let again = try vector.bytes.withMessage { $0.frame }
        if vector.isDecodeOnly {
            #expect(again != vector.bytes.framed)
        } else {
            #expect(again == vector.bytes.framed)
        }
    }

    @Test(arguments: bad)
    func `a vector that breaks a clause is refused`(_ vector: GoldenVector) {
        #expect(throws: WireError.self) { try vector.bytes.withMessage { _ in } }
    }

    /// wire 2.6
    @Test(arguments: good)
    func `a message that is cut anywhere, or goes on, is refused`(_ vector: GoldenVector) {
        for count in vector.bytes.indices {
            #expect(throws: WireError.self, "cut at \(count)") {
                try Array(vector.bytes.prefix(count)).withMessage { _ in }
            }
        }
        for extra in [0x00, 0x80, 0xF6, 0xFF] as [UInt8] {
            #expect(throws: WireError.self, "followed by \(extra)") {
                try (vector.bytes + [extra]).withMessage { _ in }
            }
        }
    }

    /// wire 2.4
    @Test(arguments: good)
    func `an array that says another number of fields is refused`(_ vector: GoldenVector) {
        guard let head = vector.bytes.first, head < 0x80 + 23 else { return }
        for other in 0x80...0x97 as ClosedRange<UInt8> where other != head {
            #expect(throws: WireError.self) {
                try ([other] + vector.bytes.dropFirst()).withMessage { _ in }
            }
        }
    }

    /// wire 2.6
    @Test(arguments: [0, 4, 6, 9, 17, 19, 32, 39, 49, 63, 255, 65_536, UInt64.max])
    func `a kind that nobody knows is refused by its number`(_ kind: UInt64) {
        let writer = CBORWriter()
        writer.array(2)
        writer.uint(kind)
        writer.uint(0)
        let error = #expect(throws: WireError.self) { try writer.bytes.withMessage { _ in } }
        #expect(error?.description.contains("\(kind)") == true)
    }

    /// wire 2.5
    @Test(arguments: [1, 2, 253, UInt64.max])
    func `a frame with descriptors is refused by their number`(_ count: UInt64) {
        for kind in MessageKind.allCases {
            let writer = CBORWriter()
            writer.array(2)
            writer.uint(kind.rawValue)
            writer.uint(count)
            let error = #expect(throws: WireError.self) { try writer.bytes.withMessage { _ in } }
            #expect(error?.description.contains("\(count) descriptors") == true)
        }
    }

    /// wire 5.1
    @Test func `a message of the other side is an unknown kind`() throws {
        for vector in Self.good {
            let sides = vector.bytes.withUnsafeBytes { raw in
                [(try? PeerMessage(raw)) != nil, (try? KernelMessage(raw)) != nil]
            }
            let kind = try CBORReaderTests.read(vector.bytes).array?.first?.int
            let isBoth = kind == 30 || kind == 31
            #expect(sides.count { $0 } == (isBoth ? 2 : 1), "\(vector.name)")
        }
    }

    /// wire 9.1
    @Test(arguments: [0, 1, 2, 3])
    func `a region is sent in parts that make it whole`(_ parts: Int) throws {
        let size = parts == 0 ? 0 : parts * WireLimits.snapshotPart - 100
        let value = Value.map(["text": .text(String(repeating: "a", count: size))])
        let writer = CBORWriter()
        writer.snapshot(region: "R", epoch: 7, counter: 4, value)
        var gathered: [UInt8] = []
        var seen: [UInt64] = []
        try writer.withBytes { raw in
            var offset = 0
            while case .body(let body, let end) = Frame.next(in: raw, at: offset) {
                offset = end
                guard case .snapshot(let part) = try KernelMessage(body) else { continue }
                #expect((part.region, part.epoch, part.counter) == ("R", 7, 4))
                #expect(part.parts == UInt64(max(1, parts)))
                #expect(part.bytes.count <= WireLimits.snapshotPart)
                seen.append(part.part)
                gathered += [UInt8](part.bytes)
            }
            #expect(offset == raw.count)
        }
        #expect(seen == Array(0..<UInt64(max(1, parts))))
        #expect(try CBORReaderTests.read(gathered) == value)
    }
}
