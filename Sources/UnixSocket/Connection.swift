// A connection: one stream socket on the loop.
//
// It reads once a turn and hands what it has to its delegate, which takes whole frames; the rest of
// an unfinished frame is kept. It gathers what is sent and writes once at the end of the turn. What
// the socket does not take waits for it to be writable. No call here ever blocks, and none
// allocates once the buffers have the size of the traffic.
//
// Bytes go straight from the loop's shared buffer to the delegate as long as the rest is small.
// Only a frame that is larger than that gathers in a buffer of the connection's own, which grows
// with what has arrived and never with what a length field announces.
//
// A peer that dies may leave bytes behind that it has written. They are always delivered before the
// end is told, also when the first to notice the death is a failed write.

internal import CLinux
internal import Glibc

/// Why a connection ended.
package enum CloseReason: Equatable, Sendable {
    /// The peer has closed its end, and everything it wrote was delivered.
    case eof
    /// The socket failed with this error number.
    case error(Int32)

    /// Why, for people; empty for the mere end.
    package var words: String {
        switch self {
        case .eof: ""
        case .error(let number): SocketError.text(of: number)
        }
    }
}

/// Who understands the bytes of a connection.
@LoopActor
package protocol ConnectionDelegate: AnyObject {
    /// Takes whole frames from the front of `bytes`, which are valid during the call only.
    /// - Returns: how many bytes it took; the rest comes again, with more behind it.
    func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int

    /// The connection has ended by itself and is closed. Told at most once, and never after
    /// `close()`.
    func connection(_ connection: Connection, closed reason: CloseReason)
}

