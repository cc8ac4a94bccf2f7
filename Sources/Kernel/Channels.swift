package import Control

/// One event as its channel keeps it.
package struct ChannelEvent: Sendable {
    /// Counts the events of the channel, from 1.
    package let sequence: UInt64
    /// Milliseconds since 1970.
    package let at: Int64
    /// The flow that published it; nil for who has none: a client, or a device by itself.
    package let flow: UInt64?
    /// The symbol whose code did.
    package let symbol: String?
    package let payload: [UInt8]
    /// The publisher's own key, under which a repeat is recognised.
    let key: String?

    var weight: Int { payload.count + (key?.utf8.count ?? 0) }
}

/// A log of events in which none is skipped in silence.
///
/// There is one log and no queue: whoever follows is a cursor into it. The log is bounded by the
/// number and the bytes of its events; a cursor that falls behind its oldest event is told which
/// events it has missed.
package final class ChannelSlot {
    package let name: String
    /// The most events, and the most of their bytes, that it keeps.
    let mostEvents: Int
    let mostBytes: Int
    /// An event stands at its number modulo the size.
    private var ring: [ChannelEvent?] = Array(repeating: nil, count: 16)
    private var bytes = 0
    /// The number of the oldest event that is kept, or that of the next if none is.
    package private(set) var first: UInt64 = 1
    /// The number of the newest event; 0 before it.
    package private(set) var last: UInt64 = 0
    private var keys: [String: UInt64] = [:]
    var followers: [Follower] = []
    /// What its events are, as far as the devices that publish them say it.
    var shapes: [String: String] = [:]
    /// What processes have announced that are not ready yet.
    var coming: [String: (peer: ObjectIdentifier, shape: String)] = [:]
    /// Clients that have read all there is and wait for more.
    var readers: [ChannelReader] = []

    init(name: String, events: Int, bytes: Int) {
        self.name = name
        mostEvents = events
        mostBytes = bytes
    }

    /// An event that is kept.
    package subscript(sequence: UInt64) -> ChannelEvent? {
        guard sequence >= first, sequence <= last else { return nil }
        return ring[place(of: sequence)]
    }

    private func place(of sequence: UInt64) -> Int { Int(sequence & UInt64(ring.count - 1)) }

    /// The event that was published under a key, as long as it is kept.
    func sequence(of key: String) -> UInt64? { keys[key] }

    /// Puts an event at the end; the oldest make room for it.
    func append(_ event: ChannelEvent) {
        while last >= first, full(with: event.weight) { dropFirst() }
        let count = Int(last + 1 - first)
        if count == ring.count { grow() }
        last = event.sequence
        ring[place(of: last)] = event
        bytes += event.weight
        if let key = event.key { keys[key] = last }
    }

    private func full(with weight: Int) -> Bool {
        Int(last + 1 - first) >= mostEvents || bytes + weight > mostBytes
    }

    private func dropFirst() {
        if let event = ring[place(of: first)] {
            bytes -= event.weight
            if let key = event.key { keys[key] = nil }
        }
        ring[place(of: first)] = nil
        first += 1
    }

    private func grow() {
        let events = ring.compactMap { $0 }
        ring = Array(repeating: nil, count: ring.count * 2)
        for event in events { ring[place(of: event.sequence)] = event }
    }

    /// What is kept, for people and tests.
    package var kept: (events: Int, bytes: Int) { (Int(last + 1 - first), bytes) }
}

/// Declaring channels, and publishing.
extension Hub {
    /// Makes a channel.
    ///
    /// - Parameters:
    ///   - events: how many it keeps at most; nil: as many as any may.
    ///   - bytes: how many bytes of them.
    /// - Throws: `KernelError` when there is one of that name, or it keeps too much.
    package func declare(
        channel name: String, events: Int? = nil, bytes: Int? = nil
    ) throws(KernelError) {
        guard !name.hasPrefix("Kernel.") else {
            throw KernelError(.denied, "the channel \(name): Kernel.* belongs to the kernel")
        }
        guard channels[name] == nil else {
            throw KernelError(.denied, "the channel \(name) is declared twice")
        }
        let events = events ?? limits.channelEvents
        let bytes = bytes ?? limits.channelBytes
        guard (1...limits.channelEvents).contains(events),
            (1...limits.channelBytes).contains(bytes)
        else {
            throw KernelError(
                .denied,
                "the channel \(name) keeps 1 to \(limits.channelEvents) events and 1 to "
                    + "\(limits.channelBytes) bytes")
        }
        channels[name] = ChannelSlot(name: name, events: events, bytes: bytes)
    }

