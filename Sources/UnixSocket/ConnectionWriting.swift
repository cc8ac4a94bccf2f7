// The writing half of a connection.

internal import CLinux
internal import Glibc

extension Connection {
    /// The number of bytes that wait to be written, those that were only gathered included.
    package var pendingBytes: Int { output.count + gathered }

    /// Takes `bytes` for sending; they are written at the end of the turn. Dropped if the
    /// connection has ended.
    package func send(_ bytes: UnsafeRawBufferPointer) {
        guard canSend, bytes.count > 0 else { return }
        output.append(bytes)
        queued(bytes.count)
    }

    /// Lets `write` put at most `room` bytes at the end of what waits to be sent and return how
    /// many it put.
    package func send(room: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) {
        guard canSend, room > 0 else { return }
        let count = write(UnsafeMutableRawBufferPointer(rebasing: output.reserve(room)[..<room]))
        precondition(count <= room)
        output.commit(count)
        queued(count)
    }

    /// Takes `bytes` for sending, and duplicates of `descriptors` that arrive with the first of
    /// them.
    /// - Throws: if there are no bytes to carry them, too many descriptors, or no room for the
    ///   duplicates; nothing is sent then.
    package func send(
        _ bytes: UnsafeRawBufferPointer, descriptors: [Int32]
    ) throws(SocketError) {
        guard !descriptors.isEmpty, canSend else {
            send(bytes)
            return
        }
        guard bytes.count > 0, descriptors.count <= SocketLimits.messageDescriptors else {
            throw SocketError(
                .tooManyDescriptors,
                "\(descriptors.count) descriptors cannot ride with \(bytes.count) bytes",
                advice: "send at most \(SocketLimits.messageDescriptors) with at least one byte")
        }
        var duplicates: [Int32] = []
        for number in descriptors {
            let duplicate = clx_duplicate(number, 0)
            guard duplicate >= 0 else {
                let error = SocketError.system("cannot duplicate a descriptor to send it")
                for number in duplicates { Glibc.close(number) }
                throw error
            }
            duplicates.append(duplicate)
        }
        departing.append(Departing(offset: totalQueued, descriptors: duplicates))
        send(bytes)
    }

    /// Writes now what the socket takes. A failure is told later, when no callback is running.
    package func flushNow() {
        guard !awaitsWritable else { return }
        writeOutput()
    }

    /// Has `onFlush` called at the end of the turn.
    /// - Returns: false if it will not be, for what waits already stands in the way.
    package func fillLater() -> Bool {
        guard canSend, !awaitsWritable else { return false }
        if output.isEmpty { lastProgress = EventLoop.shared.now }
        EventLoop.shared.flushLater(self)
        return true
    }

    /// Called by the loop at the end of a turn.
    func flush() {
        onFlush?()
        isDirty = false
        flushNow()
    }

    private var canSend: Bool { descriptor >= 0 && writeFailure == 0 }

    private func queued(_ count: Int) {
        totalQueued &+= UInt64(count)
        guard !isDirty, !awaitsWritable else { return }
        if output.count == count { lastProgress = EventLoop.shared.now }
        EventLoop.shared.flushLater(self)
    }

    /// One write, or one for each message that carries descriptors. If something is left, waits to
    /// be writable.
    func writeOutput() {
        while !output.isEmpty, !isClosed {
            let wanted = departing.isEmpty ? output.count : stretch
            let count = transmit(wanted)
            if count < 0 {
                if count == -Int(EAGAIN) { break }
                failLater(Int32(-count))
                return
            }
            lastProgress = EventLoop.shared.now
            output.consume(count)
            if count < wanted { break }
        }
        guard !output.isEmpty, !isClosed else { return }
        awaitsWritable = true
        updateInterest()
    }

    /// The bytes up to the next message that carries descriptors.
    private var stretch: Int {
        let written = totalQueued &- UInt64(output.count)
        for message in departing where message.offset > written {
            return Int(message.offset &- written)
        }
        return output.count
    }

    /// One write: a count or a negative error number.
    private func transmit(_ count: Int) -> Int {
        let written = totalQueued &- UInt64(output.count)
        let base = output.bytes.baseAddress
        while true {
            let result: Int
            if let first = departing.first, first.offset == written {
                result = clx_send_descriptors(
                    descriptor, base, count, first.descriptors, Int32(first.descriptors.count))
                if result > 0 {
                    departing.removeFirst()
                    for number in first.descriptors { Glibc.close(number) }
                }
            } else {
                result = Glibc.send(
                    descriptor, base, count,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if result >= 0 { return result }
            if errno != EINTR { return -Int(errno) }
        }
    }
}
