import Control
import Testing

@testable import Kernel

/// Builds do not mix inside a flow, while the processes of a device change one after the other.
@Suite struct GenerationTests {
    private let house: TestHouse
    private let supervisor = SeatTests.Supervisor()

    init() throws {
        house = try TestHouse(seats: 2)
        house.hub.observer = supervisor
    }

    private static let old: [StageDescriptor] = [
        .stage(.closure), .visit(.pipe, "Compute.double"), .stage(.closure),
    ]
    private static let new: [StageDescriptor] = [.stage(.closure)]

    private func total(_ processes: TestProcess...) -> Int {
        processes.reduce(0) { $0 + $1.cable.visits.count }
    }

    /// The one of several processes that has a visit.
    private func busy(_ processes: TestProcess...) throws -> TestProcess {
        try #require(processes.first { !$0.cable.visits.isEmpty })
    }

    @Test func `a process that announces another pipe begins a generation of its own`() throws {
        let compute = try house.compute(seat: 1)
        let one = try house.circuit(stages: Self.old, seat: 1)
        let two = try house.circuit(stages: Self.old, seat: 2)
        let call = house.client.call(TestHouse.pipe, "1")
        let first = try busy(one, two)
        first.answer(try first.take("Circuit.pipe#0"), "2")
        one.die()
        let next = try house.circuit(stages: Self.new, seat: 1)
        #expect(supervisor.outdated == ["circuit/2#\(two.peer.incarnation)"])
        #expect(supervisor.retired.isEmpty)
        for _ in 0..<3 { house.client.call(TestHouse.pipe, "9") }
        #expect(total(two) == 0 && total(next) == 3, "new flows go to the new build only")
        compute.answer(try compute.take("Compute.double"), "3")
        two.answer(try two.take("Circuit.pipe#2"), "4")
        #expect(call.end == "4", "the old flow ends on what is left of the old build")
        #expect(supervisor.retired.isEmpty, "nobody has its seat yet")
        let last = try house.circuit(stages: Self.new, seat: 2)
        #expect(supervisor.retired == ["circuit/2#\(two.peer.incarnation)"])
        #expect(supervisor.outdated.count == 1)
        for _ in 0..<3 { house.client.call(TestHouse.pipe, "9") }
        #expect(total(next, last) == 6 && last.cable.visits.count == 3)
    }

