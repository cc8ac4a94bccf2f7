package import Control
internal import Values

/// A symbol that follows a channel: each event is a flow of it, one at a time and in order.
///
/// It lives as long as the hub, whatever becomes of its device: nothing is lost between two
/// processes, nor before the first.
final class Follower {
    unowned let channel: ChannelSlot
    let symbol: SymbolSlot
    /// The next event that it handles.
    var next: UInt64 = 1
    /// What a process has announced to take that is not ready yet.
    var coming: (peer: ObjectIdentifier, takes: String)?
    /// The event that it handles now.
    var flow: Flow?
    /// An event is being begun: one that ends at once must not begin the next within itself.
    var isAdvancing = false

    init(_ channel: ChannelSlot, _ symbol: SymbolSlot) {
        self.channel = channel
        self.symbol = symbol
    }
}

/// Devices that follow channels.
///
/// An event is handled when its flow has ended, however it has: a failure is told in
/// `Kernel.Errors`, and the next event begins. While the device is away the flow waits, and its
/// deadline stands. What bounds that wait is the retention of the log: events that it has let go of
/// meanwhile are a gap, which is told too.
extension Hub {
    /// Lets a symbol follow a channel from its first event on.
    ///
    /// - Throws: `KernelError` when either does not exist, or it follows already.
    package func attach(_ name: String, to channel: String) throws(KernelError) {
        let slot = try self.channel(channel)
        guard let symbol = symbol(name), symbol.device != nil else {
            throw KernelError(
                .unbound, "\(name) follows \(channel), but no device provides \(name)")
        }
        guard !slot.followers.contains(where: { $0.symbol === symbol }) else {
            throw KernelError(.denied, "\(name) follows \(channel) already")
        }
        slot.followers.append(Follower(slot, symbol))
    }

    /// Begins the next event, if there is one and the one before has ended.
    func advance(_ follower: Follower) {
        guard !follower.isAdvancing else { return }
        follower.isAdvancing = true
        defer { follower.isAdvancing = false }
        let channel = follower.channel
        while follower.flow == nil, follower.next <= channel.last {
            if follower.next < channel.first { skip(follower, to: channel.first) }
            guard let event = channel[follower.next] else { return }
            follower.next += 1
            let flow = start(
                .event(follower, event.sequence), follower.symbol, event.payload,
                path: "\(epoch)-\(numbers + 1)/\(channel.name):\(event.sequence)", bound: .max)
            follower.flow = flow
            begin(flow)
        }
    }

    /// The log no longer has what the follower is to handle next.
    private func skip(_ follower: Follower, to first: UInt64) {
        let channel = follower.channel
        let missed = follower.next...(first - 1)
        let error = KernelError(
            .gap,
            "\(follower.symbol.name) has missed the events \(missed.lowerBound) to "
                + "\(missed.upperBound) of \(channel.name), which keeps "
                + "\(channel.mostEvents) events and \(channel.mostBytes) bytes: it was away, or is "
                + "slower than the publishers")
        report(
            follower.symbol.name, error, flow: nil,
            [
                "channel": .text(channel.name), "from": .int(Int64(clamping: missed.lowerBound)),
                "to": .int(Int64(clamping: missed.upperBound)),
            ])
        follower.next = first
    }

    /// An event is handled.
    func ended(_ flow: Flow, _ follower: Follower, _ sequence: UInt64, _ error: KernelError?) {
        if var error {
            error.message = "event \(sequence) of \(follower.channel.name): \(error.message)"
            report(follower.symbol.name, error, flow: flow.number)
        }
        follower.flow = nil
        advance(follower)
    }

    // MARK: - While the device is away

    /// The flow begins to wait for a process; if it handles an event, its time stands, and that of
    /// the flows of which it is a branch.
    func stand(_ flow: Flow) {
        guard flow.waitsForEver else { return }
        flow.stands = true
        flow.waiting?.waitingEvents += 1
        var here: Flow? = flow
        while let one = here {
            if one.standing == 0 { one.standsSince = seen }
            one.standing += 1
            here = one.fork
        }
    }

    /// It no longer waits: what it has waited for a device that was away does not count.
    func goOn(_ flow: Flow, from device: DeviceSlot) {
        guard flow.stands else { return }
        flow.stands = false
        device.waitingEvents -= 1
        var here: Flow? = flow
        while let one = here {
            one.standing -= 1
            if one.standing == 0, let since = one.standsSince {
                one.standsSince = nil
                one.postpone(by: seen - since)
                due = min(due, one.deadline)
            }
            here = one.fork
        }
    }

    /// A device that does not come back by itself refuses requests; events wait for it.
    func keep(waiting flow: Flow) {
        leaveQueue(flow)
        flow.trial = .none
        guard let symbol = stageSymbol(flow) else { return }
        queue(flow, for: symbol, front: true)
    }
}

extension Flow {
    /// It is the handling of an event by its follower.
    var isEvent: Bool {
        if case .event = origin { return true }
        return false
    }

    /// The flow of which it is a branch.
    fileprivate var fork: Flow? {
        if case .branch(let parent, _) = origin { return parent }
        return nil
    }

    /// It is the handling of an event or a branch of that, and waits for a device however long that
    /// is away; its `finally` does not.
    var waitsForEver: Bool {
        guard !last else { return false }
        var here = self
        while let parent = here.fork { here = parent }
        return here.isEvent
    }

    fileprivate func postpone(by time: UInt64) {
        stood += time
        deadline += time
        limit += time
        if bound != .max { bound += time }
    }
}
