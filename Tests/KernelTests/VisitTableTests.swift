import Control
import Testing

@testable import Kernel

/// The visits that a cable holds.
@Suite struct VisitTableTests {
    @Test func `one that outlasts ten thousand others makes the table no larger`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let patient = house.client.call("Compute.double", "first")
        let first = try compute.take("Compute.double")
        for _ in 0..<10_000 {
            house.client.call("Compute.other", "")
            compute.answer(try compute.take("Compute.other"), "")
            house.client.cable.replies = []
        }
        #expect(compute.peer.visits.count == 1)
        #expect(compute.peer.visits.size == 64)
        compute.answer(first, "last")
        #expect(patient.end == "last")
        #expect(compute.peer.visits.count == 0)
    }

    /// Numbers of visits that are held at once, each of which the table must find.
    @Test(arguments: [1, 31, 32, 33, 64, 65, 200, 1_000])
    func `all that are held are found, in whatever order they end`(_ held: Int) throws {
        let house = try TestHouse()
        let compute = try house.compute()
        let old = house.client.call("Compute.double", "old")
        let oldest = try compute.take("Compute.double")
        for _ in 0..<200 {
            house.client.call("Compute.other", "")
            compute.answer(try compute.take("Compute.other"), "")
        }
        let calls = (0..<held).map { house.client.call("Compute.double", "\($0)") }
        let visits = try calls.map { _ in try compute.take("Compute.double") }
        #expect(compute.peer.visits.count == held + 1)
        #expect(
            compute.peer.visits.newestFirst.map { $0.visit?.number }
                == (visits.reversed().map(\.number) + [oldest.number]))
        for (index, visit) in visits.enumerated() where index % 3 == 0 {
            compute.answer(visit, visit.text)
        }
        compute.answer(oldest, "old")
        for (index, visit) in visits.enumerated() where index % 3 != 0 {
            compute.answer(visit, visit.text)
        }
        #expect(calls.map(\.end) == (0..<held).map { "\($0)" })
        #expect(old.end == "old")
        #expect(compute.peer.visits.count == 0)
    }
}
