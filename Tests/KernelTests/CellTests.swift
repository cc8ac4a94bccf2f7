import Control
import Kernel
import Testing

/// Visits that were in the death of a process are tried again apart.
@Suite struct CellTests {
    /// Says what a supervisor says, and notes what it is asked for.
    private final class Supervisor: HubObserver {
        var fates: [String: Hub.Fate] = [:]
        var wanted = 0
        var emptied: [Int] = []

        func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {}
        func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate {
            fates[symbol] ?? .free
        }
        func cellWanted(device: String) { wanted += 1 }
        func elderEmptied(device: String, incarnation: Int) {}
        func cellEmptied(device: String, incarnation: Int) { emptied.append(incarnation) }
    }

    private let house: TestHouse
    private let supervisor = Supervisor()

    init() throws {
        house = try TestHouse()
        house.hub.observer = supervisor
    }

    /// A visit whose process died, and which is suspected.
    private func suspect(_ symbol: String = "Compute.double") throws -> TestClient.Call {
        let old = try house.compute()
        let call = house.client.call(symbol, "1")
        _ = try old.take(symbol)
        old.die(.cell)
        return call
    }

    @Test func `a suspect waits for a cell, and others go to the process that serves`() throws {
        let call = try suspect()
        #expect(supervisor.wanted == 0, "a process that serves comes first")
        let new = try house.compute()
        #expect(supervisor.wanted == 1)
        #expect(new.cable.visits.isEmpty)
        let other = house.client.call("Compute.double", "2")
        new.answer(try new.take("Compute.double"), "4")
        #expect(other.end == "4")
        let cell = try house.compute(isCell: true)
        let visit = try cell.take("Compute.double")
        #expect((visit.text, visit.attempt) == ("1", 2))
        #expect(supervisor.emptied.isEmpty)
        cell.answer(visit, "2")
        #expect(call.end == "2")
        #expect(supervisor.emptied == [cell.peer.incarnation])
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `several suspects are tried each in a cell of its own`() throws {
        let old = try house.compute()
        let calls = (0..<6).map { house.client.call("Compute.double", "\($0)") }
        old.die(begun: 6, .cell)
        _ = try house.compute()
        #expect(supervisor.wanted == house.hub.limits.cells, "no more at a time")
        for (index, call) in calls.enumerated() {
            let cell = try house.compute(isCell: true)
            #expect(cell.cable.visits.count == 1)
            cell.answer(try cell.take("Compute.double"), "done")
            #expect(call.end == "done")
            #expect(supervisor.emptied.count == index + 1)
            let wanted = supervisor.wanted
            cell.die()
            #expect(
                supervisor.wanted == min(wanted + 1, calls.count),
                "it takes its place until it is dead")
        }
        #expect(supervisor.wanted == calls.count)
    }

    @Test func `a cell that dies costs nobody else anything`() throws {
        let call = try suspect()
        let serving = try house.compute()
        let other = house.client.call("Compute.other")
        let cell = try house.compute(isCell: true)
        _ = try cell.take("Compute.double")
        cell.die(.poisoned)
        #expect(call.end == "! poisoned none")
        serving.answer(try serving.take("Compute.other"), "kept")
        #expect(other.end == "kept")
        #expect(supervisor.emptied.isEmpty, "who is dead needs not go")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a new request like a charged one goes into a cell, too, or is poisoned`() throws {
        let serving = try house.compute()
        house.computeSlot.charged = true
        supervisor.fates["Compute.double"] = .cell
        let call = house.client.call("Compute.double", "1")
        #expect(serving.cable.visits.isEmpty)
        #expect(supervisor.wanted == 1)
        let cell = try house.compute(isCell: true)
        cell.answer(try cell.take("Compute.double"), "2")
        #expect(call.end == "2")
        supervisor.fates["Compute.double"] = .poisoned
        #expect(house.client.call("Compute.double", "1").end == "! poisoned none")
        let other = house.client.call("Compute.other")
        serving.answer(try serving.take("Compute.other"), "kept")
        #expect(other.end == "kept")
    }

    @Test func `what is poisoned meanwhile ends no further process`() throws {
        let old = try house.compute()
        let calls = (0..<6).map { _ in house.client.call("Compute.double", "1") }
        house.computeSlot.charged = true
        supervisor.fates["Compute.double"] = .cell
        old.die(begun: 6, .cell)
        let serving = try house.compute()
        let cell = try house.compute(isCell: true)
        _ = try cell.take("Compute.double")
        supervisor.fates["Compute.double"] = .poisoned
        cell.die(.poisoned)
        let next = try house.compute(isCell: true)
        #expect(next.cable.visits.isEmpty)
        #expect(calls.allSatisfy { $0.error?.code == .poisoned })
        #expect(supervisor.emptied == [next.peer.incarnation])
        #expect(serving.cable.visits.isEmpty)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `where no cell can be had, poison does not go to the process that serves`() throws {
        let call = try suspect()
        let serving = try house.compute()
        house.computeSlot.charged = true
        supervisor.fates["Compute.double"] = .poisoned
        house.hub.cellLost(house.computeSlot, failed: true)
        #expect(call.error?.code == .poisoned)
        #expect(serving.cable.visits.isEmpty)
    }

