import Control
import Kernel
import Testing

/// Flows along a pipe: the kernel carries the value from stage to stage.
@Suite struct PipeTests {
    @Test func `the output of each stage is the payload of the next`() throws {
        let house = try TestHouse()
        let (compute, circuit, store) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .stage(.closure), .visit(.pipe, "Store.save"),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        let closure = try circuit.take("Circuit.pipe#1")
        #expect((closure.text, closure.step) == ("2", 1))
        circuit.answer(closure, "3")
        let saved = try store.take("Store.save")
        #expect((saved.text, saved.step) == ("3", 2))
        #expect(call.end == nil)
        store.answer(saved, "4")
        #expect(call.end == "4")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a tap and an effect keep the value`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            .visit(.tap, "Compute.double"), .stage(.effect), .visit(.pipe, "Compute.other"),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        let effect = try circuit.take("Circuit.pipe#1")
        #expect(effect.text == "1")
        circuit.answer(effect, "ignored")
        let last = try compute.take("Compute.other")
        #expect(last.text == "1")
        compute.answer(last, "end")
        #expect(call.end == "end")
    }

    @Test func `withRequest joins what entered the pipe with the value`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .stage(.withRequest), .stage(.closure),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        let closure = try circuit.take("Circuit.pipe#2")
        #expect((closure.text, closure.step) == ("1,2", 2))
        circuit.answer(closure, "3")
        #expect(call.end == "3")
    }

    @Test func `a pipe that ends with withRequest gives the pair`() throws {
        let house = try TestHouse()
        let (compute, _, _) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .stage(.withRequest),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(call.end == "1,2")
    }

    @Test func `an empty pipe gives back its request`() throws {
        let house = try TestHouse()
        _ = try house.circuit(stages: [])
        #expect(house.client.call("Circuit.pipe", "same").end == "same")
    }

    @Test func `abort ends the flow with success and its value`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            .stage(.closure), .visit(.pipe, "Compute.double"),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        circuit.answer(try circuit.take("Circuit.pipe#0"), .abort(Array("early".utf8)))
        #expect(call.end == "early")
        #expect(compute.cable.visits.isEmpty)
    }

    @Test func `fail ends the flow with its error`() throws {
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(stages: [
            .stage(.closure), .visit(.pipe, "Compute.double"),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        circuit.answer(
            try circuit.take("Circuit.pipe#0"), .fail(KernelError(.init(rawValue: "no"), "")))
        #expect(call.end == "! no unknown")
        #expect(compute.cable.visits.isEmpty)
    }

    @Test func `a pipe that visits a pipe is a pipe within the flow's stage`() throws {
        let house = try TestHouse()
        let circuit = try house.circuit(stages: [.stage(.closure)])
        let call = house.client.call("Circuit.work", "1")
        let outer = try circuit.take("Circuit.work")
        try circuit.call(outer, 1, "Circuit.pipe", "2")
        circuit.answer(try circuit.take("Circuit.pipe#0"), "3")
        #expect(circuit.heard() == ["1 3"])
        circuit.answer(outer, "4")
        #expect(call.end == "4")
    }

    @Test func `a flow goes on along the route on which it began`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .visit(.pipe, "Compute.other"),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        old.die()
        _ = try house.circuit(stages: [.visit(.pipe, "Store.save")])
        compute.answer(try compute.take("Compute.double"), "2")
        compute.answer(try compute.take("Compute.other"), "3")
        #expect(call.end == "3")
        #expect(house.client.call("Circuit.pipe").end == nil)
    }

    @Test func `a closure that another build no longer announces is unbound`() throws {
        let house = try TestHouse()
        let (compute, old, _) = try house.startAll(stages: [
            .visit(.pipe, "Compute.double"), .stage(.closure),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        old.die()
        _ = try house.circuit(stages: [.visit(.pipe, "Store.save")])
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(call.end == "! unbound none")
        #expect(house.hub.liveFlows == 0)
    }

    @Test func `a stage of the kernel itself is answered on the way`() throws {
        let house = try TestHouse()
        house.hub.declare(builtin: "Kernel.echo") { .success($0 + Array("!".utf8)) }
        let (compute, _, _) = try house.startAll(stages: [
            .visit(.pipe, "Kernel.echo"), .visit(.pipe, "Compute.double"),
        ])
        let call = house.client.call("Circuit.pipe", "1")
        let visit = try compute.take("Compute.double")
        #expect(visit.text == "1!")
        compute.answer(visit, "2")
        #expect(call.end == "2")
    }
}
