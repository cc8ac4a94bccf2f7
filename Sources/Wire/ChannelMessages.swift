/// An event of a channel as it travels to a reader.
package struct WireEvent: Sendable, Equatable {
    package var sequence: UInt64
    /// Milliseconds since 1970.
    package var at: Int64
    package var flow: UInt64?
    package var symbol: String?
    package var payload: [UInt8]

    package init(
        sequence: UInt64, at: Int64, flow: UInt64?, symbol: String?, payload: [UInt8]
    ) {
        self.sequence = sequence
        self.at = at
        self.flow = flow
        self.symbol = symbol
        self.payload = payload
    }
}

extension CBORReader {
    mutating func optionalUInt() throws -> UInt64? {
        skipNull() ? nil : try uint()
    }

    /// A page of a channel; its events follow each other without a gap.
    mutating func events() throws -> KernelMessage.Reply {
        let after = try uint()
        let count = try array()
        var events: [WireEvent] = []
        for place in 0..<count {
            guard try array() == 5 else { throw WireError.field("event") }
            let event = WireEvent(
                sequence: try uint(), at: try int(), flow: try optionalUInt(),
                symbol: try optionalText(), payload: [UInt8](try bytes()))
            guard after >= UInt64(count), event.sequence == after - UInt64(count - 1 - place)
            else { throw WireError.field("the number of an event") }
            events.append(event)
        }
        return .events(after: after, events)
    }

    mutating func gap() throws -> KernelMessage.Reply {
        let from = try uint()
        let to = try uint()
        guard from <= to else { throw WireError.field("gap") }
        return .gap(from: from, to: to)
    }
}

extension CBORWriter {
    package func publish(id: UInt64, channel: String, key: String?, _ payload: [UInt8]) {
        frame(.publish, 4) {
            $0.uint(id)
            $0.text(channel)
            $0.optional(key)
            $0.bytes(payload)
        }
    }

    package func read(id: UInt64, channel: String, epoch: UInt64?, after: UInt64?) {
        frame(.read, 4) {
            $0.uint(id)
            $0.text(channel)
            $0.optional(epoch)
            $0.optional(after)
        }
    }

    package func askPublish(visit: UInt64, tag: UInt64, channel: String, _ payload: [UInt8]) {
        frame(.askPublish, 4) {
            $0.uint(visit)
            $0.uint(tag)
            $0.text(channel)
            $0.bytes(payload)
        }
    }

    package func published(answer visit: UInt64, _ tag: UInt64, _ sequence: UInt64) {
        frame(.answer, 4) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(4)
            $0.uint(sequence)
        }
    }

    package func published(reply id: UInt64, _ sequence: UInt64) {
        frame(.reply, 3) {
            $0.uint(id)
            $0.uint(4)
            $0.uint(sequence)
        }
    }

    /// - Parameters:
    ///   - count: how many events `write` writes.
    ///   - write: each of them, with `event`.
    package func events(
        reply id: UInt64, after: UInt64, count: Int, _ write: (CBORWriter) -> Void
    ) {
        frame(.reply, 4) {
            $0.uint(id)
            $0.uint(5)
            $0.uint(after)
            $0.array(count)
            write($0)
        }
    }

    package func event(
        sequence: UInt64, at: Int64, flow: UInt64?, symbol: String?, _ payload: [UInt8]
    ) {
        array(5)
        uint(sequence)
        int(at)
        optional(flow)
        optional(symbol)
        bytes(payload)
    }

    package func gap(reply id: UInt64, from: UInt64, to: UInt64) {
        frame(.reply, 4) {
            $0.uint(id)
            $0.uint(6)
            $0.uint(from)
            $0.uint(to)
        }
    }

    private func optional(_ number: UInt64?) {
        if let number { uint(number) } else { null() }
    }
}
