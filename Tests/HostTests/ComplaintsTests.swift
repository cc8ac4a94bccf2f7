import Testing

@testable import Host

/// What is complained of often is bounded, and nothing of it is kept for later.
@Suite struct ComplaintsTests {
    /// Lines that come at moments, and what is said when: each `due` is waited for.
    private func run(_ lines: [(at: UInt64, line: String)]) -> [String] {
        var complaints = Complaints(pause: 100, most: 3)
        var said: [String] = []
        func rest(before end: UInt64) {
            while let due = complaints.due, due <= end {
                said += complaints.rest(now: due).map { "\(due) \($0)" }
                // Else whoever waits for it would wait for ever.
                guard complaints.due != due else {
                    Issue.record("nothing ends at \(due)")
                    return
                }
            }
        }
        for (at, line) in lines {
            rest(before: at)
            said += complaints.add(line, now: at).map { "\(at) \($0)" }
        }
        rest(before: 100_000)
        #expect(complaints.due == nil, "nothing waits for what may never come")
        return said
    }

    static let table: [(lines: [(at: UInt64, line: String)], said: [String])] = [
        ([], []),
        ([(5, "a")], ["5 a"]),
        ([(5, "a"), (6, "b"), (7, "c")], ["5 a", "6 b", "7 c"]),
        ([(5, "a"), (6, "a")], ["5 a", "105 a"]),
        ([(5, "a"), (6, "a"), (7, "a")], ["5 a", "105 a (and 1 more such complaints)"]),
        (
            [(5, "a"), (6, "b"), (7, "c"), (8, "d"), (9, "e"), (10, "f")],
            ["5 a", "6 b", "7 c", "105 f (and 2 more such complaints)"]
        ),
        // While it goes on, one line a second; after a quiet second each is told again.
        (
            [(0, "a"), (1, "a"), (101, "b"), (102, "c"), (350, "d"), (351, "e")],
            ["0 a", "100 a", "200 c (and 1 more such complaints)", "350 d", "351 e"]
        ),
        ([(0, "a"), (100, "a")], ["0 a", "100 a"]),
    ]

    @Test(arguments: table.indices)
    func `the first are told as they come, the others with their number in time`(_ row: Int) {
        #expect(run(Self.table[row].lines) == Self.table[row].said)
    }

    @Test func `of very many all are counted`() {
        let said = run((0..<5_000).map { (UInt64($0 / 10), "client \($0)") })
        #expect(said.count == 3 + 5)
        let numbers = said.dropFirst(3).compactMap { line in
            line.split(separator: "(and ").last.flatMap { Int($0.prefix { $0 != " " }) }
        }
        #expect(numbers.reduce(0, +) + numbers.count + 3 == 5_000, "\(said)")
    }

    @Test func `at the end of all nothing is left unsaid`() {
        var complaints = Complaints(pause: 100, most: 1)
        #expect(complaints.rest(now: 0, isLast: true) == [])
        #expect(complaints.add("a", now: 0) == ["a"])
        #expect(complaints.add("b", now: 1) == [])
        #expect(complaints.rest(now: 2) == [])
        #expect(complaints.rest(now: 2, isLast: true) == ["b"])
    }
}