/// One end of a stream socket. The loop holds it while it reads or waits to write; it holds its
/// delegate until it ends.
@LoopActor
package final class Connection: Watcher {
    /// The descriptor's number, -1 once it is closed.
    @exclusivity(unchecked) package internal(set) var descriptor: Int32
    /// Whether messages may bring descriptors; off, those that come are dropped by the system.
    @exclusivity(unchecked) package var receivesDescriptors = false
    /// The time of the loop at which bytes last went out, or began to wait for it.
    @exclusivity(unchecked) package internal(set) var lastProgress: UInt64
    /// Called when everything is written that had to wait for more than a turn.
    @exclusivity(unchecked) package var onDrained: (@LoopActor () -> Void)?
    /// Called before it writes at the end of a turn; what it sends then is written with the rest.
    @exclusivity(unchecked) package var onFlush: (@LoopActor () -> Void)?
    /// The bytes that `onFlush` will send, as far as it is known.
    @exclusivity(unchecked) package var gathered = 0

    @exclusivity(unchecked) var delegate: (any ConnectionDelegate)?
    @exclusivity(unchecked) var kept = ByteQueue()
    @exclusivity(unchecked) var output = ByteQueue()
    @exclusivity(unchecked) var isDirty = false
    @exclusivity(unchecked) var needsAttention = false
    @exclusivity(unchecked) var isDelivering = false
    @exclusivity(unchecked) var isPaused = false
    @exclusivity(unchecked) var awaitsWritable = false
    @exclusivity(unchecked) private var isWatched = false
    /// Received bytes wait although none are new: the delegate was paused, or asked to read from
    /// within a delivery.
    @exclusivity(unchecked) var mustRedeliver = false
    @exclusivity(unchecked) var mustDrain = false
    /// The error of a failed write: nothing can be sent any more, and what the peer left is still
    /// to be read.
    @exclusivity(unchecked) var writeFailure: Int32 = 0
    @exclusivity(unchecked) var arrived: [Int32] = []
    @exclusivity(unchecked) var departing: [Departing] = []
    /// Bytes that were taken for sending, and bytes that were sent, since the beginning.
    @exclusivity(unchecked) var totalQueued: UInt64 = 0

    /// Descriptors that ride with the byte at `offset` of all that is sent.
    struct Departing {
        var offset: UInt64
        var descriptors: [Int32]
    }

    /// Takes over a connected stream socket and begins to read.
    package init(_ descriptor: consuming OwnedDescriptor, delegate: any ConnectionDelegate) {
        self.descriptor = descriptor.take()
        self.delegate = delegate
        lastProgress = EventLoop.shared.now
        isWatched = EventLoop.shared.watch(self.descriptor, .read, self)
        if !isWatched { failLater(errno) }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
        for number in arrived { Glibc.close(number) }
        for message in departing {
            for number in message.descriptors { Glibc.close(number) }
        }
    }

    /// Whether the connection has ended.
    package var isClosed: Bool { descriptor < 0 }

    /// Whether reading stands still: the backpressure of a delegate that cannot take more. The end
    /// of the peer is not noticed meanwhile, unless something is written to it. What was read
    /// already is offered again when reading goes on.
    package var readingPaused: Bool {
        get { isPaused }
        set {
            guard newValue != isPaused else { return }
            isPaused = newValue
            updateInterest()
            if !newValue, !kept.isEmpty {
                mustRedeliver = true
                EventLoop.shared.attendLater(self)
            }
        }
    }

    /// Called by the loop.
    package func ready(_ events: Interest) {
        if awaitsWritable, events.contains(.write) || !events.isDisjoint(with: [.hangup, .error]) {
            awaitsWritable = false
            let waited = !output.isEmpty
            writeOutput()
            if !awaitsWritable { updateInterest() }
            if waited, output.isEmpty, writeFailure == 0, let onDrained { onDrained() }
        }
        if !isPaused, !isClosed, !events.isDisjoint(with: .readable) {
            _ = readOnce()
        }
    }

    /// What the loop does for the connection at the end of a turn, apart from writing.
    func attend() {
        needsAttention = false
        // What waited for the peer is dropped, so nobody would ever let it go on.
        if writeFailure != 0, isPaused {
            isPaused = false
            mustRedeliver = true
        }
        if mustRedeliver, !isPaused, !isClosed, !kept.isEmpty {
            mustRedeliver = false
            redeliver()
        }
        if mustDrain, !isClosed {
            mustDrain = false
            readAll()
        }
        if writeFailure != 0, !isClosed {
            readAll()
            if !isClosed { end(.error(writeFailure)) }
        }
    }

    /// Closes at once, without a word to the delegate. What waits to be written is lost. Does
    /// nothing the second time.
    package func close() {
        guard !isClosed else { return }
        if isWatched { EventLoop.shared.unwatch(descriptor) }
        isWatched = false
        Glibc.close(descriptor)
        descriptor = -1
        delegate = nil
        onDrained = nil
        onFlush = nil
        output.removeAll()
        // A delivery that is under way still reads from this buffer.
        if !isDelivering { kept.removeAll() }
        closeAll(takeDescriptors())
        for message in departing { closeAll(message.descriptors) }
        departing = []
    }

    /// Closes because of what the socket said.
    func end(_ reason: CloseReason) {
        let teller = delegate
        close()
        teller?.connection(self, closed: reason)
    }

    /// Has a failure dealt with when no callback is running.
    func failLater(_ error: Int32) {
        writeFailure = error
        output.removeAll()
        awaitsWritable = false
        updateInterest()
        EventLoop.shared.attendLater(self)
    }

    /// A paused connection with nothing to write is not watched at all: epoll reports a hang-up
    /// unasked, for ever.
    func updateInterest() {
        guard !isClosed else { return }
        var interest: Interest = []
        if !isPaused { interest.insert(.read) }
        if awaitsWritable { interest.insert(.write) }
        if interest.isEmpty {
            if isWatched { EventLoop.shared.unwatch(descriptor) }
            isWatched = false
        } else if isWatched {
            EventLoop.shared.change(descriptor, interest)
        } else {
            isWatched = EventLoop.shared.watch(descriptor, interest, self)
        }
    }

    private func closeAll(_ numbers: [Int32]) {
        for number in numbers { Glibc.close(number) }
    }
}
