import Testing

@testable import Supervisor

@Suite struct PlainLineTests {
    static let long = String(repeating: "x", count: LogLimits.lineBytes)

    static let rows: [(line: String, plain: String)] = [
        ("", ""),
        ("as it is: é\t✓", "as it is: é\t✓"),
        ("build \u{1b}[2J9.9", "build ?[2J9.9"),
        ("two\nlines\r", "two?lines?"),
        ("\u{9b}31m and \u{7f}\u{0}", "??31m and ??"),
        (long + "more", long),
        // No letter is cut in two.
        (long.dropLast() + "é", String(long.dropLast())),
        (long.dropLast(2) + "✓", String(long.dropLast(2))),
    ]

    @Test(arguments: 0..<rows.count)
    func `what is shown neither steers a terminal nor has an end`(_ index: Int) {
        #expect(PlainLine.of(Self.rows[index].line) == Self.rows[index].plain)
    }
}
