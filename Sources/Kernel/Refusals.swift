internal import Control

/// Devices that do not come back by themselves: whoever wants something of one is told so at once.
extension Hub {
    /// A device does not come back by itself: who waits for it is told now, unless it has another
    /// seat that serves or is to serve.
    package func refuse(_ device: DeviceSlot, seat: Int = 0, _ status: String) {
        device.refusals[seat] = status
        guard device.refusals.count >= device.seats else { return recall(device) }
        // Of several, the word that asks for an operator says most.
        let status = device.refusals.values.contains("failed") ? "failed" : status
        device.refused = status
        device.cellsComing = 0
        for flow in device.waiting + device.apart where flow.waiting === device {
            if flow.waitsForEver {
                keep(waiting: flow)
                continue
            }
            leaveQueue(flow)
            if flow.last {
                lose(finallyOf: flow, "the device \(device.name) is \(status)")
            } else {
                finish(flow, .failure(unavailable(stageSymbol(flow) ?? flow.symbol, status)))
            }
        }
    }

    /// A stopped device is to start: requests wait for it again.
    package func expect(_ device: DeviceSlot, seat: Int = 0) {
        device.refusals[seat] = nil
        device.refused = nil
    }

    func unavailable(_ symbol: SymbolSlot, _ status: String) -> KernelError {
        KernelError(
            .unavailable,
            "\(symbol.name): the device \(symbol.device?.name ?? "") is \(status)"
                + (status == "failed" ? "; see `concentric errors`, then restart it" : ""),
            outcome: .none, retry: true)
    }
}
