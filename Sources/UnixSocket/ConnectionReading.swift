// The reading half of a connection.

internal import CLinux
internal import Glibc

extension Connection {
    enum ReadOutcome {
        case read(Int)
        case nothing
        case ended
    }

    /// Reads until the socket has no more, and delivers it, paused or not: what a peer left behind
    /// that is about to be declared dead. If the socket has ended, that is told as well. Called
    /// from within a delivery of this connection, it happens right after it.
    package func readAll() {
        if isDelivering {
            mustDrain = true
            EventLoop.shared.attendLater(self)
            return
        }
        var left = SocketLimits.drainBytes
        while left > 0, !isClosed, case .read(let count) = readOnce() {
            left -= count
        }
    }

    /// The received descriptors that nobody has taken, oldest first; they belong to the caller now.
    package func takeDescriptors(_ count: Int = .max) -> [Int32] {
        guard !arrived.isEmpty else { return [] }
        let taken = Array(arrived.prefix(max(0, count)))
        arrived.removeFirst(taken.count)
        return taken
    }

    /// The oldest received descriptor that nobody has taken.
    package func takeDescriptor() -> OwnedDescriptor? {
        guard let number = takeDescriptors(1).first else { return nil }
        return OwnedDescriptor(owning: number)
    }

    /// The number of received bytes that the delegate has not taken.
    package var keptBytes: Int { kept.count }

    func readOnce() -> ReadOutcome {
        guard !isDelivering else { return .nothing }
        let rest = kept.count
        if rest <= SocketLimits.smallRest, let scratch = EventLoop.shared.borrowScratch() {
            defer { EventLoop.shared.returnScratch(scratch) }
            let middle = scratch + SocketLimits.smallRest
            let count = receive(middle, SocketLimits.readBytes)
            guard count > 0 else { return handle(count) }
            let start = middle - rest
            if rest > 0 { start.copyMemory(from: kept.bytes.baseAddress!, byteCount: rest) }
            let all = UnsafeRawBufferPointer(start: start, count: rest + count)
            let used = deliver(all)
            guard !isClosed else { return .ended }
            // Bytes of the rest leave from the front of the queue; what is new and unused is added
            // behind.
            kept.consume(min(used, rest))
            kept.append(UnsafeRawBufferPointer(rebasing: all[max(used, rest)...]))
            return .read(count)
        }
        let room = kept.reserve(min(max(rest, SocketLimits.smallRest), SocketLimits.readBytes))
        let count = receive(room.baseAddress!, min(room.count, SocketLimits.readBytes))
        guard count > 0 else { return handle(count) }
        kept.commit(count)
        redeliver()
        return isClosed ? .ended : .read(count)
    }

    /// Offers the kept bytes to the delegate.
    func redeliver() {
        guard !isDelivering, !kept.isEmpty else { return }
        let used = deliver(kept.bytes)
        if isClosed {
            kept.removeAll()
        } else {
            kept.consume(used)
            kept.shrink()
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let delegate else { return 0 }
        isDelivering = true
        defer { isDelivering = false }
        let used = delegate.connection(self, received: bytes)
        precondition(used >= 0 && used <= bytes.count, "a delegate took more than there was")
        return used
    }

    private func handle(_ result: Int) -> ReadOutcome {
        if result == 0 {
            end(.eof)
            return .ended
        }
        let error = Int32(-result)
        if error == EAGAIN { return .nothing }
        end(.error(error))
        return .ended
    }

    /// One read: a count, 0 at the end, or a negative error number.
    private func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        while true {
            let result =
                receivesDescriptors
                ? receiveWithDescriptors(buffer, count)
                : recv(descriptor, buffer, count, Int32(MSG_DONTWAIT))
            if result >= 0 { return result }
            if errno != EINTR { return -Int(errno) }
        }
    }

    private func receiveWithDescriptors(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: SocketLimits.messageDescriptors) {
            numbers in
            var held = Int32(numbers.count)
            let result = clx_receive_descriptors(
                descriptor, buffer, count, numbers.baseAddress, &held)
            if held > 0 { arrived.append(contentsOf: numbers[0..<Int(held)]) }
            if arrived.count > SocketLimits.waitingDescriptors {
                errno = EMSGSIZE
                return -1
            }
            return result
        }
    }
}
