import Presentation
import Testing

@testable import Terminal

@Suite struct FrameOutputTests {
    private func frame(_ text: String) -> Frame {
        var frame = Frame(size: Size(columns: 20, rows: 2))
        frame.put(text, row: 0, column: 0)
        return frame
    }

    /// Takes at most some bytes and then no more.
    private func pump(_ output: inout FrameOutput, taking limit: Int) -> (
        FrameOutput.Progress, String
    ) {
        var taken: [UInt8] = []
        let progress = output.pump { bytes in
            let room = min(limit - taken.count, bytes.count, 3)
            if room <= 0 { return .blocked }
            taken += bytes.prefix(room)
            return .bytes(room)
        }
        return (progress, String(decoding: taken, as: UTF8.self))
    }

    @Test func `a frame that was begun is finished before the latest`() {
        var output = FrameOutput(usesColor: true)
        output.present(frame("first"))
        let (progress, begun) = pump(&output, taking: 20)
        #expect(progress == .blocked)
        output.present(frame("second"))
        output.present(frame("third"))
        #expect(output.hasMore)
        let (end, rest) = pump(&output, taking: .max)
        #expect(end == .done)
        #expect(!output.hasMore)
        let all = begun + rest
        #expect(all.contains("first") && !all.contains("second"))
        #expect(all.components(separatedBy: "\u{1B}[?2026h").count == 3)
    }

    @Test func `a restart drops what was begun and paints in full`() {
        var output = FrameOutput(usesColor: true)
        #expect(pump(&output, taking: .max).0 == .done)
        output.restart()
        #expect(!output.hasMore)
        output.present(frame("first"))
        _ = pump(&output, taking: 10)
        output.restart()
        let (_, all) = pump(&output, taking: .max)
        #expect(all.hasPrefix("\u{1B}[?2026h") && all.contains("first"))
    }

    @Test func `a broken terminal is written no more`() {
        var output = FrameOutput(usesColor: true)
        output.present(frame("first"))
        #expect(output.pump { _ in .broken } == .broken)
        output.present(frame("second"))
        #expect(!output.hasMore)
        var writes = 0
        let progress = output.pump { _ in
            writes += 1
            return .blocked
        }
        #expect(progress == .broken)
        #expect(writes == 0)
    }
}

extension String {
    fileprivate func components(separatedBy mark: String) -> [Substring] {
        split(separator: mark, omittingEmptySubsequences: false)
    }
}