    @Test func `a cell that comes too late is sent away`() throws {
        let call = try suspect()
        call.cancel()
        #expect(call.end == "! cancelled unknown" || call.end == "! cancelled none")
        let cell = try house.compute(isCell: true)
        #expect(cell.cable.visits.isEmpty)
        #expect(supervisor.emptied == [cell.peer.incarnation])
    }

    @Test func `where no cell can be had, the process that serves tries it`() throws {
        let call = try suspect()
        let serving = try house.compute()
        house.hub.cellLost(house.computeSlot, failed: false)
        #expect(supervisor.wanted == 2, "this one died by accident: another is asked for")
        #expect(serving.cable.visits.isEmpty)
        house.hub.cellLost(house.computeSlot, failed: true)
        serving.answer(try serving.take("Compute.double"), "2")
        #expect(call.end == "2")
    }

    @Test func `a device that rests refuses those that wait for its cells`() throws {
        let call = try suspect()
        house.hub.refuse(house.computeSlot, "failed")
        #expect(call.error?.code == .unavailable)
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a cell of another build is refused`() throws {
        let stages = [StageDescriptor.visit(.pipe, "Compute.double")]
        let serving = try house.circuit(stages: stages)
        let error = #expect(throws: KernelError.self) {
            try house.circuit(
                stages: [.visit(.pipe, "Compute.other")], isCell: true)
        }
        #expect(error?.message.contains("Circuit.pipe otherwise") == true)
        #expect(!serving.peer.away)
        _ = try house.circuit(stages: stages, isCell: true)
    }
}

/// Cells whose visits wait for somebody who is away.
@Suite struct WaitingCellTests {
    private final class Supervisor: HubObserver {
        var wanted = 0
        func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {}
        func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate { .free }
        func cellWanted(device: String) { wanted += 1 }
        func elderEmptied(device: String, incarnation: Int) {}
        func cellEmptied(device: String, incarnation: Int) {}
    }

    @Test func `a cell that waits for another device keeps no suspect from one`() throws {
        var limits = HubLimits()
        limits.cells = 2
        limits.allCells = 5
        let house = try TestHouse(limits)
        let supervisor = Supervisor()
        house.hub.observer = supervisor
        let old = try house.circuit()
        let calls = (0..<7).map { house.client.call("Circuit.work", "\($0)") }
        old.die(begun: 7, .cell)
        _ = try house.circuit()
        #expect(supervisor.wanted == 2)
        var waiting: [(TestProcess, TestCable.Visit)] = []
        for wanted in [2, 3, 4, 5, 5] {
            let cell = try house.circuit(isCell: true)
            let visit = try cell.take("Circuit.work")
            #expect(supervisor.wanted == min(wanted, 5))
            // The store is away.
            try cell.call(visit, 1, "Store.set", visit.text)
            waiting.append((cell, visit))
            #expect(supervisor.wanted == min(waiting.count + 2, 5), "\(waiting.count) wait")
        }
        let store = try house.store()
        for (cell, visit) in waiting {
            store.answer(try store.take("Store.set"), "kept")
            cell.answer(visit, "done")
            cell.die()
        }
        #expect(supervisor.wanted == 7)
        for _ in 0..<2 {
            let cell = try house.circuit(isCell: true)
            cell.answer(try cell.take("Circuit.work"), "done")
            cell.die()
        }
        #expect(calls.allSatisfy { $0.end == "done" })
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `a cell whose visit runs again counts again`() throws {
        var limits = HubLimits()
        limits.cells = 1
        let house = try TestHouse(limits)
        let supervisor = Supervisor()
        house.hub.observer = supervisor
        let old = try house.circuit()
        for number in 0..<3 { house.client.call("Circuit.work", "\(number)") }
        old.die(begun: 3, .cell)
        _ = try house.circuit()
        let store = try house.store()
        let cell = try house.circuit(isCell: true)
        let visit = try cell.take("Circuit.work")
        #expect(supervisor.wanted == 1)
        try cell.call(visit, 1, "Store.set", "1")
        #expect(supervisor.wanted == 2)
        store.answer(try store.take("Store.set"), "kept")
        _ = try house.circuit(isCell: true).take("Circuit.work")
        #expect(supervisor.wanted == 2, "both run")
        try cell.call(visit, 2, "Store.set", "2")
        #expect(supervisor.wanted == 2, "one runs")
    }
}
