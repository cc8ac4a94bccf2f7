import Control
import Testing
import Values

@testable import Kernel

/// What the trace keeps of flows and visits, and how it is bounded.
@Suite struct TraceTests {
    /// An entry in one line: what ran, where, and how it ended.
    private func line(_ entry: Value) -> String {
        var words = [entry["symbol"]?.text ?? "", entry["verb"]?.text ?? ""]
        if let code = entry["code"]?.text { words.append(code) }
        if let target = entry["target"]?.text { words.append(target) }
        if entry["kind"] == "visit" {
            words.append("\(entry["device"]?.text ?? "")#\(entry["incarnation"]?.int ?? -1)")
            words.append("step \(entry["step"]?.int ?? -1)")
            if let attempt = entry["attempt"]?.int, attempt > 1 { words.append("try \(attempt)") }
            if entry["cell"] == true { words.append("cell") }
        } else {
            words.append(entry["origin"]?.text ?? "")
            if let branch = entry["branch"]?.int { words.append("\(branch)") }
            if let under = entry["under"]?.int { words.append("under \(under)") }
        }
        return words.joined(separator: " ")
    }

    private func entries(_ house: TestHouse, after: UInt64? = 0) -> [Value] {
        house.hub.readTrace(after: after, running: false, notation: nil)["entries"]?.array ?? []
    }

    private func lines(_ house: TestHouse) -> [String] { entries(house).map(line) }

    private func traced(_ limits: HubLimits = HubLimits()) throws -> TestHouse {
        let house = try TestHouse(limits)
        house.hub.capture(on: true, payloads: false)
        return house
    }

    // MARK: - What runs

