import Testing

@testable import Host

@Suite struct HalfFrameTests {
    static let second: UInt64 = 1_000_000_000

    struct Life: Sendable {
        /// What has come of the frame at which second; 0: it is whole.
        var arrivals: [(at: UInt64, bytes: Int)]
        var length: UInt32 = 1_024
        var judged: UInt64
        var complaint: String?
    }

    static let lives = [
        Life(arrivals: [], judged: 100, complaint: nil),
        Life(arrivals: [(5, 100)], judged: 14, complaint: nil),
        Life(
            arrivals: [(5, 100)], judged: 15,
            complaint: "a frame was not whole, and nothing of it came for 10 s"),
        Life(arrivals: [(5, 100), (8, 0)], judged: 100, complaint: nil),
        // A small one that comes byte by byte.
        Life(
            arrivals: [(0, 4), (5, 5), (9, 6)], judged: 10,
            complaint: "a frame was not whole after 10 s"),
        // Not even its length is known.
        Life(
            arrivals: [(0, 1), (5, 2), (9, 3)], judged: 10,
            complaint: "a frame was not whole after 10 s"),
        // A large one is written slowly, and that is well.
        Life(
            arrivals: (0...40).map { ($0, 4 + Int($0) * 400_000) }, length: 16 << 20, judged: 41,
            complaint: nil),
        Life(
            arrivals: (0...73).map { ($0, 4 + Int($0)) }, length: 16 << 20, judged: 74,
            complaint: "a frame was not whole after 74 s"),
        Life(
            arrivals: [(0, 4), (9, 90_000)], length: 16 << 20, judged: 19,
            complaint: "a frame was not whole, and nothing of it came for 10 s"),
    ]

    @Test(arguments: 0..<lives.count)
    func `a frame may be slow, and not stand still`(_ index: Int) {
        let life = Self.lives[index]
        var frame = HalfFrame()
        for (at, count) in life.arrivals {
            var bytes = [UInt8](repeating: 7, count: max(count, 4))
            withUnsafeBytes(of: life.length.bigEndian) { bytes.replaceSubrange(0..<4, with: $0) }
            bytes.withUnsafeBytes { raw in
                frame.arrived(
                    UnsafeRawBufferPointer(rebasing: raw[..<count]), isNew: false,
                    at: at * Self.second)
            }
        }
        #expect(frame.complaint(at: life.judged * Self.second) == life.complaint)
    }

    @Test func `another frame, and a process that was stopped, begin anew`() {
        var frame = HalfFrame()
        func arrive(isNew: Bool, at second: UInt64) {
            [UInt8]([0, 0, 4, 0, 1]).withUnsafeBytes {
                frame.arrived($0, isNew: isNew, at: second * Self.second)
            }
        }
        arrive(isNew: false, at: 0)
        arrive(isNew: true, at: 8)
        #expect(frame.complaint(at: 17 * Self.second) == nil)
        frame.forgive(at: 17 * Self.second)
        #expect(frame.complaint(at: 26 * Self.second) == nil)
        #expect(frame.complaint(at: 27 * Self.second) != nil)
    }
}
