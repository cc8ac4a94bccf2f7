import Control
import Kernel
import Testing

/// A value that goes into several branches at once.
@Suite struct ForkTests {
    /// A fork of these branches, each a list of symbols; `nil` is a closure.
    static func fork(_ branches: [[String?]], last: Bool = false) -> StageDescriptor {
        StageDescriptor(
            kind: .fork, symbol: nil, notes: [], shape: "", file: "", line: 0,
            branches: branches.map { names in
                RouteDescriptor(
                    stages: names.map { $0.map { .visit(.pipe, $0) } ?? .stage(.closure) },
                    last: last)
            })
    }

    static let two = fork([["Compute.double"], ["Store.save"]])

    @Test func `all branches get the value, and their outputs come in the order of branches`()
        throws
    {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll(stages: [Self.two, .stage(.closure)])
        let call = house.client.call(TestHouse.pipe, "1")
        let double = try compute.take("Compute.double")
        let save = try store.take("Store.save")
        #expect((double.text, save.text) == ("1", "1"))
        store.answer(save, "b")
        #expect(circuit.cable.visits.isEmpty, "one branch still runs")
        compute.answer(double, "a")
        let joined = try circuit.take("Circuit.pipe#1")
        #expect((joined.text, joined.step) == ("a,b", 1))
        circuit.answer(joined, "end")
        #expect(call.end == "end")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `closures of branches are visited by their places`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            Self.fork([["Compute.double", nil], [nil]], last: true)
        ])
        let call = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0.1#0"), "b")
        circuit.answer(try circuit.take("Circuit.pipe#0.1#finally"), "")
        compute.answer(try compute.take("Compute.double"), "2")
        circuit.answer(try circuit.take("Circuit.pipe#0.0#1"), "a")
        #expect(call.end == nil, "the finally of a branch belongs to it")
        circuit.answer(try circuit.take("Circuit.pipe#0.0#finally"), "")
        #expect(call.end == "a,b")
    }

    @Test func `the first branch that fails cancels the others on their devices`() throws {
        let house = try TestHouse()
        let (compute, _, store) = try house.startAll(stages: [Self.two])
        let call = house.client.call(TestHouse.pipe, "1")
        let double = try compute.take("Compute.double")
        let save = try store.take("Store.save")
        compute.answer(double, .fail(KernelError(KernelError.Code(rawValue: "bad"), "no")))
        #expect(store.cable.cancelled == [save.number])
        #expect(call.end == nil, "what was begun settles first")
        store.answer(save, .fail(KernelError(.cancelled, "")))
        #expect(call.end == "! bad unknown")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a branch whose device dies is played again alone`() throws {
        let house = try TestHouse()
        let (compute, _, store) = try house.startAll(stages: [Self.two])
        let call = house.client.call(TestHouse.pipe, "1")
        let double = try compute.take("Compute.double")
        let save = try store.take("Store.save")
        store.die()
        let again = try house.store()
        let repeated = try again.take("Store.save")
        #expect((repeated.path, repeated.step, repeated.attempt) == (save.path, save.step, 2))
        compute.answer(double, "a")
        again.answer(repeated, "b")
        #expect(call.end == "a,b")
    }

    @Test func `branches have keys of their own`() throws {
        let house = try TestHouse()
        let (_, _, store) = try house.startAll(stages: [
            Self.fork([["Store.save"], ["Store.save"]])
        ])
        let call = house.client.call(TestHouse.pipe, "1")
        let visits = [try store.take("Store.save"), try store.take("Store.save")]
        #expect(visits[0].path != visits[1].path)
        #expect(visits.allSatisfy { $0.path != nil })
        for visit in visits { store.answer(visit, "x") }
        #expect(call.end == "x,x")
    }

    @Test func `an aborted branch gives its value to the fork`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            Self.fork([[nil, "Store.save"], ["Compute.double"]])
        ])
        let call = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0.0#0"), .abort(Array("early".utf8)))
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(call.end == "early,2")
    }

    @Test func `a fork of no branches gives nothing at once`() throws {
        let house = try TestHouse()
        _ = try house.startAll(stages: [Self.fork([])])
        #expect(house.client.call(TestHouse.pipe, "1").end == "")
    }

    @Test func `forks stand in branches of forks`() throws {
        let house = try TestHouse()
        let inner = Self.fork([["Compute.double"], ["Compute.other"]])
        let outer = StageDescriptor(
            kind: .fork, symbol: nil, notes: [], shape: "", file: "", line: 0,
            branches: [
                RouteDescriptor(stages: [inner], last: false),
                RouteDescriptor(stages: [.visit(.pipe, "Store.save")], last: false),
            ])
        let (compute, _, store) = try house.startAll(stages: [outer])
        let call = house.client.call(TestHouse.pipe, "1")
        compute.answer(try compute.take("Compute.double"), "a")
        store.answer(try store.take("Store.save"), "c")
        compute.answer(try compute.take("Compute.other"), "b")
        #expect(call.end == "a,b,c")
    }

    @Test func `a cancelled call cancels every branch`() throws {
        let house = try TestHouse()
        let (compute, _, store) = try house.startAll(stages: [Self.two])
        let call = house.client.call(TestHouse.pipe, "1")
        let visits = [try compute.take("Compute.double"), try store.take("Store.save")]
        call.cancel()
        #expect(compute.cable.cancelled == [visits[0].number])
        #expect(store.cable.cancelled == [visits[1].number])
    }

    @Test func `a branch that names what nobody provides is refused at the handshake`() throws {
        let house = try TestHouse()
        let error = #expect(throws: KernelError.self) {
            try house.circuit(stages: [Self.fork([["Nobody.answers"]])])
        }
        #expect(error?.code == .unbound)
    }
}
