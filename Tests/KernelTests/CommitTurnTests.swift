import Control
import Kernel
import Testing
import Values

/// Commits that meet each other again and again.
@Suite struct CommitTurnTests {
    /// Two processes with a visit each; the commit of the first has met so many conflicts that it
    /// goes first.
    private struct Contest {
        let house: TestHouse
        let slow: (process: TestProcess, visit: TestCable.Visit)
        let fast: (process: TestProcess, visit: TestCable.Visit)

        init() throws {
            var limits = HubLimits()
            limits.commitTurn = 3
            house = try TestHouse(limits, seats: 2)
            let first = try house.circuit(seat: 1)
            let second = try house.circuit(seat: 2)
            house.client.call("Circuit.work")
            house.client.call("Circuit.work")
            slow = (first, try first.take("Circuit.work"))
            fast = (second, try second.take("Circuit.work"))
            for number in UInt64(0)..<3 {
                fast.process.commit(fast.visit, number, base: number, to: Int64(number) + 1)
                slow.process.commit(slow.visit, 50, base: number, to: 100)
            }
            #expect(slow.process.heard() == ["50 conflict", "50 conflict", "50 conflict"])
            #expect(fast.process.heard() == ["0 committed", "1 committed", "2 committed"])
        }
    }

    @Test func `a commit that has met conflicts goes before those of others`() throws {
        let contest = try Contest()
        let (fast, slow) = (contest.fast, contest.slow)
        // However often it is offered meanwhile, that counts for nothing.
        for _ in 0..<300 { fast.process.commit(fast.visit, 3, base: 3, to: 4) }
        #expect(Set(fast.process.heard()) == ["3 conflict"])
        // A region of its own is not held up.
        fast.process.commit(fast.visit, 4, [.replace("letter", base: 0, "b")])
        #expect(fast.process.heard() == ["4 committed"])
        slow.process.commit(slow.visit, 50, base: 3, to: 100)
        #expect(slow.process.heard() == ["50 committed"])
        fast.process.commit(fast.visit, 3, base: 5, to: 4)
        #expect(fast.process.heard() == ["3 committed"])
        #expect(contest.house.hub.value(ofRegion: "number") == .int(4))
    }

    @Test func `nobody waits for one that does not come, or has died`() throws {
        for event in 0..<3 {
            let contest = try Contest()
            let fast = contest.fast
            switch event {
            case 0: contest.house.pass(0.2)
            case 1: contest.slow.process.die()
            default: contest.slow.process.answer(contest.slow.visit, "gives up")
            }
            fast.process.commit(fast.visit, 3, base: 3, to: 4)
            #expect(fast.process.heard() == ["3 committed"], "\(event)")
        }
    }
}
