// What the supervisor tells the house: processes that start and end, and what is shown of them.

import Control
import Driver
import Glibc
import Installation
import Kernel
import Supervisor
import UnixSocket

extension House: SupervisorDelegate {
    func launched(
        _ device: String, incarnation: Int, isCell: Bool, pid: Int32, program: UInt64,
        cable: consuming OwnedDescriptor
    ) {
        guard let slot = slot(of: device) else { return }
        if !isCell {
            hub.expect(slot, seat: SeatName.number(of: device))
            reports[device]?.launched(incarnation, at: Clock.monotonic)
        }
        let driver = CableDriver(
            hub: hub, device: slot, incarnation: incarnation, isCell: isCell,
            seat: SeatName.number(of: device), program: program, pid: getpid())
        cables[device, default: []].append(
            Plug(cable, driver: driver, device: device, incarnation: incarnation, house: self))
    }

    func cellLost(_ device: String, failed: Bool) {
        guard let slot = slot(of: device) else { return }
        turn()
        hub.cellLost(slot, failed: failed)
        arm()
    }

    func readDry(_ device: String, incarnation: Int) {
        dying = (device, incarnation)
        cable(of: device, incarnation)?.readDry()
    }

    func open(_ device: String, incarnation: Int) -> ProcessLoad {
        guard let plug = cable(of: device, incarnation), let peer = plug.driver.peer else {
            return ProcessLoad()
        }
        turn()
        let now = Double(EventLoop.shared.now) / 1e9
        func moment(_ seen: UInt64) -> Double {
            now - Double(hub.seen - min(hub.seen, seen)) / 1e9
        }
        let isDying = dying?.device == device && dying?.incarnation == incarnation
        // Only a death is charged to payloads; a tick would read all of them every second.
        let open = hub.open(peer, digests: isDying).map {
            OpenVisit(
                id: $0.number, symbol: $0.symbol, digest: $0.digest, limit: $0.limit,
                replayable: $0.replayable, deliveredAt: moment($0.since), cancelled: $0.cancelled)
        }
        return ProcessLoad(
            open: open, lastHeard: Double(plug.lastHeard) / 1e9,
            lastReply: moment(peer.lastReply), highest: peer.deliveries)
    }

    func died(
        _ device: String, incarnation: Int, begun: UInt64, running: UInt64,
        verdicts: [(visit: UInt64, verdict: VisitVerdict)], death: Death
    ) {
        dying = nil
        guard let plug = cable(of: device, incarnation) else { return }
        reports[device]?.died(
            incarnation, at: Clock.monotonic, hasGreeted: plug.driver.peer != nil)
        cables[device]?.removeAll { $0 === plug }
        plug.close()
        turn()
        slot(of: device)?.charged = supervisor.watchesReturns(device)
        if let peer = plug.driver.peer {
            let settled = Dictionary(verdicts.map { ($0.visit, $0.verdict) }) { $1 }
            hub.lost(peer, begun: begun, reason: death.description) { number in
                switch settled[number] {
                case .lost: .lost
                case .poisoned: .poisoned
                case .cell: .cell
                case .replay, nil: .replay
                }
            }
        }
        plug.driver.release()
        arm()
    }

    func drain(_ device: String, incarnation: Int) {
        cable(of: device, incarnation)?.driver.drain()
    }

    func ping(_ device: String, incarnation: Int) {
        cable(of: device, incarnation)?.driver.ping()
    }

    func cancel(_ device: String, incarnation: Int, visit: UInt64) {
        guard let peer = cable(of: device, incarnation)?.driver.peer else { return }
        turn()
        hub.attemptOver(peer, visit: visit)
        arm()
    }

    func refuse(_ device: String, _ state: DeviceState) {
        guard let slot = slot(of: device) else { return }
        turn()
        hub.refuse(slot, seat: SeatName.number(of: device), state.rawValue)
        arm()
    }

    func swapFailed(_ device: String, reason: String, servesOn: Bool) {
        complain("\(device): the swap failed: \(reason)")
        turn()
        let rest =
            servesOn ? "the old process serves on" : "the old process is gone, too, meanwhile"
        hub.report(
            device,
            KernelError(.unavailable, "the swap of \(device) failed (\(reason)): \(rest)"),
            flow: nil)
    }

    func changed(_ status: DeviceStatus) {
        turn()
        let before = statuses.updateValue(status, forKey: status.name)
        if status.state == .failed, before?.state != .failed {
            hub.report(
                status.name,
                KernelError(
                    .unavailable,
                    "the device is failed (\(why(status))): `concentric restart \(status.name)`"),
                flow: nil)
        }
        show()
        announce(status)
    }

    func exited() {
        listener?.close()
        part(until: EventLoop.shared.now + HouseLimits.parting)
    }

    /// What was answered last still leaves; who does not read is not waited for.
    private func part(until deadline: UInt64) {
        let waiting = clients.values.filter { !$0.flush() }
        guard !waiting.isEmpty, EventLoop.shared.now < deadline else {
            door.close()
            exit(stopping.code)
        }
        EventLoop.shared.schedule(at: EventLoop.shared.now + HouseLimits.partingLook) {
            [unowned self] in part(until: deadline)
        }
    }

    func log(_ device: String, _ stream: LogStream, _ line: String) {
        // It is in the device's log; here it is only for whoever looks on.
        guard !options.isDetached else { return }
        // A device that fails in the same way again and again is told of once.
        if stream == .kernel, reports[device]?.isNew(line) == false { return }
        sayOnError("\(device): \(line)")
    }

    /// It cannot be in the device's log, so it is in that of the kernel.
    func logFailed(_ device: String, _ reason: String) {
        complain("\(device): \(reason)")
    }
}
