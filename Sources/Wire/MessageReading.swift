internal import Control

extension CBORReader {
    /// The message of one frame's body.
    ///
    /// - Parameters:
    ///   - read: reads what stands behind the head.
    ///   - fields: how many fields a message has behind the head.
    /// - Throws: `WireError`; the connection cannot be trusted after it.
    static func message<Message>(
        _ body: UnsafeRawBufferPointer,
        _ read: (MessageKind, inout CBORReader) throws -> Message, _ fields: (Message) -> Int
    ) throws(WireError) -> Message {
        var reader = CBORReader(body)
        let (kind, found) = try reader.opening()
        do {
            let message = try read(kind, &reader)
            guard fields(message) == found else { throw WireError.fields(kind, found) }
            try reader.finish()
            return message
        } catch let error as WireError {
            throw error
        } catch let error as CBORError {
            throw .malformed(error)
        } catch {
            throw .field("\(error)")
        }
    }

    /// The head that all frames share: an array, the kind, no descriptors.
    private mutating func opening() throws(WireError) -> (kind: MessageKind, fields: Int) {
        let count: Int
        let raw: UInt64
        let descriptors: UInt64
        do {
            count = try array()
            raw = try uint()
            descriptors = try uint()
        } catch {
            throw .malformed(error)
        }
        guard let kind = MessageKind(rawValue: raw) else { throw .unknownKind(raw) }
        guard descriptors == 0 else { throw .descriptors(descriptors) }
        return (kind, count - 2)
    }

    // MARK: - Fields

    /// An array of rows, each an array of so many fields.
    ///
    /// - Parameters:
    ///   - name: what the rows are, for the error.
    ///   - counts: how many rows there may be.
    mutating func rows<Row>(
        _ name: String, of fields: Int, _ counts: ClosedRange<Int> = 0...Int.max,
        _ row: (inout CBORReader) throws -> Row
    ) throws -> [Row] {
        let count = try array()
        guard counts.contains(count) else { throw WireError.field(name) }
        var rows: [Row] = []
        for _ in 0..<count {
            guard try array() == fields else { throw WireError.field(name) }
            rows.append(try row(&self))
        }
        return rows
    }

    /// A number that fits in 32 bits.
    mutating func uint32() throws -> UInt32 {
        guard let value = UInt32(exactly: try uint()) else {
            throw WireError.field("a 32-bit number")
        }
        return value
    }

    mutating func optionalText() throws -> String? {
        skipNull() ? nil : try text()
    }

    mutating func optionalUInt() throws -> UInt64? {
        skipNull() ? nil : try uint()
    }

    /// The name of a symbol, region or channel.
    mutating func name() throws -> String {
        let name = try text()
        guard !name.isEmpty, name.utf8.count <= WireLimits.name else {
            throw WireError.field("name")
        }
        return name
    }

    mutating func error() throws -> KernelError {
        guard try array() == 4 else { throw WireError.field("error") }
        let code = try text()
        let message = try text()
        guard let outcome = Outcome(rawValue: try text()) else { throw WireError.field("outcome") }
        return KernelError(
            KernelError.Code(rawValue: code), message, outcome: outcome, retry: try bool())
    }
}

extension CBORWriter {
    func optional(_ text: String?) {
        if let text { self.text(text) } else { null() }
    }

    func optional(_ number: UInt64?) {
        if let number { uint(number) } else { null() }
    }

    func error(_ error: KernelError) {
        array(4)
        text(error.code.rawValue)
        text(error.message)
        text(error.outcome.rawValue)
        bool(error.retry)
    }
}
