import Control
import Values

@testable import Kernel

/// What the supervisor does about visits that were in the death of a process: it counts, and starts
/// a cell for each.
extension World: HubObserver {
    /// The visits of a process that ended of its own doing; all others are simply replayed.
    ///
    /// Now and then nobody knows which of them ran, and all that had begun are suspects.
    func judge(_ process: SimProcess) -> [UInt64: Hub.Verdict] {
        guard process.trapped > 0 else { return [:] }
        let begun = hub.open(process.peer, digests: true).filter { $0.number <= process.begun }
        let isKnown = Int.random(in: 0..<4, using: &chance) > 0
        let accused = begun.filter { !isKnown || $0.number == process.trapped }
        var verdicts: [UInt64: Hub.Verdict] = [:]
        for visit in accused {
            let key = key(visit.symbol, visit.digest)
            charges[key, default: 0] += accused.count == 1 ? 1 : 0
            verdicts[visit.number] = charges[key, default: 0] >= 3 ? .poisoned : .cell
        }
        hub.devices[process.kind.rawValue]?.charged = true
        note("judged \(verdicts)")
        return verdicts
    }

    private func key(_ symbol: String, _ digest: UInt64) -> String { "\(symbol) \(digest)" }

    func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {
        charges[key(symbol, digest)] = nil
    }

    func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate {
        guard let weight = charges[key(symbol, digest)] else { return .free }
        return weight >= 3 ? .poisoned : .cell
    }

    func cellWanted(device: String) {
        guard let kind = Kind(rawValue: device) else { return breach("a cell of nobody") }
        cellsWanted[kind, default: 0] += 1
    }

    func elderEmptied(device: String, incarnation: Int) {
        retired.insert(incarnation)
        processes.first { $0.number == incarnation }?.isDoomed = true
    }

    func cellEmptied(device: String, incarnation: Int) {
        emptied.insert(incarnation)
        processes.first { $0.number == incarnation }?.isDoomed = true
    }

    /// A process takes the place of one that serves.
    func swap() {
        let kinds = Kind.allCases.filter { kind in
            guard let old = up[kind], old.isAlive, !old.isDoomed else { return false }
            return hub.devices[kind.rawValue]?.elders.isEmpty == true
        }
        guard let kind = kinds.randomElement(using: &chance) else { return }
        note("SWAP \(kind)")
        spawn(kind)
        swaps += 1
    }

    func cellSteps() -> [(label: String, () -> Void)] {
        Kind.allCases.filter { cellsWanted[$0, default: 0] > 0 && up[$0] != nil }.map { kind in
            ("a cell of \(kind) starts", { [self] in startCell(kind) })
        }
    }

    /// Some die before they are ready; some of those would always do so.
    private func startCell(_ kind: Kind) {
        cellsWanted[kind, default: 0] -= 1
        guard let slot = hub.devices[kind.rawValue] else { return }
        if Int.random(in: 0..<6, using: &chance) == 0 {
            return hub.cellLost(slot, failed: Bool.random(using: &chance))
        }
        born += 1
        cells += 1
        do {
            let cell = try SimProcess(self, kind, number: born, isCell: true)
            cell.isDoomed = emptied.contains(born)
            processes.append(cell)
        } catch {
            breach("a cell of \(kind) was refused: \(error)")
        }
    }

    func checkCells() {
        for process in processes where process.isAlive && !process.isDoomed && !process.isCell {
            if up[process.kind] !== process { breach("the old \(process.kind) of a swap is left") }
        }
        for cell in processes where cell.isCell {
            if cell.orders > 1 { breach("a cell got a second visit") }
            if cell.isAlive && !cell.isDoomed { breach("a cell is left") }
        }
        for device in hub.devices.values {
            if device.cellsBusy != 0 { breach("\(device.name) has \(device.cellsBusy) busy cells") }
            if !device.apart.isEmpty { breach("\(device.name) still has visits apart") }
        }
    }
}
