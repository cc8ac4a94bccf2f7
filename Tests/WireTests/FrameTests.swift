import Testing
import Wire

/// Frames: lengths, and bytes that arrive in pieces.
@Suite struct FrameTests {
    private static func stream() -> [UInt8] {
        let writer = CBORWriter()
        writer.ready()
        writer.call(id: 1, symbol: 0, deadline: 0, key: nil, Array(repeating: 7, count: 300))
        writer.ping(5)
        return writer.bytes
    }

    private static func ends(_ bytes: [UInt8]) -> (ends: [Int], refused: UInt32?) {
        bytes.withUnsafeBytes { raw in
            var ends: [Int] = []
            var offset = 0
            while true {
                switch Frame.next(in: raw, at: offset) {
                case .incomplete: return (ends, nil)
                case .refused(let length): return (ends, length)
                case .body(let body, let end):
                    #expect(body.count == end - offset - 4)
                    ends.append(end)
                    offset = end
                }
            }
        }
    }

    /// wire 2.1
    @Test func `frames are found in whatever pieces they arrive`() {
        let stream = Self.stream()
        let whole = Self.ends(stream).ends
        #expect(whole.count == 3)
        #expect(whole.last == stream.count)
        for count in 0...stream.count {
            let (ends, refused) = Self.ends(Array(stream.prefix(count)))
            #expect(ends == whole.filter { $0 <= count })
            #expect(refused == nil)
        }
    }

    /// wire 2.2, wire 2.3
    @Test(arguments: [0, 1, 2, UInt32(WireLimits.frame) + 1, 0x8000_0000, .max] as [UInt32])
    func `a length out of its bounds is refused before its bytes are there`(_ length: UInt32) {
        let head = withUnsafeBytes(of: length.bigEndian) { Array($0) }
        #expect(Self.ends(head).refused == length)
        #expect(Self.ends(head + [0x82, 0x14, 0x00]).refused == length)
        #expect(Self.ends(Self.stream() + head).refused == length)
        #expect(Self.ends(Self.stream() + head).ends.count == 3)
    }

    /// wire 2.2
    @Test(arguments: [3, 4, UInt32(WireLimits.frame)] as [UInt32])
    func `a length within its bounds waits for its bytes`(_ length: UInt32) {
        let head = withUnsafeBytes(of: length.bigEndian) { Array($0) }
        #expect(Self.ends(head).refused == nil)
        #expect(Self.ends(head + [0x82]).ends == [])
    }

    @Test func `no bytes are no frame`() {
        #expect(Self.ends([]).ends == [])
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        guard case .incomplete = Frame.next(in: none, at: 0) else {
            Issue.record("nothing is a frame")
            return
        }
    }
}
