import Control
import Kernel
import Testing

/// Several processes of one device serve beside each other.
@Suite struct SeatTests {
    /// Notes what the hub says of processes that are to go.
    final class Supervisor: HubObserver {
        var retired: [String] = []
        var outdated: [String] = []
        var cells = 0

        func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {}
        func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate { .free }
        func cellWanted(device: String) { cells += 1 }
        func cellEmptied(device: String, incarnation: Int) {}
        func elderEmptied(device: String, incarnation: Int) {
            retired.append("\(device)#\(incarnation)")
        }
        func outdated(device: String, incarnation: Int) {
            outdated.append("\(device)#\(incarnation)")
        }
    }

    private let house: TestHouse
    private let supervisor = Supervisor()

    init() throws {
        house = try TestHouse(seats: 2)
        house.hub.observer = supervisor
    }

    private func count(_ processes: TestProcess...) -> [Int] {
        processes.map { $0.cable.visits.count }
    }

    @Test func `a visit goes to the process that holds the fewest`() throws {
        let one = try house.compute(seat: 1)
        let two = try house.compute(seat: 2)
        for _ in 0..<6 { house.client.call("Compute.double") }
        #expect(count(one, two) == [3, 3])
        for _ in 0..<3 { two.answer(try two.take("Compute.double"), "4") }
        for _ in 0..<3 { house.client.call("Compute.other") }
        #expect(count(one, two) == [3, 3], "the idle one is given all until it has as many")
    }

    @Test func `equal ones are taken in turn`() throws {
        let all = try [house.compute(seat: 1), house.compute(seat: 2)]
        var taken = [0, 0]
        for _ in 0..<10 {
            house.client.call("Compute.double")
            let index = try #require(all.firstIndex { !$0.cable.visits.isEmpty })
            all[index].answer(try all[index].take("Compute.double"), "4")
            taken[index] += 1
        }
        #expect(taken == [5, 5])
    }

    @Test func `a death replays the visits of that process alone, on the other`() throws {
        let one = try house.compute(seat: 1)
        let two = try house.compute(seat: 2)
        let calls = (0..<4).map { house.client.call("Compute.double", "\($0)") }
        #expect(count(one, two) == [2, 2])
        let kept = two.cable.visits.map(\.number)
        one.die()
        #expect(count(two) == [4])
        #expect(two.cable.visits.prefix(2).map(\.number) == kept)
        #expect(two.cable.visits.map(\.attempt) == [1, 1, 2, 2])
        for _ in calls { two.answer(try two.take("Compute.double"), "4") }
        #expect(calls.allSatisfy { $0.end == "4" })
        #expect(house.hub.load.replays == 2)
    }

    @Test func `requests wait only while no process serves`() throws {
        let one = try house.compute(seat: 1)
        let two = try house.compute(seat: 2)
        house.hub.away(one.peer)
        let first = house.client.call("Compute.double", "1")
        two.answer(try two.take("Compute.double"), "2")
        #expect(first.end == "2")
        house.hub.away(two.peer)
        let second = house.client.call("Compute.double", "1")
        #expect(house.hub.waitingVisits == 1)
        let next = try house.compute(seat: 2)
        next.answer(try next.take("Compute.double"), "3")
        #expect(second.end == "3")
    }

    @Test func `the limit of waiting requests is the device's`() throws {
        var limits = HubLimits()
        limits.waitingRequests = 3
        let house = try TestHouse(limits, seats: 2)
        let calls = (0..<4).map { _ in house.client.call("Compute.double") }
        #expect(calls.map { $0.error?.code } == [nil, nil, nil, .unavailable])
        let one = try house.compute(seat: 1)
        #expect(count(one) == [3])
    }

