import Testing

@testable import Presentation

/// Which columns of a list there is room for.
@Suite struct ColumnsTests {
    private let columns = [
        Column<String>(head: "one", width: 6) { $0 },
        Column<String>(head: "two", width: 4, isRight: true) { $0 },
        Column<String>(head: "three", width: 1) { $0 },
    ]

    @Test(arguments: [
        (40, ["one", "two", "three"]), (27, ["one", "two", "three"]), (26, ["one", "two"]),
        (24, ["one", "two"]), (23, ["one"]), (16, ["one"]), (15, []), (0, []),
    ])
    func `a column is shown while the name keeps its room, and none after one that is not`(
        _ width: Int, _ heads: [String]
    ) {
        let shown = Columns(columns, from: 2, width: width, name: (first: 8, other: 10)).shown
        #expect(shown.map(\.head) == heads)
    }
}
