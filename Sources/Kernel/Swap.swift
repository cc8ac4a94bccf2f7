/// Two processes of one device while one takes the place of the other: a flow stays with the one
/// under which it began, so that it meets one build from its first stage to its last.
extension Hub {
    /// The process that takes the stages of a flow; nil while there is none.
    func home(of flow: Flow, _ device: DeviceSlot) -> Peer? {
        if let elder = device.elder, flow.root <= device.elderLast, flow.root > 0 { return elder }
        guard let peer = device.peer, !peer.away else { return nil }
        return peer
    }

    /// A new process serves: the old one finishes the flows that have begun.
    func retire(_ old: Peer, _ device: DeviceSlot) {
        forgetElder(device)
        device.elder = old
        device.elderLast = beginnings
        device.elderFlows = flows.count { $0.isRoot && $0.root > 0 }
        elders += 1
        if device.elderFlows == 0 { tellEmptied(device) }
    }

    /// Its process is dead: what is left of its flows goes to the one that serves.
    func forgetElder(_ device: DeviceSlot) {
        guard device.elder != nil else { return }
        device.elder = nil
        elders -= 1
    }

    func leaveElders(_ flow: Flow) {
        guard flow.isRoot, flow.root > 0 else { return }
        for device in devices.values where device.elder != nil && flow.root <= device.elderLast {
            device.elderFlows -= 1
            if device.elderFlows == 0 { tellEmptied(device) }
        }
    }

    private func tellEmptied(_ device: DeviceSlot) {
        guard let elder = device.elder else { return }
        observer?.elderEmptied(device: device.name, incarnation: elder.incarnation)
    }

    /// Seconds until the last deadline of a flow that runs now.
    package var longestDeadline: Double {
        let last = flows.lazy.filter { $0.running }.map { max($0.deadline, $0.limit) }.max()
        guard let last, last > seen else { return 0 }
        return Double(last - seen) / 1e9
    }
}

extension Flow {
    /// Nobody above has asked for it.
    var isRoot: Bool {
        switch origin {
        case .call, .command, .event: true
        case .operation, .branch: false
        }
    }
}
