import Control
import Glibc
import Testing
import Values

@testable import Kernel

/// What a repeat reads.
@Suite struct ReadTests {
    private let house: TestHouse
    private let slot: DeviceSlot

    init() throws {
        house = try TestHouse()
        slot = try house.hub.declare(
            DeviceDeclaration(
                name: "writer", pure: true, provides: ["Writer.write", "Writer.read"], calls: nil,
                reads: [], writes: ["number", "big"]))
    }

    private func start() throws -> TestProcess {
        try TestProcess(
            house, slot, bindings: [.handler("Writer.write"), .handler("Writer.read")])
    }

    /// Others change `number` so often, in visits of 100 commits each.
    private func change(_ times: Int, _ writer: TestProcess) throws {
        for _ in 0..<(times / 100) {
            house.client.call("Writer.write", "")
            let visit = try writer.take("Writer.write")
            for tag in 1...100 {
                let base = house.hub.counter
                writer.commit(visit, UInt64(tag), base: base, to: Int64(base) + 1)
            }
            writer.answer(visit, "")
        }
    }

    @Test func `a repeat reads what was read 2,000 commits ago`() throws {
        let writer = try start()
        let reader = try house.circuit()
        let call = house.client.call("Circuit.work")
        let visit = try reader.take("Circuit.work")
        house.hub.note(reader.peer, visit: visit.number, region: "number", number: 0, revision: 0)
        try change(2_000, writer)
        #expect(house.hub.regions["number"]?.oldest ?? 0 > 900, "the history has let go of it")
        reader.die()
        let repeated = try house.circuit()
        let second = try repeated.take("Circuit.work")
        #expect(second.reads.map(\.value) == [.int(0)])
        #expect(second.reads.map(\.revision) == [0])
        repeated.answer(second, "out")
        #expect(call.end == "out")
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `a read that is told 2,000 commits late is repeated as well`() throws {
        let writer = try start()
        try change(100, writer)
        let reader = try house.circuit()
        let call = house.client.call("Circuit.work")
        let visit = try reader.take("Circuit.work")
        try change(2_000, writer)
        for (n, revision) in [(0, 100), (1, 700), (2, 2_050)] {
            house.hub.note(
                reader.peer, visit: visit.number, region: "number", number: UInt32(n),
                revision: UInt64(revision))
        }
        reader.die()
        let repeated = try house.circuit()
        let second = try repeated.take("Circuit.work")
        #expect(second.reads.map(\.value) == [.int(100), .int(700), .int(2_050)])
        repeated.answer(second, "out")
        #expect(call.end == "out")
        #expect(house.hub.flowBytes == 0)
    }

    /// The processor's seconds of this thread, which others that run beside do not lengthen.
    private static func seconds(of work: () -> Void) -> Double {
        func spent() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let before = spent()
        work()
        return spent() - before
    }

    @Test func `1,000 reads of a large region cost no more than one value`() throws {
        house.hub.declare(
            region: "big", initial: .array(Array(repeating: .text("four"), count: 100_000)))
        let writer = try start()
        let call = house.client.call("Writer.read", "")
        let visit = try writer.take("Writer.read")
        let once = Self.seconds { _ = house.hub.regions["big"]?.value.encodedSize }
        let all = Self.seconds {
            for n in 0..<1_000 {
                house.hub.note(
                    writer.peer, visit: visit.number, region: "big", number: UInt32(n), revision: 0)
            }
        }
        let record = try #require(house.hub.first?.record)
        #expect(record.reads.count == 1_000)
        #expect(record.pins.count == 1)
        #expect(record.readBytes >= 1_000 * 500_000, "each is sent")
        #expect(all < once * 200, "\(all) s for all, \(once) s to count one value")
        writer.die()
        _ = try start()
        #expect(call.end == "! tooLarge none")
        #expect(house.hub.flowBytes == 0)
    }

    @Test func `reads that a repeat can just be given are sent again`() throws {
        var limits = HubLimits()
        limits.repeatBytes = 2_000
        for (count, fits) in [(10, true), (27, true), (28, false)] {
            let house = try TestHouse(limits)
            let old = try house.circuit()
            let call = house.client.call("Circuit.work", "x")
            let visit = try old.take("Circuit.work")
            for n in 0..<count {
                house.hub.note(
                    old.peer, visit: visit.number, region: "letter", number: UInt32(n), revision: 0)
            }
            old.die()
            let new = try house.circuit()
            #expect(new.cable.visits.first?.reads.count == (fits ? count : nil), "\(count)")
            #expect(call.end == (fits ? nil : "! tooLarge unknown"))
        }
    }
}
