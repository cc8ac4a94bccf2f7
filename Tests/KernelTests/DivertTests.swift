import Control
import Kernel
import Testing

/// A flow that leaves its route for another.
@Suite struct DivertTests {
    private func divert(_ name: String, _ text: String) -> EncodedVerb {
        .divert(name, Array(text.utf8))
    }

    @Test func `a divert goes on along the route of the symbol`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            .stage(.closure), .visit(.pipe, "Store.save"),
        ])
        let call = house.client.call(TestHouse.pipe, "1")
        let first = try circuit.take("Circuit.pipe#0")
        circuit.answer(first, divert("Compute.double", "2"))
        let second = try compute.take("Compute.double")
        #expect((second.text, second.step) == ("2", first.step + 1), "a step never repeats")
        compute.answer(second, "4")
        #expect(call.end == "4")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a pipe that diverts to itself uses no more than one that does not`() throws {
        let house = try TestHouse()
        let (_, circuit, _) = try house.startAll(stages: [.stage(.closure)])
        let call = house.client.call(TestHouse.pipe, "0")
        for lap in 1...1_000 {
            let visit = try circuit.take("Circuit.pipe#0")
            circuit.answer(visit, divert(TestHouse.pipe, "\(lap)"))
            #expect(house.hub.liveFlows == 1)
            #expect(visit.path == nil, "the key does not grow")
        }
        circuit.answer(try circuit.take("Circuit.pipe#0"), .abort(Array("end".utf8)))
        #expect(call.end == "end")
    }

    @Test func `the finally of the route that is left runs first`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(
            stages: [.stage(.closure)], finally: true)
        let call = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0"), divert("Compute.double", "2"))
        #expect(compute.cable.visits.isEmpty)
        circuit.answer(try circuit.take("Circuit.pipe#finally"), "")
        compute.answer(try compute.take("Compute.double"), "4")
        #expect(call.end == "4")
        #expect(circuit.cable.visits.isEmpty, "and once")
    }

    @Test func `a flow that is cancelled while it leaves its route goes no further`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(
            stages: [.stage(.closure)], finally: true)
        let call = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0"), divert("Compute.double", "2"))
        let last = try circuit.take("Circuit.pipe#finally")
        call.cancel()
        circuit.answer(last, "")
        #expect(compute.cable.visits.isEmpty)
        #expect(call.error?.code == .cancelled)
        #expect(house.hub.liveFlows == 0)
    }

    static let wrong: [(name: String, code: KernelError.Code)] = [
        ("Nobody.answers", .unbound), ("Circuit.pipe#0", .unbound),
    ]

    @Test(arguments: 0..<wrong.count)
    func `a divert to what cannot be called ends the flow by name`(_ index: Int) throws {
        let (name, code) = Self.wrong[index]
        let house = try TestHouse()
        let (_, circuit, _) = try house.startAll(stages: [.stage(.closure)])
        let call = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0"), divert(name, "2"))
        #expect(call.error?.code == code)
        #expect(call.error?.message.contains(name) == true)
    }

    @Test func `a device diverts only to what its manifest grants`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        _ = try house.store()
        let call = house.client.call("Compute.double", "1")
        compute.answer(try compute.take("Compute.double"), divert("Store.save", "2"))
        #expect(call.error?.code == .denied)
        #expect(call.error?.message.contains("compute") == true)
    }

    @Test func `a handler may divert, and its caller gets what comes of it`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll()
        let call = house.client.call("Circuit.work", "1")
        circuit.answer(try circuit.take("Circuit.work"), divert("Compute.double", "2"))
        compute.answer(try compute.take("Compute.double"), "4")
        #expect(call.end == "4")
    }

    @Test func `a divert to a device that has never been there waits for it`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [.stage(.closure)])
        let call = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0"), divert("Compute.double", "2"))
        #expect(call.end == nil)
        let compute = try house.compute()
        compute.answer(try compute.take("Compute.double"), "4")
        #expect(call.end == "4")
    }

    /// What a stage says, and whether the flow, which gives a number, takes it.
    static let shapes: [(verb: EncodedVerb, fits: Bool)] = [
        (.abort([], shape: "int"), true), (.abort([], shape: "text"), false),
        (.abort([], shape: "{_}"), true), (.abort([]), true),
        (.divert("Compute.other", [], shape: "text"), true),
        (.divert("Compute.other", [], shape: "int"), false),
        (.divert("Compute.double", [], shape: "text"), false),
    ]

    @Test(arguments: 0..<shapes.count)
    func `a flow gives what it was to give, or ends by name`(_ index: Int) throws {
        let (verb, fits) = Self.shapes[index]
        let house = try TestHouse()
        let compute = try TestProcess(
            house, house.computeSlot,
            bindings: [
                Binding(
                    name: "Compute.double", traits: .replayable, stages: nil, last: false,
                    takes: "text", gives: "text"),
                Binding(
                    name: "Compute.other", traits: .replayable, stages: nil, last: false,
                    takes: "text", gives: "int"),
            ])
        let circuit = try house.circuit(stages: [.stage(.closure)], gives: "int")
        for isCommand in [false, true] {
            let call =
                isCommand
                ? house.client.dispatch(TestHouse.pipe) : house.client.call(TestHouse.pipe)
            circuit.answer(try circuit.take("Circuit.pipe#0"), verb)
            if let visit = compute.cable.visits.first {
                compute.answer(try compute.take(compute.names[visit.symbol]), "end")
            }
            // Nobody waits for what a command gives; what its stage takes still counts.
            guard !isCommand else { continue }
            #expect((call.error?.code == .composeTypeMismatch) == !fits, "\(call.end ?? "")")
            if !fits { #expect(call.error?.message.contains("Circuit.pipe#0") == true) }
        }
        #expect(house.hub.liveFlows == 0)
    }
}
