import Testing

@testable import DeviceKit

/// When answers that are finished must leave.
@Suite struct FinishedAnswersTests {
    private static let quick: UInt64 = 1_000
    private static let slow = FinishedAnswers.longest + 1

    /// Finishes ordinary visits, so quick each, until the next must wait; returns how many.
    private static func fill(
        _ answers: inout FinishedAnswers, each time: UInt64, now: inout UInt64
    ) -> Int {
        let turn = now
        var count = 0
        while answers.need(before: 1) == .nothing, count < 1_000 {
            answers.add(needed: false)
            count += 1
            now += time
        }
        answers.sent(all: true, now: now, turn: turn)
        return count
    }

    @Test func `where the code is quick more and more leave together, up to a limit`() {
        var answers = FinishedAnswers()
        var now: UInt64 = 1
        let counts = (0..<10).map { _ in Self.fill(&answers, each: Self.quick, now: &now) }
        #expect(counts == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256])
        #expect(counts.last == FinishedAnswers.most)
    }

    @Test func `where the code is slow each leaves by itself`() {
        var answers = FinishedAnswers()
        var now: UInt64 = 1
        for _ in 0..<5 { _ = Self.fill(&answers, each: Self.quick, now: &now) }
        // The first that are slow are found out when they leave.
        let counts = (0..<4).map { _ in Self.fill(&answers, each: Self.slow, now: &now) }
        #expect(counts == [32, 1, 1, 1])
        #expect((0..<3).map { _ in Self.fill(&answers, each: Self.quick, now: &now) } == [1, 2, 4])
    }

    @Test func `time that passed before the turn is nobody's`() {
        var answers = FinishedAnswers()
        var now: UInt64 = 1
        for _ in 0..<3 { _ = Self.fill(&answers, each: Self.quick, now: &now) }
        now += 1_000 * Self.slow
        #expect(Self.fill(&answers, each: Self.quick, now: &now) == 8)
        #expect(Self.fill(&answers, each: Self.quick, now: &now) == 16)
    }

    /// Visits that have finished (whether each is needed), the attempt of the next, and what must
    /// happen before it.
    static let cases: [(finished: [Bool], attempt: UInt32, need: FinishedAnswers.Need)] = [
        ([], 1, .nothing),
        ([], 2, .nothing),
        ([false], 1, .some),
        ([true], 1, .everything),
        ([false], 2, .everything),
        ([true, false], 1, .everything),
        ([false, true], 3, .everything),
    ]

    @Test(arguments: cases)
    func `what may be lost is what the next may be trusted with`(
        finished: [Bool], attempt: UInt32, need: FinishedAnswers.Need
    ) {
        var answers = FinishedAnswers()
        for needed in finished { answers.add(needed: needed) }
        #expect(answers.need(before: attempt) == need)
        // A cable that takes only a part of it changes nothing, but for ordinary ones.
        answers.sent(all: false, now: 2, turn: 1)
        #expect((answers.need(before: attempt) == .everything) == (need == .everything))
        answers.sent(all: true, now: 3, turn: 1)
        #expect(answers.need(before: attempt) == .nothing && answers.held == 0)
    }
}
