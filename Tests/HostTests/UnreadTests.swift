import Testing

@testable import Host

/// Which clients are cut off when all of them together have left too much.
@Suite struct UnreadTests {
    private typealias Share = (bytes: Int, progress: UInt64)

    /// The bound, what each has left and since when, and who goes, in that order.
    private static let cases: [(most: Int, shares: [Share], gone: [Int])] = [
        (100, [], []),
        (100, [(60, 5), (40, 1)], []),
        (100, [(60, 5), (41, 1)], [0]),
        (100, [(50, 5), (50, 1), (50, 3)], [1]),
        (100, [(80, 5), (80, 1), (80, 3)], [1, 2]),
        // Who has left little goes for nobody, however long ago that was.
        (110, [(1, 0), (99, 9), (99, 8), (2, 1)], [2]),
        (100, [(1_000, 1)], [0]),
        (0, [(1, 2), (1, 1)], [1, 0]),
    ]

    @Test(arguments: 0..<cases.count)
    func `the one that has taken nothing for longest is cut off first`(_ index: Int) {
        let (most, shares, gone) = Self.cases[index]
        let all = shares.enumerated().map {
            Unread.Share(client: $0, bytes: $1.bytes, progress: $1.progress)
        }
        #expect(Unread.beyond(most, all).map(\.client) == gone)
    }
}
