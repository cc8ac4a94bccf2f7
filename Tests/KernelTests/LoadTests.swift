import Control
import Kernel
import Testing
import Values

/// What the hub counts for `Kernel.Load`.
@Suite struct LoadTests {
    @Test func `each delivery is a visit, and each after the first of a stage a replay`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        house.client.call("Compute.double")
        house.client.call("Compute.other")
        #expect(house.hub.load.visits == 2 && house.hub.load.replays == 0)
        compute.answer(try compute.take("Compute.double"), "4")
        _ = try compute.take("Compute.other")
        compute.die()
        #expect(house.hub.waitingVisits == 1, "the repeat waits for the next process")
        let next = try house.compute()
        #expect(house.hub.load.visits == 3 && house.hub.load.replays == 1)
        #expect(house.hub.waitingVisits == 0)
        next.answer(try next.take("Compute.other"), "x")
        house.client.call("Compute.double")
        #expect(house.hub.load.visits == 4 && house.hub.load.replays == 1)
    }

    @Test func `a cell counts from when it is wanted until it is gone`() throws {
        let house = try TestHouse()
        let compute = try house.compute()
        house.client.call("Compute.double")
        _ = try compute.take("Compute.double")
        compute.die(.cell)
        _ = try house.compute()
        #expect(house.hub.liveCells == 1 && house.hub.waitingVisits == 1)
        let cell = try house.compute(isCell: true)
        #expect(house.hub.liveCells == 1 && house.hub.waitingVisits == 0)
        cell.answer(try cell.take("Compute.double"), "4")
        cell.die()
        #expect(house.hub.liveCells == 0)
    }

    @Test func `a region is followed as long as somebody there wants it`() throws {
        final class Observer: HubObserver {
            var followed: [String] = []
            func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {}
            func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate { .free }
            func cellWanted(device: String) {}
            func cellEmptied(device: String, incarnation: Int) {}
            func elderEmptied(device: String, incarnation: Int) {}
            func followed(region: String) { followed.append(region) }
        }
        let house = try TestHouse()
        let observer = Observer()
        house.hub.observer = observer
        house.hub.declare(region: "Kernel.Load", initial: .null, owned: true)
        #expect(!house.hub.isFollowed("Kernel.Load"))
        try house.hub.follow(house.client.peer, region: "number")
        #expect(observer.followed == [], "only the kernel's own regions are made for who looks")
        try house.hub.follow(house.client.peer, region: "Kernel.Load")
        #expect(observer.followed == ["Kernel.Load"] && house.hub.isFollowed("Kernel.Load"))
        house.hub.gone(house.client.peer)
        #expect(!house.hub.isFollowed("Kernel.Load"))
    }
}
