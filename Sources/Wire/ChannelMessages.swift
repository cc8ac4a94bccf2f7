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
    /// A page of a channel; its events follow each other without a gap.
    mutating func events() throws -> KernelMessage.Reply {
        let after = try uint()
        let events = try rows("events", of: 5) { row in
            WireEvent(
                sequence: try row.uint(), at: try row.int(), flow: try row.optionalUInt(),
                symbol: try row.optionalText(), payload: [UInt8](try row.bytes()))
        }
        let before = after.subtractingReportingOverflow(UInt64(events.count))
        guard events.isEmpty || !before.overflow else { throw WireError.field("events") }
        for (place, event) in events.enumerated() {
            guard event.sequence == before.partialValue + UInt64(place + 1) else {
                throw WireError.field("the number of an event")
            }
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
}
