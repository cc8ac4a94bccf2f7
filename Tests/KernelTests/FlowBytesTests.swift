import Control
import Testing
import Values

@testable import Kernel

/// The bound over all flows together.
@Suite struct FlowBytesTests {
    /// A house with room for so many bytes besides what each flow takes by itself.
    private func house(_ bytes: Int, flows: Int, spared: Int = 64 << 10) throws -> TestHouse {
        var limits = HubLimits()
        limits.flowBytes = bytes + flows * Flow.ownBytes
        limits.sparedBytes = spared
        return try TestHouse(limits)
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    /// What the flows hold besides what each takes by itself, if the account is right.
    private func bytes(_ house: TestHouse, _ at: SourceLocation = #_sourceLocation) -> Int {
        #expect(house.hub.flowBytes == house.hub.countedFlowBytes, sourceLocation: at)
        return house.hub.flowBytes - house.hub.liveFlows * Flow.ownBytes
    }

    // MARK: - Who is refused, and who ends

    @Test func `a new flow beyond the bound is refused, and one that fits is not`() throws {
        let house = try house(1_000, flows: 2)
        let compute = try house.compute()
        let first = house.client.call("Compute.double", text(600))
        #expect(bytes(house) == 600)
        let second = house.client.call("Compute.double", text(401))
        #expect(second.end == "! overloaded none")
        #expect(second.error?.retry == true)
        let third = house.client.call("Compute.double", text(400))
        #expect(third.end == nil)
        compute.answer(try compute.take("Compute.double"), "1")
        #expect(first.end == "1")
        #expect(house.client.call("Compute.double", text(600)).end == nil)
        #expect(house.client.call("Compute.double", "").end == "! overloaded none")
        for _ in 0..<2 { compute.answer(try compute.take("Compute.double"), "2") }
        #expect(third.end == "2")
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `commands in lanes and requests that wait count too`() throws {
        let house = try house(1_000, flows: 3)
        #expect(house.client.dispatch("Store.save", text(400)).accepted)
        #expect(house.client.dispatch("Store.save", text(400)).accepted)
        #expect(house.client.dispatch("Store.save", text(201)).end == "! overloaded none")
        #expect(house.client.call("Compute.double", text(201)).end == "! overloaded none")
        let waits = house.client.call("Compute.double", text(200))
        #expect(bytes(house) == 1_000)
        let store = try house.store()
        for _ in 0..<2 { store.answer(try store.take("Store.save"), text(5_000)) }
        waits.cancel()
        #expect(house.hub.flowBytes == 0)
    }

    @Test(arguments: [("Compute.double", "none"), ("Store.set", "unknown")])
    func `a big answer ends the flow, with what may have happened and its finally`(
        _ symbol: String, _ outcome: String
    ) throws {
        let house = try house(1_000, flows: 1)
        let (compute, circuit, store) = try house.startAll(
            stages: [.visit(.pipe, symbol), .visit(.pipe, "Compute.other")], finally: true)
        let call = house.client.call(TestHouse.pipe, text(500))
        let process = symbol == "Store.set" ? store : compute
        process.answer(try process.take(symbol), text(1_001))
        #expect(call.end == nil, "the finally runs first")
        circuit.answer(try circuit.take("Circuit.pipe#finally"), "")
        // The finally is a visit of a device that is not pure.
        #expect(call.error?.code == .overloaded)
        #expect(compute.cable.visits.isEmpty)
        #expect(house.hub.flowBytes == 0)
        let plain = try self.house(1_000, flows: 1)
        let devices = try plain.startAll(
            stages: [.visit(.pipe, symbol), .visit(.pipe, "Compute.other")])
        let other = plain.client.call(TestHouse.pipe, text(500))
        let answering = symbol == "Store.set" ? devices.store : devices.compute
        answering.answer(try answering.take(symbol), text(1_001))
        #expect(other.end == "! overloaded \(outcome)")
        #expect(plain.hub.flowBytes == 0)
    }

    @Test func `the answer of the last stage is given away, however big`() throws {
        let house = try house(1_000, flows: 1)
        let (compute, _, _) = try house.startAll(stages: [.visit(.pipe, "Compute.double")])
        let call = house.client.call(TestHouse.pipe, "x")
        compute.answer(try compute.take("Compute.double"), text(5_000))
        #expect(call.end?.count == 5_000)
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `what a stage asks and is told counts until the stage ends`() throws {
        let house = try house(10_000, flows: 2)
        let (compute, circuit, _) = try house.startAll(stages: [
            .stage(.closure), .visit(.pipe, "Compute.other"),
        ])
        let call = house.client.call(TestHouse.pipe, "x")
        let visit = try circuit.take("Circuit.pipe#0")
        try circuit.call(visit, 1, "Compute.double", text(1_000))
        let own = bytes(house) - 1 - 64 - 1_000
        #expect((1..<200).contains(own), "the key of the call, and its payload once")
        compute.answer(try compute.take("Compute.double"), text(3_000))
        #expect(bytes(house) == 1 + 64 + 1_000 + 3_000)
        house.hub.ask(
            circuit.peer, visit: visit.number, tag: 2,
            .publish(try channel(house), [UInt8](repeating: 0, count: 2_000)))
        #expect(bytes(house) == 1 + 64 + 1_000 + 3_000 + 64 + 2_000)
        circuit.answer(visit, "y")
        #expect(bytes(house) == 1)
        compute.answer(try compute.take("Compute.other"), "end")
        #expect(call.end == "end")
        #expect(house.hub.flowBytes == 0)
    }

    private func channel(_ house: TestHouse) throws -> ChannelSlot {
        try house.hub.declare(channel: "news")
        return try house.hub.channel("news")
    }

    @Test func `a record beyond the bound ends its flow`() throws {
        for isAnswer in [false, true] {
            let house = try house(4_000, flows: 3)
            let (compute, circuit, _) = try house.startAll()
            let call = house.client.call("Circuit.work", "x")
            let visit = try circuit.take("Circuit.work")
            try circuit.call(visit, 1, "Compute.double", text(isAnswer ? 10 : 6_000))
            if isAnswer {
                compute.answer(try compute.take("Compute.double"), text(6_000))
            }
            #expect(circuit.cable.cancelled == [visit.number])
            #expect(call.end == nil, "its visit has not settled")
            #expect(bytes(house) < 4_000)
            circuit.answer(visit, .fail(KernelError(.cancelled, "")))
            #expect(call.end == "! overloaded unknown")
            #expect(house.hub.flowBytes == 0)
        }
    }

    @Test func `a kernel that is full still runs what ends its flows`() throws {
        let house = try house(1_000, flows: 1)
        let (_, circuit, store) = try house.startAll(
            stages: [.visit(.pipe, "Store.set")], finally: true)
        let call = house.client.call(TestHouse.pipe, text(1_000))
        #expect(house.client.call(TestHouse.pipe, "").end == "! overloaded none")
        store.answer(try store.take("Store.set"), .fail(KernelError(.failed, "")))
        let last = try circuit.take("Circuit.pipe#finally")
        try circuit.call(last, 1, "Store.set", text(2_000))
        #expect(bytes(house) > 3_000)
        store.answer(try store.take("Store.set"), text(3_000))
        #expect(circuit.cable.answers.count == 1)
        circuit.answer(last, "")
        #expect(call.end == "! failed unknown")
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `the room that is spared ends, too`() throws {
        let house = try house(1_000, flows: 1, spared: 4_000)
        let (_, circuit, store) = try house.startAll(
            stages: [.visit(.pipe, "Store.set")], finally: true)
        let call = house.client.call(TestHouse.pipe, text(1_000))
        store.answer(try store.take("Store.set"), .fail(KernelError(.failed, "")))
        let last = try circuit.take("Circuit.pipe#finally")
        try circuit.call(last, 1, "Store.set", text(6_000))
        #expect(circuit.cable.cancelled == [last.number])
        #expect(call.end == nil, "it may still do something")
        circuit.answer(last, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! failed unknown")
        #expect(house.errors == ["Circuit.pipe#finally finallyLost"])
        #expect(house.hub.flowBytes == 0)
    }

    // MARK: - Each byte once

    @Test func `the request is kept only while a later stage is given it`() throws {
        let house = try house(100_000, flows: 1)
        let (compute, _, _) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .visit(.pipe, "Compute.double"),
            .stage(.withRequest), .visit(.pipe, "Compute.double"),
            .visit(.pipe, "Compute.double"),
        ])
        let call = house.client.call(TestHouse.pipe, text(1_000))
        #expect(bytes(house) == 1_000)
        compute.answer(try compute.take("Compute.double"), text(20))
        #expect(bytes(house) == 1_020)
        compute.answer(try compute.take("Compute.double"), text(30))
        #expect(bytes(house) == 1_031, "joined")
        compute.answer(try compute.take("Compute.double"), text(40))
        #expect(bytes(house) == 40)
        compute.answer(try compute.take("Compute.double"), "end")
        #expect(call.end == "end")
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `branches share the value that enters their fork`() throws {
        let house = try house(100_000, flows: 3)
        let branch = RouteDescriptor(
            stages: [.visit(.pipe, "Compute.double"), .visit(.pipe, "Compute.other")], last: false)
        var fork = StageDescriptor.stage(.fork)
        fork.branches = [branch, branch]
        let (compute, _, _) = try house.startAll(stages: [
            fork, .visit(.pipe, "Compute.double"),
        ])
        let call = house.client.call(TestHouse.pipe, text(1_000))
        let keys = bytes(house) - 1_000
        #expect((1..<100).contains(keys))
        compute.answer(try compute.take("Compute.double"), text(50))
        #expect(bytes(house) == 1_050 + keys)
        compute.answer(try compute.take("Compute.double"), text(50))
        compute.answer(try compute.take("Compute.other"), text(7))
        #expect(bytes(house) == 1_057 + keys / 2, "what the first has given")
        compute.answer(try compute.take("Compute.other"), text(8))
        #expect(bytes(house) == 16)
        compute.answer(try compute.take("Compute.double"), "end")
        #expect(call.end == "end")
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `a read or commit keeps a value, which counts once for all that keep it`() throws {
        let house = try house(1 << 20, flows: 3)
        house.hub.declare(region: "big", initial: .text(text(9_000)))
        let slot = try house.hub.declare(
            DeviceDeclaration(
                name: "writer", pure: true, provides: ["Writer.write"], calls: nil, reads: [],
                writes: ["big", "number"]))
        let writer = try TestProcess(house, slot, bindings: [.handler("Writer.write")])
        let calls = (0..<2).map { _ in house.client.call("Writer.write", "") }
        let visits = try calls.map { _ in try writer.take("Writer.write") }
        for visit in visits {
            for n in 0..<2 {
                house.hub.note(
                    writer.peer, visit: visit.number, region: "big", number: UInt32(n), revision: 0)
            }
        }
        let reads = 4 * (64 + 3)
        #expect(bytes(house) == 9_003 + reads)
        writer.commit(visits[0], 1, [.replace("big", base: 0, .text(text(5_000)))])
        #expect(bytes(house) == 9_003 + reads + 64 + 3, "the same value")
        writer.commit(visits[1], 1, [.replace("big", base: 1, .text(""))])
        #expect(bytes(house) == 9_003 + reads + 2 * (64 + 3) + 5_001, "what has been put there")
        writer.answer(visits[0], "")
        #expect(bytes(house) == 9_003 + reads / 2 + (64 + 3) + 5_001)
        writer.answer(visits[1], "")
        #expect(calls.map(\.end) == ["", ""])
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `of values that share their memory only what was copied counts`() throws {
        let house = try house(1 << 20, flows: 2)
        let rows = Dictionary(
            uniqueKeysWithValues: (0..<1_000).map { ("\($0)", Value.text(text(100))) })
        house.hub.declare(region: "rows", initial: .map(rows))
        let slot = try house.hub.declare(
            DeviceDeclaration(
                name: "writer", pure: true, provides: ["Writer.write"], calls: nil, reads: [],
                writes: ["rows"]))
        let writer = try TestProcess(house, slot, bindings: [.handler("Writer.write")])
        let calls = (0..<2).map { _ in house.client.call("Writer.write", "") }
        let visits = try calls.map { _ in try writer.take("Writer.write") }
        // Each keeps the value that it was made on; all of them whole would be beyond the bound.
        let whole = Value.map(rows).encodedSize
        for n in 0..<50 {
            let patch = Patch([.replace(["\(n)"], .text(text(99)))])
            writer.commit(
                visits[n % 2], UInt64(n),
                [RegionOffer(region: "rows", base: UInt64(n), patch: patch)])
            // The first whole, then some nodes of a tree and their row; and an entry of the record.
            #expect(bytes(house) <= whole + 1_000 + n * 10_000, "after \(n + 1)")
        }
        #expect(house.hub.counter == 50)
        writer.answer(visits[0], "")
        #expect(bytes(house) > whole, "the other keeps half of them, the first of them whole")
        writer.answer(visits[1], "")
        #expect(calls.map(\.end) == ["", ""])
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `a commit whose record would be beyond the bound is not made`() throws {
        let house = try house(4_000, flows: 2)
        house.hub.declare(region: "big", initial: .text(text(5_000)))
        let slot = try house.hub.declare(
            DeviceDeclaration(
                name: "writer", pure: true, provides: ["Writer.write"], calls: nil, reads: [],
                writes: ["big"]))
        let writer = try TestProcess(house, slot, bindings: [.handler("Writer.write")])
        for isRead in [false, true] {
            let call = house.client.call("Writer.write", "")
            let visit = try writer.take("Writer.write")
            if isRead {
                house.hub.note(
                    writer.peer, visit: visit.number, region: "big", number: 0, revision: 0)
            } else {
                writer.commit(visit, 1, [.replace("big", base: 0, .text(""))])
            }
            #expect(house.hub.counter == 0)
            writer.answer(visit, .fail(KernelError(.cancelled, "")))
            #expect(call.end == "! overloaded none")
            #expect(house.hub.flowBytes == 0)
        }
    }

    @Test func `the size of a region does not drift away from what it holds`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit()
        var base: UInt64 = 0
        for round in 0..<20 {
            house.client.call("Circuit.work", "")
            let visit = try circuit.take("Circuit.work")
            for tag in 1...500 {
                let patch =
                    tag % 2 == 1
                    ? Patch([.replace([], .map(["key": .int(1)])), .add(["k\(tag)"], .text("new"))])
                    : Patch([.remove(["k\(tag - 1)"])])
                circuit.commit(
                    visit, UInt64(tag), [.init(region: "number", base: base, patch: patch)])
                base += 1
            }
            #expect(house.hub.counter == base, "round \(round)")
            circuit.answer(visit, "")
        }
        let slot = try #require(house.hub.regions["number"])
        #expect(slot.size >= slot.value.encodedSize)
        #expect(slot.size <= slot.value.encodedSize + 5_000)
        #expect(house.hub.flowBytes == 0)
    }
}