    @Test func `a device is refused when all of its seats are`() throws {
        let one = try house.compute(seat: 1)
        let waits = house.client.call("Compute.double")
        one.die()
        house.hub.refuse(house.computeSlot, seat: 1, "failed")
        #expect(waits.end == nil, "the other seat may still come")
        house.hub.refuse(house.computeSlot, seat: 2, "stopped")
        #expect(waits.error?.code == .unavailable)
        #expect(waits.error?.message.contains("restart it") == true)
        #expect(house.client.call("Compute.double").error?.code == .unavailable)
        house.hub.expect(house.computeSlot, seat: 2)
        let again = house.client.call("Compute.double")
        #expect(again.end == nil)
        let two = try house.compute(seat: 2)
        two.answer(try two.take("Compute.double"), "4")
        #expect(again.end == "4")
    }

    @Test func `a stage of a pipe may run in any process, and so may its closures`() throws {
        let compute = try house.compute(seat: 1)
        let stages: [StageDescriptor] = [
            .stage(.closure), .visit(.pipe, "Compute.double"), .stage(.closure),
        ]
        let one = try house.circuit(stages: stages, seat: 1)
        let two = try house.circuit(stages: stages, seat: 2)
        let call = house.client.call(TestHouse.pipe, "1")
        let all = [one, two]
        let first = try #require(all.first { !$0.cable.visits.isEmpty })
        let second = try #require(all.first { $0.cable.visits.isEmpty })
        first.answer(try first.take("Circuit.pipe#0"), "2")
        compute.answer(try compute.take("Compute.double"), "3")
        second.answer(try second.take("Circuit.pipe#2"), "4")
        #expect(call.end == "4")
    }

    @Test func `the closures of a pipe that a handler has built run where it runs`() throws {
        let one = try house.circuit(seat: 1)
        let two = try house.circuit(seat: 2)
        let call = house.client.call("Circuit.work", "1")
        let here = try #require([one, two].first { !$0.cable.visits.isEmpty })
        let there = here === one ? two : one
        let work = try here.take("Circuit.work")
        here.run(work, 1, [.stage(.closure), .stage(.closure)], "2")
        here.answer(try here.take("tag 1 #0"), "3")
        here.answer(try here.take("tag 1 #1"), "4")
        #expect(there.cable.visits.isEmpty)
        here.answer(work, "5")
        #expect(call.end == "5")
    }

    @Test func `branches of a fork are spread`() throws {
        let one = try house.compute(seat: 1)
        let two = try house.compute(seat: 2)
        var fork = StageDescriptor.stage(.fork)
        fork.branches = (0..<4).map { _ in
            RouteDescriptor(stages: [.visit(.pipe, "Compute.double")], last: false)
        }
        _ = try house.circuit(stages: [fork], seat: 1)
        house.client.call(TestHouse.pipe, "1")
        #expect(count(one, two) == [2, 2])
    }

    @Test func `the cells are the device's, whichever process has died`() throws {
        var limits = HubLimits()
        limits.cells = 1
        let house = try TestHouse(limits, seats: 2)
        house.hub.observer = supervisor
        let one = try house.compute(seat: 1)
        let two = try house.compute(seat: 2)
        for _ in 0..<2 { house.client.call("Compute.double") }
        _ = try (one.take("Compute.double"), two.take("Compute.double"))
        one.die(.cell)
        #expect(supervisor.cells == 1, "the other seat serves, so its cell comes at once")
        two.die(.cell)
        _ = try house.compute(seat: 1)
        #expect(supervisor.cells == 1)
        let cell = try house.compute(isCell: true, seat: 1)
        cell.answer(try cell.take("Compute.double"), "4")
        #expect(supervisor.cells == 1, "it takes its place until it is dead")
        cell.die()
        #expect(supervisor.cells == 2)
    }

    @Test func `what each process holds is told by its seat`() throws {
        _ = try house.compute(seat: 2)
        _ = try house.compute(seat: 1)
        for _ in 0..<3 { house.client.call("Compute.double") }
        let held = house.hub.heldVisits
        #expect(held.map(\.seat) == ["compute/1", "compute/2"])
        #expect(held.map(\.count).sorted() == [1, 2])
    }
}