    @Test func `what older builds announced is forgotten with their last flow`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        var process = try house.circuit(stages: Self.old)
        let call = house.client.call(TestHouse.pipe, "1")
        process.answer(try process.take("Circuit.pipe#0"), "2")
        for number in 1...50 {
            // Each announces another pipe and another lane.
            let stages = Array(repeating: StageDescriptor.stage(.withRequest), count: number)
            var traits = Traits.replayable
            traits.lane = "lane \(number)"
            process.die()
            process = try house.circuit(stages: stages + [.stage(.closure)], traits)
            house.client.dispatch(TestHouse.pipe, "")
            process.answer(try process.take("Circuit.pipe#\(number)"), "")
        }
        func count() -> Int {
            house.hub.closures.keys.count { $0.hasPrefix("Circuit.pipe#") }
        }
        #expect(count() == 3, "two of the flow that still waits, and the one that is announced")
        #expect(Set(house.hub.lanes.keys) == ["lane 50"])
        compute.answer(try compute.take("Compute.double"), "3")
        #expect(call.end == "! unbound unknown")
        process.die()
        process = try house.circuit(stages: [])
        #expect(count() == 0 && house.hub.lanes.isEmpty)
    }

    @Test func `another program is another build though it announces the same`() throws {
        let one = try house.compute(seat: 1, program: 7)
        let two = try house.compute(seat: 2, program: 7)
        #expect(supervisor.outdated.isEmpty)
        let next = try house.compute(seat: 1, program: 8)
        #expect(supervisor.outdated == ["compute/2#\(two.peer.incarnation)"])
        #expect(supervisor.retired == ["compute/1#\(one.peer.incarnation)"])
        house.client.call("Compute.double")
        house.client.call("Compute.double")
        #expect(total(next) == 2 && total(one, two) == 0)
    }

    @Test func `a swap to the same build leaves the other seat alone`() throws {
        let one = try house.compute(seat: 1, program: 7)
        let two = try house.compute(seat: 2, program: 7)
        for _ in 0..<2 { house.client.call("Compute.double") }
        let held = try one.take("Compute.double")
        let next = try house.compute(seat: 1, program: 7)
        #expect(supervisor.outdated.isEmpty && supervisor.retired.isEmpty)
        for _ in 0..<3 { house.client.call("Compute.double") }
        #expect(total(one) == 0 && total(two) == 2 && total(next) == 2)
        one.answer(held, "4")
        #expect(supervisor.retired == ["compute/1#\(one.peer.incarnation)"])
    }

    @Test func `a flow goes to its own build among two that serve`() throws {
        let one = try house.circuit(stages: Self.old, seat: 1)
        let two = try house.circuit(stages: Self.old, seat: 2)
        let call = house.client.call("Circuit.work", "1")
        let first = try busy(one, two)
        let work = try first.take("Circuit.work")
        let next = try house.circuit(stages: Self.new, seat: 1)
        for tag in 1...3 { try first.call(work, UInt64(tag), "Circuit.other", "\(tag)") }
        #expect(total(one, two) == 3 && total(next) == 0)
        #expect(one.cable.visits.count > 0 && two.cable.visits.count > 0)
        #expect(call.end == nil)
    }

    @Test func `flows of an old build that is gone go on with the new one`() throws {
        let one = try house.circuit(seat: 1)
        let two = try house.circuit(seat: 2)
        let call = house.client.call("Circuit.work", "1")
        _ = try busy(one, two).take("Circuit.work")
        let next = try house.circuit(stages: Self.new, seat: 1)
        one.die()
        #expect(total(next) == 0, "the other one of the old build still lives")
        two.die()
        let again = try next.take("Circuit.work")
        #expect(again.attempt >= 2)
        next.answer(again, "2")
        #expect(call.end == "2")
    }

    @Test func `new flows wait for the new build, and old ones do not wait behind them`() throws {
        let one = try house.circuit(stages: Self.old, seat: 1)
        let two = try house.circuit(stages: Self.old, seat: 2)
        let compute = try house.compute(seat: 1)
        let before = house.client.call(TestHouse.pipe, "1")
        let first = try busy(one, two)
        first.answer(try first.take("Circuit.pipe#0"), "2")
        let next = try house.circuit(stages: Self.new, seat: 1)
        one.die()
        next.die()
        let after = house.client.call(TestHouse.pipe, "5")
        #expect(house.hub.waitingVisits == 1)
        compute.answer(try compute.take("Compute.double"), "3")
        two.answer(try two.take("Circuit.pipe#2"), "4")
        #expect(before.end == "4")
        let again = try house.circuit(stages: Self.new, seat: 1)
        again.answer(try again.take("Circuit.pipe#0"), "6")
        #expect(after.end == "6")
        #expect(two.cable.visits.isEmpty)
    }

    @Test func `an old build serves again when the new one does not come back`() throws {
        let one = try house.circuit(stages: Self.old, seat: 1)
        let two = try house.circuit(stages: Self.old, seat: 2)
        let compute = try house.compute(seat: 1)
        let next = try house.circuit(stages: Self.new, seat: 1)
        one.die()
        next.die()
        let waits = house.client.call("Circuit.work", "1")
        house.hub.refuse(house.circuitSlot, seat: 1, "failed")
        two.answer(try two.take("Circuit.work"), "2")
        #expect(waits.end == "2")
        let call = house.client.call(TestHouse.pipe, "1")
        two.answer(try two.take("Circuit.pipe#0"), "2")
        compute.answer(try compute.take("Compute.double"), "3")
        two.answer(try two.take("Circuit.pipe#2"), "4")
        #expect(call.end == "4", "it runs along its own pipe again")
    }

    @Test func `three builds finish each their own flows`() throws {
        let builds = try (1...3).map { build -> TestProcess in
            let process = try house.circuit(seat: 1, program: UInt64(build))
            house.client.call("Circuit.work", "\(build)")
            return process
        }
        for (index, process) in builds.enumerated() {
            let visit = try process.take("Circuit.work")
            #expect(visit.text == "\(index + 1)")
            #expect(process.cable.visits.isEmpty)
            try process.call(visit, 1, "Circuit.other", "x")
            process.answer(try process.take("Circuit.other"), "y")
            process.answer(visit, "z")
        }
        let gone = builds.dropLast().map { "circuit/1#\($0.peer.incarnation)" }
        #expect(supervisor.retired == gone)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `the flows of a dead build are finished by the next`() throws {
        let first = try house.circuit(seat: 1, program: 1)
        let moved = house.client.call("Circuit.work", "1")
        _ = try first.take("Circuit.work")
        let second = try house.circuit(seat: 1, program: 2)
        let own = house.client.call("Circuit.work", "2")
        let visit = try second.take("Circuit.work")
        _ = try house.circuit(seat: 1, program: 3)
        first.die()
        let again = try second.take("Circuit.work")
        second.answer(visit, "own")
        #expect(own.end == "own")
        #expect(supervisor.retired.isEmpty, "it has the other flow to finish")
        second.answer(again, "moved")
        #expect(moved.end == "moved")
        #expect(supervisor.retired == ["circuit/1#\(second.peer.incarnation)"])
    }

    @Test func `what belongs to a dead build is not waited for`() throws {
        let first = try house.circuit(seat: 1, program: 1)
        let held = house.client.call("Circuit.work", "1")
        _ = try first.take("Circuit.work")
        let second = try house.circuit(seat: 1, program: 2)
        let third = try house.circuit(seat: 1, program: 3)
        #expect(supervisor.retired == ["circuit/1#\(second.peer.incarnation)"], "nothing had begun")
        first.die()
        let again = try third.take("Circuit.work")
        #expect(second.cable.visits.isEmpty, "it has been told to go")
        third.answer(again, "2")
        #expect(held.end == "2")
    }
}
