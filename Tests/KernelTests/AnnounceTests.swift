import Control
import Kernel
import Testing

/// What a device announces is compared with its manifest, symbol by symbol.
@Suite struct AnnounceTests {
    static let wrong: [(bindings: [Binding], code: KernelError.Code, named: String)] = [
        ([.handler("Compute.double")], .denied, "leaves Compute.other unbound"),
        ([], .denied, "unbound"),
        (
            [.handler("Compute.double"), .handler("Compute.other"), .handler("Compute.double")],
            .denied, "binds Compute.double twice"
        ),
        (
            [.handler("Compute.double"), .handler("Compute.other"), .handler("Store.save")],
            .denied, "binds Store.save, which its manifest does not provide"
        ),
        (
            [.handler("Compute.double"), .handler("Compute.other"), .handler("Kernel.shutdown")],
            .denied, "binds Kernel.shutdown, which"
        ),
        (
            [
                .handler("Compute.double"),
                .handler("Compute.other", Traits.unstated.limits(attempt: 3_000, deadline: 8_999)),
            ], .denied, "Compute.other: its deadline is under three attempts"
        ),
        (
            [
                .handler("Compute.double"),
                Binding(
                    name: "Compute.other", traits: .unstated,
                    stages: [.visit(.pipe, "Nobody.answers")], last: false),
            ], .unbound, "no manifest provides Nobody.answers"
        ),
        (
            [
                .handler("Compute.double"),
                Binding(
                    name: "Compute.other", traits: .unstated,
                    stages: [.visit(.tap, "Store.save")], last: false),
            ], .denied, "the manifest of compute may not call Store.save"
        ),
    ]

    @Test(arguments: 0..<wrong.count)
    func `an announcement that differs from the manifest names the symbol`(_ index: Int) throws {
        let (bindings, code, named) = Self.wrong[index]
        let house = try TestHouse()
        let error = #expect(throws: KernelError.self) {
            _ = try TestProcess(house, house.computeSlot, bindings: bindings)
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: 0..<wrong.count)
    func `a device that is refused has changed nothing`(_ index: Int) throws {
        let house = try TestHouse()
        let serving = try house.compute()
        _ = try? TestProcess(house, house.computeSlot, bindings: Self.wrong[index].bindings)
        let calls = ["Compute.double", "Compute.other"].map { house.client.call($0, $0) }
        for call in ["Compute.double", "Compute.other"] {
            serving.answer(try serving.take(call), "done")
        }
        #expect(calls.map(\.end) == ["done", "done"])
        #expect(house.hub.bindings.map(\.name) == ["Compute.double", "Compute.other"])
        #expect(house.hub.bindings.allSatisfy { $0.stages == nil })
    }

    @Test func `a deadline of three attempts is enough, whatever their size`() throws {
        for attempt in [1, 3_000, UInt32.max / 3] as [UInt32] {
            let house = try TestHouse()
            let traits = Traits.unstated.limits(attempt: attempt, deadline: attempt * 3)
            _ = try TestProcess(
                house, house.computeSlot,
                bindings: [.handler("Compute.double", traits), .handler("Compute.other")])
        }
    }

    static let manifests: [(provides: [String], named: String)] = [
        (["Kernel.mine"], "Kernel.* belongs to the kernel"),
        (["Compute.double"], "evil and compute both provide Compute.double"),
        (["Circuit.pipe#0"], "Circuit.pipe#0"),
    ]

