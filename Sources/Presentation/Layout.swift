/// Which row of the screen holds what. What matters most keeps its row when there are few: the
/// title, one row of the list, the notices, the devices; then the heads, then the hints.
struct Layout: Equatable {
    static let fewestColumns = 20
    static let fewestRows = 5
    /// From here on there is a row for hints.
    private static let rowsWithHints = 7
    /// From here on the lists have heads.
    private static let rowsWithHeads = 9
    /// From here on an error may take several rows.
    private static let rowsWithLongNotices = 12
    static let longestNotice = 3

    let isTooSmall: Bool
    let title = 0
    /// The configuration of the open slideshow.
    let config: Int?
    let heads: Int?
    let list: Range<Int>
    let notices: Range<Int>
    let hints: Int?
    let devices: Int

    init(size: Size, hasConfig: Bool, notices wanted: Int) {
        isTooSmall = size.columns < Self.fewestColumns || size.rows < Self.fewestRows
        let rows = size.rows
        devices = rows - 1
        hints = rows >= Self.rowsWithHints ? rows - 2 : nil
        let below = hints ?? devices
        config = hasConfig ? 1 : nil
        let first = hasConfig ? 2 : 1
        heads = rows >= Self.rowsWithHeads ? first : nil
        let start = heads.map { $0 + 1 } ?? first
        let held = min(wanted, max(below - start - 1, 0))
        notices = max(below - held, 0)..<max(below, 0)
        list = min(start, notices.lowerBound)..<notices.lowerBound
    }

    /// The rows that one error may take.
    static func noticeRows(in size: Size) -> Int {
        size.rows >= rowsWithLongNotices ? longestNotice : 1
    }
}
