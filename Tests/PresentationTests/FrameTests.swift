import Presentation
import Testing

@Suite struct FrameTests {
    @Test func `text is written into cells and cut at the edge`() {
        var frame = Frame(size: Size(columns: 6, rows: 2))
        #expect(frame.put("漢字ab", row: 0, column: 1) == 5)
        #expect(frame.lines == [" 漢字…", ""])
        #expect(frame[0, 1].width == 2)
        #expect(frame[0, 2].width == 0)
        frame.put("right", row: 1, endingAt: 6, width: 4)
        #expect(frame.lines == [" 漢字…", "  rig…"])
    }

    @Test func `half a wide character is never left`() {
        var frame = Frame(size: Size(columns: 6, rows: 1))
        frame.put("漢字", row: 0, column: 0)
        frame.put("x", row: 0, column: 1)
        #expect(frame.lines == [" x字"])
        frame.put("y", row: 0, column: 2)
        #expect(frame.lines == [" xy"])
        frame.put("漢", row: 0, column: 4)
        frame.put("語", row: 0, column: 3)
        #expect(frame.lines == [" xy語"])
        #expect(frame[0, 5] == .blank)
    }

    @Test(arguments: [(-1, 0), (0, -1), (2, 0), (0, 6), (Int.max, Int.max), (Int.min, 0)])
    func `writing outside does nothing`(row: Int, column: Int) {
        var frame = Frame(size: Size(columns: 6, rows: 2))
        frame.put("x", row: row, column: column)
        #expect(frame == Frame(size: Size(columns: 6, rows: 2)))
        #expect(frame[row, column] == .blank)
    }

    @Test func `a size is brought into bounds`() {
        #expect(Size(columns: -1, rows: -1) == Size(columns: 0, rows: 0))
        #expect(Size(columns: 65_535, rows: 65_535).columns == Size.mostColumns)
        #expect(Size(columns: 65_535, rows: 65_535).rows == Size.mostRows)
    }
}