    /// The channels that exist.
    package var channelNames: [String] { channels.keys.sorted() }

    /// The channel of a name.
    /// - Throws: `KernelError` that says which there are.
    package func channel(_ name: String) throws(KernelError) -> ChannelSlot {
        if let slot = channels[name] { return slot }
        let names = channels.isEmpty ? "none" : channelNames.joined(separator: ", ")
        throw KernelError(
            .unbound, "no manifest declares the channel \(name); there are \(names)",
            outcome: .none)
    }

    /// The channel, if this peer may publish an event of that size there.
    private func channel(
        _ name: String, for peer: Peer, _ payload: [UInt8]
    ) throws(KernelError) -> ChannelSlot {
        let slot = try channel(name)
        if let device = peer.device, !device.publishes.contains(name) {
            throw KernelError(
                .denied, "the manifest of \(device.name) does not grant publishing to \(name)",
                outcome: .none)
        }
        let most = min(limits.eventBytes, slot.mostBytes)
        guard payload.count <= most else {
            throw KernelError(
                .tooLarge,
                "an event of \(payload.count) bytes for \(name), which takes at most \(most)",
                outcome: .none)
        }
        return slot
    }

    /// A visit publishes.
    package func askPublish(
        _ peer: Peer, visit number: UInt64, tag: UInt64, channel name: String, _ payload: [UInt8]
    ) {
        do throws(KernelError) {
            let slot = try channel(name, for: peer, payload)
            ask(peer, visit: number, tag: tag, .publish(slot, payload))
        } catch {
            askUnknown(peer, visit: number, tag: tag, name, error)
        }
    }

    /// A client publishes, or a device outside of any visit.
    ///
    /// - Parameter key: the publisher's own: a repeat is the same event while the channel keeps it.
    package func publish(
        _ peer: Peer, _ id: UInt64, channel name: String, _ payload: [UInt8], key: String? = nil
    ) {
        do throws(KernelError) {
            if let refusal = previewing(peer, name) { throw refusal }
            let slot = try channel(name, for: peer, payload)
            if let refusal = tooLong(key, for: name) { throw refusal }
            // A key of the publisher's own stands for one payload: with another it is another.
            let key = key.map { "\($0)/\(StrongDigest.text(payload))" }
            if let known = key.flatMap(slot.sequence) {
                return peer.cable.channel(call: id, .published(known))
            }
            let sequence = append(to: slot, payload, flow: nil, symbol: nil, key: key)
            peer.cable.channel(call: id, .published(sequence))
            wake(slot)
        } catch {
            peer.cable.reply(call: id, .failure(error))
        }
    }

    func perform(
        _ flow: Flow, _ entry: Entry, publish payload: [UInt8], to slot: ChannelSlot
    ) {
        let sequence = append(
            to: slot, payload, flow: flow.number, symbol: flow.visit?.symbol.name, key: nil)
        flow.dirty = true
        answer(flow, entry, .published(sequence))
        wake(slot)
    }

    private func append(
        to slot: ChannelSlot, _ payload: [UInt8], flow: UInt64?, symbol: String?, key: String?
    ) -> UInt64 {
        let event = ChannelEvent(
            sequence: slot.last + 1, at: wall, flow: flow, symbol: symbol, payload: payload,
            key: key)
        slot.append(event)
        return event.sequence
    }

    private func wake(_ slot: ChannelSlot) {
        for follower in slot.followers { advance(follower) }
        serve(slot)
    }
}