    @Test func `a call is a flow and a visit, with their times`() throws {
        let house = try traced()
        let compute = try house.compute()
        house.pass(1)
        let call = house.client.call("Compute.double", "12")
        house.pass(0.25)
        compute.answer(try compute.take("Compute.double"), "24")
        #expect(call.end == "24")
        #expect(
            lines(house) == [
                "Compute.double next compute#1 step 0", "Compute.double ok call",
            ])
        let all = entries(house)
        for entry in all {
            #expect(entry["duration"]?.int == 250_000)
            #expect(entry["begin"]?.int == 2_000_000)
            #expect(entry["at"]?.date == 2_000)
            #expect(entry["flow"]?.text == "7-1")
            #expect(entry["root"]?.text == "7-1")
            #expect(entry["payload"] == nil)
        }
        #expect(all.map { $0["number"]?.int } == [1, 2])
        #expect(all[0]["bytes"]?.int == 2)
        #expect(all[1]["client"]?.text == "test")
        #expect(all[1]["parent"]?.isNull == true)
    }

    @Test func `with tracing off nothing is kept`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        _ = house.client.call("Compute.double")
        compute.answer(try compute.take("Compute.double"), "2")
        #expect(entries(house) == [])
    }

    @Test func `the stages of a pipe are visits of one flow, and what they ask flows below`()
        throws
    {
        let house = try traced()
        let (compute, circuit, store) = try house.startAll(
            stages: [.stage(.closure), .visit(.pipe, "Compute.double"), .visit(.tap, "Store.set")],
            finally: true)
        let call = house.client.call(TestHouse.pipe, "1")
        let closure = try circuit.take("Circuit.pipe#0")
        try circuit.call(closure, 1, "Compute.other", "x")
        compute.answer(try compute.take("Compute.other"), "y")
        circuit.answer(closure, "2")
        compute.answer(try compute.take("Compute.double"), "4")
        store.answer(
            try store.take("Store.set"),
            .fail(KernelError(KernelError.Code(rawValue: "full"), "no room")))
        circuit.answer(try circuit.take("Circuit.pipe#finally"), "")
        #expect(call.end == "! full unknown")
        #expect(
            lines(house) == [
                "Compute.other next compute#1 step 0", "Compute.other ok operation under 0",
                "Circuit.pipe#0 next circuit#2 step 0", "Compute.double next compute#1 step 1",
                "Store.set fail full store#3 step 2", "Circuit.pipe#finally next circuit#2 step 3",
                "Circuit.pipe fail full call",
            ])
        let all = entries(house)
        #expect(Set(all.map { $0["root"]?.text }) == ["7-1"])
        #expect(all[1]["parent"]?.text == "7-1")
        #expect(all.last?["outcome"]?.text == "unknown")
        #expect(all.last?["message"]?.text == "no room")
    }

    @Test func `the branches of a fork are flows below its step`() throws {
        let house = try traced()
        let (compute, _, store) = try house.startAll(
            stages: [
                .visit(.pipe, "Compute.double"),
                ForkTests.fork([["Compute.other"], ["Store.set"]]),
            ])
        _ = house.client.call(TestHouse.pipe, "1")
        compute.answer(try compute.take("Compute.double"), "2")
        let other = try compute.take("Compute.other")
        store.answer(
            try store.take("Store.set"),
            .fail(KernelError(KernelError.Code(rawValue: "bad"), "")))
        compute.answer(other, .fail(KernelError(.cancelled, "")))
        #expect(
            lines(house) == [
                "Compute.double next compute#1 step 0", "Store.set fail bad store#3 step 0",
                "Circuit.pipe fail bad branch 1 under 1",
                "Compute.other cancelled cancelled compute#1 step 0",
                "Circuit.pipe fail cancelled branch 0 under 1", "Circuit.pipe fail bad call",
            ])
    }

    @Test func `a divert and an abort are told, with where they go`() throws {
        let house = try traced()
        let (compute, circuit, _) = try house.startAll(stages: [.stage(.closure)])
        _ = house.client.call(TestHouse.pipe, "1")
        circuit.answer(
            try circuit.take("Circuit.pipe#0"),
            .divert("Compute.double", Array("2".utf8), shape: ""))
        compute.answer(try compute.take("Compute.double"), "4")
        _ = house.client.call(TestHouse.pipe, "1")
        circuit.answer(try circuit.take("Circuit.pipe#0"), .abort(Array("2".utf8), shape: ""))
        #expect(
            lines(house) == [
                "Circuit.pipe#0 divert Compute.double circuit#2 step 0",
                "Compute.double next compute#1 step 1", "Circuit.pipe ok call",
                "Circuit.pipe#0 abort circuit#2 step 0", "Circuit.pipe ok call",
            ])
    }

    // MARK: - Deaths

    @Test func `a replay is a second attempt on another incarnation`() throws {
        let house = try traced()
        let first = try house.compute()
        let call = house.client.call("Compute.double")
        _ = try first.take("Compute.double")
        first.die()
        let second = try house.compute()
        second.answer(try second.take("Compute.double"), "2")
        #expect(call.end == "2")
        #expect(
            lines(house) == [
                "Compute.double lost compute#1 step 0",
                "Compute.double next compute#2 step 0 try 2", "Compute.double ok call",
            ])
    }

    @Test func `a flow that does not survive a death says why`() throws {
        let house = try traced()
        let store = try house.store()
        _ = house.client.call("Store.mail")
        _ = try store.take("Store.mail")
        store.die()
        #expect(
            lines(house) == [
                "Store.mail lost store#1 step 0", "Store.mail fail deviceLost call",
            ])
    }

    @Test func `a visit in a cell says so`() throws {
        let house = try traced()
        let suspects = Suspects()
        house.hub.observer = suspects
        let old = try house.compute()
        _ = house.client.call("Compute.double")
        _ = try old.take("Compute.double")
        old.die(.cell)
        _ = try house.compute()
        let cell = try house.compute(isCell: true)
        cell.answer(try cell.take("Compute.double"), "2")
        #expect(
            lines(house) == [
                "Compute.double lost compute#1 step 0",
                "Compute.double next compute#3 step 0 try 2 cell", "Compute.double ok call",
            ])
    }

    @Test func `a visit that never settles is forgotten, and told as cancelled`() throws {
        let house = try traced()
        let compute = try house.compute()
        _ = house.client.call("Compute.double", deadline: 1_000)
        let visit = try compute.take("Compute.double")
        house.pass(10)
        #expect(
            lines(house) == [
                "Compute.double cancelled compute#1 step 0", "Compute.double fail deadline call",
            ])
        compute.answer(visit, "late")
        #expect(lines(house).count == 2, "an answer that counts for nothing is no end")
    }

    @Test func `a command is a root of its own, and its time in the lane is not its time`() throws {
        let house = try traced()
        let store = try house.store()
        house.client.dispatch("Store.set", "a")
        house.client.dispatch("Store.set", "b")
        house.pass(1)
        store.answer(try store.take("Store.set"), "")
        house.pass(0.5)
        store.answer(try store.take("Store.set"), "")
        let flows = entries(house).filter { $0["kind"] == "flow" }
        #expect(flows.map(line) == ["Store.set ok dispatch", "Store.set ok dispatch"])
        #expect(flows.map { $0["duration"]?.int } == [1_000_000, 500_000])
        #expect(flows.map { $0["root"]?.text } == ["7-1", "7-2"])
    }

    // MARK: - Bounds

    private func fill(_ house: TestHouse, _ count: Int, payload: String = "1") throws {
        let compute = try house.compute()
        for _ in 0..<count {
            _ = house.client.call("Compute.double", payload)
            compute.answer(try compute.take("Compute.double"), "2")
        }
    }

    @Test func `what is kept is bounded, and a gap is told`() throws {
        var limits = HubLimits()
        limits.traceEntries = 10
        limits.tracePage = 4
        let house = try traced(limits)
        try fill(house, 50)
        var page = house.hub.readTrace(after: 3, running: false, notation: nil)
        #expect(page["lost"]?.int == 87)
        #expect(page["last"]?.int == 100)
        var numbers: [Int64] = []
        while true {
            let entries = page["entries"]?.array ?? []
            #expect(entries.count <= 4)
            numbers += entries.compactMap { $0["number"]?.int }
            guard let next = page["next"]?.int, next < 100 else { break }
            page = house.hub.readTrace(
                after: UInt64(next), running: false, notation: nil)
            #expect(page["lost"]?.int == 0)
        }
        #expect(numbers == Array(91...100))
        let none = house.hub.readTrace(after: 100, running: false, notation: nil)
        #expect(none["entries"] == [])
        #expect(none["lost"]?.int == 0)
        let fromNow = house.hub.readTrace(after: nil, running: false, notation: nil)
        #expect(fromNow["entries"] == [])
        #expect(fromNow["next"]?.int == 100)
    }

    @Test func `the bytes of what is kept are bounded, and so is each payload`() throws {
        var limits = HubLimits()
        limits.tracePayload = 100
        limits.traceBytes = 4_096
        let house = try TestHouse(limits)
        house.hub.capture(on: true, payloads: true)
        try fill(house, 100, payload: String(repeating: "x", count: 5_000))
        let kept = entries(house)
        #expect(kept.count >= 8)
        #expect(kept.count <= 16)
        let payloads = kept.compactMap { $0["payload"]?.bytes }
        #expect(!payloads.isEmpty)
        #expect(payloads.allSatisfy { $0.count == 100 })
        #expect(kept.compactMap { $0["bytes"]?.int }.allSatisfy { $0 == 5_000 })
    }

    @Test func `a reader keeps the trace on for a time, and capture until it is off`() throws {
        let house = try TestHouse()
        house.hub.holdTrace(10_000_000_000, payloads: true)
        #expect(house.hub.isTracing)
        house.pass(9)
        house.hub.holdTrace(10_000_000_000, payloads: false)
        house.pass(9)
        #expect(house.hub.isTracing)
        house.pass(1)
        #expect(!house.hub.isTracing)
        try fill(house, 1)
        #expect(entries(house) == [])
        house.hub.capture(on: true, payloads: false)
        house.hub.holdTrace(10_000_000_000, payloads: false)
        house.pass(1_000)
        #expect(house.hub.isTracing, "a hold never shortens what was asked for")
        house.hub.capture(on: false, payloads: false)
        #expect(!house.hub.isTracing)
        house.hub.holdTrace(.max, payloads: false)
        house.pass(601)
        #expect(!house.hub.isTracing, "a hold has an end")
    }

    @Test func `what the trace has let go of is in memory no more`() throws {
        var limits = HubLimits()
        limits.traceBytes = 64 << 10
        let house = try traced(limits)
        house.hub.capture(on: true, payloads: true)
        let compute = try house.compute()
        let payload = String(repeating: "x", count: limits.tracePayload)
        var most = (places: 0, bytes: 0)
        for _ in 0..<2_000 {
            house.client.call("Compute.double", payload)
            compute.answer(try compute.take("Compute.double"), "2")
            most.places = max(most.places, house.hub.trace.inMemory.places)
            most.bytes = max(most.bytes, house.hub.trace.inMemory.bytes)
        }
        // An entry without a payload has 256 bytes of its own, which are not among these.
        #expect(most.bytes <= limits.traceBytes * 5 / 8)
        #expect(most.places <= limits.traceBytes / 256 + 128)
        #expect(entries(house).count > 50)
    }

    @Test func `what runs is told to whoever asks`() throws {
        let house = try traced()
        let compute = try house.compute()
        _ = house.client.call("Compute.double")
        _ = house.client.call("Compute.other")
        house.pass(0.5)
        compute.answer(try compute.take("Compute.double"), "2")
        let page = house.hub.readTrace(after: 0, running: true, notation: nil)
        let running = page["running"]?.array ?? []
        #expect(
            running.map(line) == [
                "Compute.other running call", "Compute.other running compute#1 step 0",
            ])
        #expect(running.allSatisfy { $0["duration"]?.int == 500_000 && $0["number"] == nil })
    }
}

/// Finds nothing suspicious, and starts no cell by itself.
private final class Suspects: HubObserver {
    func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {}
    func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate { .free }
    func cellWanted(device: String) {}
    func elderEmptied(device: String, incarnation: Int) {}
    func cellEmptied(device: String, incarnation: Int) {}
}
