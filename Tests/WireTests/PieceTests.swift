import Control
import Testing
import Values
import Wire

/// Messages that are larger than a frame.
@Suite struct PieceTests {
    private static func values(_ bytes: Int) -> [Value] {
        [.int(1), .text(String(repeating: "v", count: bytes))]
    }

    /// The bodies of the frames in bytes.
    private static func bodies(_ bytes: [UInt8]) throws -> [[UInt8]] {
        try bytes.withUnsafeBytes { raw in
            var bodies: [[UInt8]] = []
            var offset = 0
            while offset < raw.count {
                guard case .body(let body, let end) = Frame.next(in: raw, at: offset) else {
                    throw WireError.field("frame")
                }
                bodies.append([UInt8](body))
                offset = end
            }
            return bodies
        }
    }

    /// wire 2.8
    @Test(arguments: [(100, false), (WireLimits.frame - 40, false), (40 << 20, true)])
    func `what is larger than a frame comes in pieces, and is whole again`(
        _ size: Int, _ isCut: Bool
    ) throws {
        let writer = CBORWriter()
        writer.ping(1)
        let start = writer.count
        writer.committed(answer: 3, 4, revision: 5, values: Self.values(size))
        writer.cut(from: start)
        writer.ping(2)
        let bodies = try Self.bodies(writer.bytes)
        #expect((bodies.count > 3) == isCut)
        var pieces = Pieces()
        var found: [Value]?
        for body in bodies.dropFirst().dropLast() {
            try body.withUnsafeBytes { raw in
                var message = try KernelMessage(raw)
                var whole: [UInt8] = []
                if case .piece(let left, let bytes) = message {
                    #expect(bytes.count <= WireLimits.snapshotPart)
                    guard let last = try pieces.take(left: left, bytes) else {
                        #expect(pieces.isOpen)
                        return
                    }
                    whole = last
                }
                try whole.withUnsafeBytes { bytes in
                    if isCut { message = try KernelMessage(bytes) }
                    guard case .answer(3, 4, .committed(5, let values)) = message else {
                        Issue.record("another message")
                        return
                    }
                    found = values
                }
            }
        }
        #expect(found == Self.values(size))
        #expect(!pieces.isOpen)
    }

    static let wrong: [[UInt64]] = [[3, 3], [3, 1], [3, 4], [1, 0, 2, 0]]

    /// wire 2.8
    @Test(arguments: 0..<wrong.count)
    func `a piece that is missing, or comes twice, is an error`(_ index: Int) throws {
        var pieces = Pieces()
        var left = Self.wrong[index]
        let last = left.removeLast()
        try [1].withUnsafeBytes { bytes in
            for number in left { _ = try pieces.take(left: number, bytes) }
        }
        #expect(throws: WireError.self) {
            try [1].withUnsafeBytes { _ = try pieces.take(left: last, $0) }
        }
    }

    /// wire 2.8
    @Test func `pieces without end are an error before they take memory`() throws {
        var pieces = Pieces()
        let block = [UInt8](repeating: 0, count: 16 << 20)
        try block.withUnsafeBytes { bytes in
            for number in 0..<8 {
                let whole = try pieces.take(left: UInt64(100 - number), bytes)
                #expect(whole == nil)
            }
            #expect(throws: WireError.self) { try pieces.take(left: 92, bytes) }
        }
    }
}
