// What the hub asks of the house: the answers are the supervisor's.

import Kernel
import Supervisor
import UnixSocket

extension House: @LoopActor HubObserver {
    func returned(device: String, incarnation: Int, symbol: String, digest: UInt64) {
        supervisor.returned(
            device, incarnation: incarnation, VisitKey(symbol: symbol, digest: digest))
        slot(of: device)?.charged = supervisor.watchesReturns(device)
    }

    func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate {
        switch supervisor.verdict(device, VisitKey(symbol: symbol, digest: digest)) {
        case .free: .free
        case .cell: .cell
        case .poisoned: .poisoned
        }
    }

    func followed(region: String) {
        if region == LoadRegion.name { loadRegion.followed() }
    }

    // The hub is in the middle of an event: the supervisor, which answers with others, is told
    // after it.

    func cellWanted(device: String) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in supervisor.cell(device) }
    }

    func elderEmptied(device: String, incarnation: Int) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in
            supervisor.drained(device, incarnation: incarnation)
        }
    }

    func outdated(device: String, incarnation: Int) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in
            supervisor.outdated(device, incarnation: incarnation)
        }
    }

    func cellEmptied(device: String, incarnation: Int) {
        EventLoop.shared.schedule(at: 0) { [unowned self] in
            supervisor.emptied(device, incarnation: incarnation)
        }
    }
}
