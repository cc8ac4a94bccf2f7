public import Control
public import Values
internal import Wire

/// An event of a channel, as a reader gets it.
public struct ChannelEvent<Event> {
    /// Counts the events of the channel, from 1, as long as the kernel runs.
    public let sequence: UInt64
    /// Milliseconds since 1970.
    public let at: Int64
    /// The flow that published it, as `epoch-number`; nil if none did.
    public let flow: String?
    /// The symbol whose code did.
    public let symbol: String?
    /// What was published.
    public let event: Event
}

extension ChannelEvent: Sendable where Event: Sendable {}

/// The events of a channel, all of them and in order.
///
///     for try await event in kernel.events(of: added, after: 17) { … }
///
/// A lost connection is made again, and the reader misses nothing by it. It ends with an error when
/// events cannot be had any more: `ChannelGap` when the channel has let go of some before they were
/// read, `kernelLost` when the kernel is gone or has started anew. A slow reader holds two pages
/// of the channel and no more.
public struct ChannelEvents<Event>: AsyncSequence {
    /// An event.
    public typealias Element = ChannelEvent<Event>

    let kernel: Kernel
    let name: String
    let after: UInt64?
    let epoch: UInt64?
    let decode: @Sendable ([UInt8]) throws -> Event

    /// Begins to read; the kernel forgets the reader when the iterator is let go of.
    public func makeAsyncIterator() -> Iterator {
        let feed = ChannelFeed(kernel, name, after: after, epoch: epoch)
        return Iterator(holder: ChannelFeed.Holder(feed), name: name, decode: decode)
    }

    /// Where a reader is.
    public struct Iterator: AsyncIteratorProtocol {
        let holder: ChannelFeed.Holder
        let name: String
        let decode: @Sendable ([UInt8]) throws -> Event

        /// The next event; nil once the iteration has failed or was cancelled.
        /// - Throws: `ChannelGap`, `KernelError`, `CancellationError`.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Element? {
            guard let (event, epoch) = try await holder.feed.next() else { return nil }
            let value: Event
            do {
                value = try decode(event.payload)
            } catch {
                throw KernelError(
                    .malformed, "event \(event.sequence) of \(name): \(error)", outcome: .none)
            }
            return Element(
                sequence: event.sequence, at: event.at,
                flow: event.flow.map { "\(epoch)-\($0)" }, symbol: event.symbol, event: value)
        }
    }
}

extension Kernel {
    /// Reads a channel.
    ///
    /// - Parameters:
    ///   - after: the number of the last event that is not wanted; 0: all that is kept; nil: what
    ///     is published from now on.
    ///   - epoch: the kernel's start in which `after` was read, where it is known: any other is
    ///     an error then.
    public nonisolated func events<E>(
        of channel: Channel<E>, after: UInt64? = nil, epoch: UInt64? = nil
    ) -> ChannelEvents<E> {
        let decode = channel.event.decode
        return ChannelEvents(
            kernel: self, name: channel.name, after: after, epoch: epoch,
            decode: { try decode($0, CBORCoding()) })
    }

    /// Reads a channel by its name; its events are values that have no type.
    public nonisolated func events(
        of channel: String, after: UInt64? = nil, epoch: UInt64? = nil
    ) -> ChannelEvents<Value> {
        ChannelEvents(kernel: self, name: channel, after: after, epoch: epoch) { bytes in
            try bytes.withUnsafeBytes { raw in
                var reader = CBORReader(raw)
                return try reader.value()
            }
        }
    }

    /// Publishes an event.
    ///
    /// - Parameter key: the caller's own: a repeat with the same key and event is published once,
    ///   as long as the channel keeps it.
    /// - Returns: the number of the event in its channel.
    /// - Throws: `KernelError`.
    @discardableResult
    public func publish<E>(
        _ channel: Channel<E>, _ event: sending E, key: String? = nil
    ) async throws -> UInt64 {
        try await publish(channel.name, try channel.event.encode(event, coding), key)
    }

    /// Publishes an event by the name of its channel, with a value that has no type.
    @discardableResult
    public func publish(
        _ channel: String, _ event: Value, key: String? = nil
    ) async throws -> UInt64 {
        try await publish(channel, encode(event), key)
    }

    private func publish(
        _ channel: String, _ payload: [UInt8], _ key: String?
    ) async throws -> UInt64 {
        try FrameRoom.check(payload, for: channel, key: key)
        try await room()
        let reply = try await ask { id, link in
            link.send { $0.publish(id: id, channel: channel, key: key, payload) }
        }
        return reply.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
