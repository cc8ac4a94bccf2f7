// The messages that come and go with every visit, in their plain form, read without making a
// `PeerMessage` or `KernelMessage` of them. Whatever deviates from that form in the least is left
// to those, which also say what is wrong with it.

extension CBORReader {
    /// Steps over the head of a frame if it is this one: an array of so many fields, the kind, and
    /// no descriptors.
    @inline(__always)
    private mutating func opens(_ kind: MessageKind, _ fields: Int) -> Bool {
        guard let count = try? array(), count == fields + 2, let raw = try? uint(),
            raw == kind.rawValue, let descriptors = try? uint()
        else { return false }
        return descriptors == 0
    }

    /// Steps over this small number, if it is next.
    @inline(__always)
    private mutating func skip(_ number: UInt8) -> Bool {
        guard initialByte == number, let read = try? uint() else { return false }
        return read == UInt64(number)
    }

    /// The bytes that end the frame.
    @inline(__always)
    private mutating func rest() -> UnsafeRawBufferPointer? {
        guard let content = try? bytes(), atEnd else { return nil }
        return content
    }

    @inline(__always)
    mutating func plainCall() -> PlainCall? {
        guard opens(.call, 5), let id = try? uint(), let symbol = try? uint(),
            let deadline = try? uint(), deadline <= UInt64(UInt32.max), skipNull(),
            let payload = rest()
        else { return nil }
        return PlainCall(
            id: id, symbol: symbol, deadline: UInt32(truncatingIfNeeded: deadline),
            payload: payload)
    }

    /// A message of a number, the kind that means an output, and that output.
    @inline(__always)
    mutating func plainOutput(_ kind: MessageKind) -> PlainOutput? {
        guard opens(kind, 3), let number = try? uint(), skip(0), let output = rest() else {
            return nil
        }
        return PlainOutput(number: number, bytes: output)
    }

    @inline(__always)
    mutating func plainVisit() -> KernelMessage.Delivery? {
        guard opens(.visit, 11), let number = try? uint(), let symbol = try? uint(),
            let flow = try? uint(), skipNull(), let step = try? uint(),
            step <= UInt64(UInt32.max), let attempt = try? uint(),
            attempt <= UInt64(UInt32.max), let now = try? int(), let lowest = try? uint(),
            let replay = try? bool(), let reads = try? array(), reads == 0, let payload = rest()
        else { return nil }
        return KernelMessage.Delivery(
            number: number, symbol: symbol, flow: flow, path: nil,
            step: UInt32(truncatingIfNeeded: step), attempt: UInt32(truncatingIfNeeded: attempt),
            now: now, lowest: lowest, replay: replay, reads: [], payload: payload)
    }
}

/// A call without a key of the caller's own.
package struct PlainCall {
    package var id: UInt64
    package var symbol: UInt64
    package var deadline: UInt32
    package var payload: UnsafeRawBufferPointer
}

/// What a visit gave, or what a call gives.
package struct PlainOutput {
    /// Of the visit or the call.
    package var number: UInt64
    package var bytes: UnsafeRawBufferPointer
}

extension PeerMessage {
    /// The body of a frame as a plain call.
    @inline(__always)
    package static func plainCall(_ body: UnsafeRawBufferPointer) -> PlainCall? {
        var reader = CBORReader(body)
        return reader.plainCall()
    }

    /// The body of a frame as the plain end of a visit.
    @inline(__always)
    package static func plainOutput(_ body: UnsafeRawBufferPointer) -> PlainOutput? {
        var reader = CBORReader(body)
        return reader.plainOutput(.returned)
    }
}

extension KernelMessage {
    /// The body of a frame as the plain answer to a call.
    @inline(__always)
    package static func plainReply(_ body: UnsafeRawBufferPointer) -> PlainOutput? {
        var reader = CBORReader(body)
        return reader.plainOutput(.reply)
    }

    /// The body of a frame as a plain visit.
    @inline(__always)
    package static func plainVisit(_ body: UnsafeRawBufferPointer) -> Delivery? {
        var reader = CBORReader(body)
        return reader.plainVisit()
    }
}
