internal import Control

/// The shapes of events. A device says what it publishes, another what it takes; if the one cannot
/// be read as the other, whoever of both says it last is refused, for every event would fail.
///
/// What counts is what serves, and what has announced itself and is about to: two devices start at
/// the same time, and neither is ready when the other says what it is.
extension Hub {
    /// - Throws: `KernelError` naming the channel, and who publishes and who takes what.
    func check(
        events: [String: String], _ announced: [Binding], _ device: DeviceSlot
    ) throws(KernelError) {
        for name in events.keys.sorted() {
            guard device.publishes.contains(name) else {
                throw KernelError(
                    .denied,
                    "\(device.name) publishes to \(name), which its manifest does not grant")
            }
            _ = try channel(name)
        }
        for name in channelNames {
            guard let channel = channels[name] else { continue }
            let own = events[name].map { [(device.name, $0)] } ?? []
            for follower in channel.followers {
                if let binding = announced.first(where: { $0.name == follower.symbol.name }) {
                    let others = channel.published.filter { $0.0 != device.name }
                    try compare(own + others, binding.takes, follower)
                } else {
                    for takes in follower.taken { try compare(own, takes, follower) }
                }
            }
        }
    }

    private func compare(
        _ shapes: [(String, String)], _ takes: String, _ follower: Follower
    ) throws(KernelError) {
        for (publisher, shape) in shapes where !Shape.reads(shape, as: takes) {
            throw KernelError(
                .composeTypeMismatch,
                "\(publisher) publishes \(shape) to \(follower.channel.name), and "
                    + "\(follower.symbol.name) follows it and takes \(takes): build both from one "
                    + "type of event", retry: true)
        }
    }

    /// A process has announced itself, and is not yet ready.
    func expect(events: [String: String], _ announced: [Binding], from peer: Peer) {
        guard let device = peer.device, !peer.isCell else { return }
        let number = ObjectIdentifier(peer)
        for channel in channels.values {
            channel.coming[device.name] = events[channel.name].map { (number, $0) }
            for follower in channel.followers where follower.symbol.device === device {
                let binding = announced.first { $0.name == follower.symbol.name }
                follower.coming = binding.map { (number, $0.takes) }
            }
        }
        peer.publishes = events
    }

    /// It serves.
    func adopt(events: [String: String], of peer: Peer) {
        guard let device = peer.device else { return }
        var isNew = false
        for channel in channels.values where channel.shapes[device.name] != events[channel.name] {
            channel.shapes[device.name] = events[channel.name]
            isNew = true
        }
        forget(eventsOf: peer)
        if isNew { showChannels() }
    }

    /// It has ended, ready or not.
    func forget(eventsOf peer: Peer) {
        guard let device = peer.device else { return }
        let number = ObjectIdentifier(peer)
        for channel in channels.values {
            if channel.coming[device.name]?.peer == number { channel.coming[device.name] = nil }
            for follower in channel.followers where follower.coming?.peer == number {
                follower.coming = nil
            }
        }
    }
}

extension ChannelSlot {
    /// Who publishes what, as far as it is known.
    fileprivate var published: [(String, String)] {
        (shapes.map { ($0.key, $0.value) } + coming.map { ($0.key, $0.value.shape) })
            .sorted { $0 < $1 }
    }
}

extension Follower {
    /// What it takes, and what it is about to take.
    fileprivate var taken: [String] {
        [symbol.takes] + (coming.map { [$0.takes] } ?? [])
    }
}