    @Test(arguments: 0..<manifests.count)
    func `a manifest may not take what belongs to another`(_ index: Int) throws {
        let (provides, named) = Self.manifests[index]
        let house = try TestHouse()
        let error = #expect(throws: KernelError.self) {
            try house.hub.declare(
                DeviceDeclaration(
                    name: "evil", pure: false, provides: provides, calls: nil, reads: [],
                    writes: []))
        }
        #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
        #expect(house.hub.devices["evil"] == nil)
    }

    static let grants: [(calls: [String]?, symbol: String, may: Bool)] = [
        (nil, "Any.thing", true), ([], "Any.thing", false), (["*"], "Any.thing", true),
        (["Any.thing"], "Any.thing", true), (["Any.thing"], "Any.things", false),
        (["Any.*"], "Any.thing", true), (["Any.*"], "Anyone.else", false),
        (["Other.a", "Any.th*"], "Any.thing", true),
    ]

    @Test(arguments: 0..<grants.count)
    func `a manifest grants symbols by name or by prefix`(_ index: Int) throws {
        let (calls, symbol, may) = Self.grants[index]
        let hub = Hub(epoch: 1) { $0.flatMap { $0 } }
        let slot = try hub.declare(
            DeviceDeclaration(
                name: "device", pure: false, provides: [], calls: calls, reads: [], writes: []))
        #expect(slot.mayCall(symbol) == may)
    }

    @Test func `a pipe's places are its own name and those of its closures`() {
        let pipe = Binding(
            name: "A.pipe", traits: .unstated,
            stages: [
                .stage(.closure), .visit(.pipe, "B.x"), .stage(.withRequest), .stage(.effect),
                .visit(.tap, "B.y"),
            ], last: true)
        #expect(
            Hub.places(of: [.handler("A.first"), pipe, .handler("A.second")]) == [
                "A.first", "A.pipe", "A.pipe#0", "A.pipe#3", "A.pipe#finally", "A.second",
            ])
    }

    @Test func `what may be called is listed without closures`() throws {
        let house = try TestHouse()
        _ = try house.circuit(stages: [.stage(.closure)], finally: true)
        house.hub.declare(builtin: "Kernel.echo") { .success($0) }
        #expect(
            house.hub.callable == [
                "Circuit.other", "Circuit.pipe", "Circuit.work", "Compute.double",
                "Compute.other", "Kernel.echo", "Store.mail", "Store.save", "Store.set",
            ])
        #expect(house.hub.bindings.map(\.name).contains("Circuit.pipe"))
    }

    /// What the next build announces, and whether a flow inside the pipe may go on in it.
    static let rebuilt: [(stages: [StageDescriptor], last: Bool, goesOn: Bool)] = [
        ([.visit(.pipe, "Compute.double"), .stage(.closure)], false, true),
        ([.visit(.pipe, "Compute.other"), .stage(.closure)], false, false),
        ([.visit(.pipe, "Compute.double"), .stage(.closure), .stage(.closure)], false, false),
        ([.stage(.closure), .stage(.closure)], false, false),
        ([.visit(.pipe, "Compute.double"), .stage(.effect)], false, false),
        ([.visit(.pipe, "Compute.double"), .stage(.closure)], true, false),
        ([.visit(.pipe, "Compute.double")], false, false),
    ]

    @Test(arguments: 0..<rebuilt.count)
    func `a flow inside a pipe that a new build has changed ends by name`(_ index: Int) throws {
        let (stages, last, goesOn) = Self.rebuilt[index]
        let house = try TestHouse()
        let (compute, circuit, _) = try house.startAll(
            stages: [.visit(.pipe, "Compute.double"), .stage(.closure)])
        let call = house.client.call(TestHouse.pipe, "1")
        compute.answer(try compute.take("Compute.double"), "2")
        _ = try circuit.take("Circuit.pipe#1")
        circuit.die()
        let next = try house.circuit(stages: stages, finally: last)
        if goesOn {
            next.answer(try next.take("Circuit.pipe#1"), "3")
            #expect(call.end == "3")
        } else {
            #expect(call.error?.code == .unbound)
            #expect(call.error?.message.contains("Circuit.pipe#1: circuit now announces") == true)
            #expect(next.cable.visits.isEmpty)
        }
        #expect(house.hub.liveFlows == 0)
    }
}
