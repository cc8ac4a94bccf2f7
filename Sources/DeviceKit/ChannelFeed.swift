internal import Control
internal import UnixSocket
internal import Wire

/// The bounds of a reader of a channel.
enum ChannelLimits {
    /// Pages that it holds while the program does something else.
    static let pages = 2
    /// Nanoseconds for which it tries to reach the kernel again, and between two tries.
    static let patience: UInt64 = 2_000_000_000
    static let pause: UInt64 = 50_000_000
}

/// One reader of a channel: a cursor that asks the kernel for the page after it, and holds what has
/// come until it is wanted.
///
/// The next page is asked for while one is being read, so that an event that is published meanwhile
/// is already on its way. The cursor moves when a page arrives, and every page says where it ends:
/// a connection that is lost in between loses the page, never the place.
@LoopActor
final class ChannelFeed {
    /// Ends the feed when nobody reads any more.
    final class Holder: Sendable {
        let feed: ChannelFeed

        init(_ feed: ChannelFeed) {
            self.feed = feed
        }

        deinit {
            let feed = feed
            Task(executorPreference: LoopActor.executor) { @LoopActor in feed.end() }
        }
    }

    private let channel: String
    private var kernel: Kernel
    /// Whether this feed has made the connection itself.
    private var ownsKernel = false
    /// The last event that has arrived; nil until the kernel has said where the channel stands.
    private var after: UInt64?
    /// The kernel's start in which that was.
    private var epoch: UInt64?
    private var pages: [ArraySlice<WireEvent>] = []
    /// The question that waits for a page.
    private var reading: UInt64?
    private var isConnecting = false
    private var waiter: UnsafeContinuation<WireEvent?, any Error>?
    private var failure: (any Error)?
    private var isOver = false

    nonisolated init(_ kernel: Kernel, _ channel: String, after: UInt64?, epoch: UInt64?) {
        self.kernel = kernel
        self.channel = channel
        self.after = after
        self.epoch = epoch
        do throws(KernelError) {
            try FrameRoom.check(name: channel)
        } catch {
            failure = error
        }
    }

    // MARK: - For the reader

    /// The next event, and the kernel's start in which it was published.
    func next() async throws -> (WireEvent, epoch: UInt64)? {
        let event: WireEvent?
        if let held = take() {
            event = held
        } else {
            event = try await wait()
        }
        return event.map { ($0, epoch ?? 0) }
    }

    private func take() -> WireEvent? {
        guard !pages.isEmpty, let event = pages[0].popFirst() else { return nil }
        if pages[0].isEmpty { pages.removeFirst() }
        ask()
        return event
    }

    private func wait() async throws -> WireEvent? {
        if let failure {
            self.failure = nil
            end()
            throw failure
        }
        guard !isOver else { return nil }
        ask()
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                guard !Task.isCancelled else {
                    end()
                    return continuation.resume(throwing: CancellationError())
                }
                waiter = continuation
                settle()
            }
        } onCancel: {
            Task(executorPreference: LoopActor.executor) { @LoopActor [self] in cancel() }
        }
    }

    /// Gives the waiting reader what there is.
    private func settle() {
        guard let waiter else { return }
        if let event = take() {
            self.waiter = nil
            waiter.resume(returning: event)
        } else if let failure {
            self.waiter = nil
            self.failure = nil
            end()
            waiter.resume(throwing: failure)
        }
    }

    private func cancel() {
        guard let waiter else { return }
        self.waiter = nil
        end()
        waiter.resume(throwing: CancellationError())
    }

    /// Nobody reads any more; the kernel is told.
    func end() {
        isOver = true
        pages = []
        if let reading {
            kernel.stopReading(reading)
            self.reading = nil
        }
        if ownsKernel { kernel.close() }
        ownsKernel = false
    }

    // MARK: - From the kernel

    private func ask() {
        guard reading == nil, !isConnecting, !isOver, failure == nil,
            pages.count < ChannelLimits.pages
        else { return }
        guard let id = kernel.read(channel, epoch: epoch, after: after, for: self) else {
            return lost(KernelError(.kernelLost, "the kernel is away", outcome: .none, retry: true))
        }
        reading = id
    }

    func take(_ reply: KernelMessage.Reply) {
        reading = nil
        switch reply {
        case .events(let last, let events):
            // The kernel answers for itself, whoever it was asked about.
            epoch = kernel.epoch
            after = last
            if !events.isEmpty { pages.append(events[...]) }
            ask()
        case .gap(let from, let to):
            failure = ChannelGap(channel: channel, missed: from...to)
        case .failure(let error) where error.code == .overloaded:
            // Calls of this client have taken all that it may have open.
            EventLoop.shared.schedule(at: EventLoop.shared.now + ChannelLimits.pause) {
                [weak self] in self?.ask()
            }
        case .failure(let error): failure = error
        case .output, .committed, .repeated, .conflict, .published:
            failure = KernelError(.malformed, "the kernel answered another question")
        }
        settle()
    }

    /// The connection has ended.
    func lost(_ error: KernelError) {
        reading = nil
        guard !isOver, !isConnecting else { return }
        guard error.code == .kernelLost, !kernel.isClosed else {
            failure = error
            return settle()
        }
        isConnecting = true
        EventLoop.shared.spawn { [self] in await reconnect(error) }
    }

    private func reconnect(_ error: KernelError) async {
        let origin = kernel.origin
        let deadline = EventLoop.shared.now + ChannelLimits.patience
        var found: Kernel?
        while found == nil, !isOver, EventLoop.shared.now < deadline {
            found = try? await Kernel.connect(instance: origin.instance, client: origin.client)
            guard found == nil else { break }
            try? await EventLoop.shared.sleep(until: EventLoop.shared.now + ChannelLimits.pause)
        }
        isConnecting = false
        guard let found else {
            failure = error
            return settle()
        }
        kernel = found
        ownsKernel = true
        guard !isOver else { return end() }
        ask()
    }
}

extension Kernel {
    /// Asks for the page after an event.
    /// - Returns: the number of the question; nil when the connection has ended.
    func read(
        _ channel: String, epoch: UInt64?, after: UInt64?, for feed: ChannelFeed
    ) -> UInt64? {
        guard let link, link.isOpen else { return nil }
        let id = calls.reserve()
        reads[id] = feed
        link.send { $0.read(id: id, channel: channel, epoch: epoch, after: after) }
        return id
    }

    func stopReading(_ id: UInt64) {
        guard reads.removeValue(forKey: id) != nil else { return }
        calls.release(id)
        link?.send { $0.cancel(id: id) }
        admit()
    }
}
