internal import Control
internal import UnixSocket
internal import Wire

/// Who understands what comes along a link.
@LoopActor
protocol LinkDelegate: AnyObject {
    func link(_ link: Link, said message: KernelMessage)
    /// A plain message of a kind that comes again and again; returns false to have it as a
    /// `KernelMessage`.
    func link(_ link: Link, brought body: UnsafeRawBufferPointer) -> Bool
    /// The link has ended, once.
    func link(_ link: Link, ended error: KernelError)
}

/// This process's end of a cable: frames of the kernel become messages, messages become frames.
@LoopActor
final class Link: ConnectionDelegate {
    /// Held until the link ends.
    private var delegate: (any LinkDelegate)?
    private var connection: Connection?
    private let writer = CBORWriter(capacity: 4_096)
    /// The connection will ask for what is written.
    private var isAwaited = false
    private var pieces = Pieces()
    private var numbers: [String: UInt64] = [:]
    /// The symbol that was used last: most are followed by themselves.
    private var recent: (symbol: String, number: UInt64)?

    /// Takes over a connected socket.
    init(_ descriptor: consuming OwnedDescriptor, delegate: any LinkDelegate) {
        self.delegate = delegate
        let connection = Connection(descriptor, delegate: self)
        connection.onFlush = { [self] in handOver() }
        self.connection = connection
    }

    var isOpen: Bool { connection?.isClosed == false }

    /// Sends what `write` writes; the bytes leave at the end of the turn.
    @inline(__always)
    func send(_ write: (CBORWriter) -> Void) {
        write(writer)
        connection?.gathered = writer.count
        guard !isAwaited || writer.count >= SocketLimits.keptCapacity else { return }
        isAwaited = connection?.fillLater() ?? false
        if !isAwaited || writer.count >= SocketLimits.keptCapacity { handOver() }
    }

    private func handOver() {
        isAwaited = false
        connection?.gathered = 0
        connection?.send(writer.written)
        writer.reset()
    }

    /// Sends a call.
    func call(
        _ id: UInt64, _ symbol: String, _ deadline: UInt32, _ key: String?, _ payload: [UInt8]
    ) {
        let number = number(of: symbol)
        send { $0.call(id: id, symbol: number, deadline: deadline, key: key, payload) }
    }

    /// The number that stands for a symbol on this connection; it is declared at its first use.
    func number(of symbol: String) -> UInt64 {
        if let recent, recent.symbol == symbol { return recent.number }
        if let number = numbers[symbol] {
            recent = (symbol, number)
            return number
        }
        let number = UInt64(numbers.count)
        numbers[symbol] = number
        recent = (symbol, number)
        send { $0.name(index: number, symbol) }
        return number
    }

    /// Sends at once what the cable takes.
    func flush() {
        handOver()
        connection?.flushNow()
    }

    /// Bytes that have not left.
    var unsent: Int { writer.count + (connection?.pendingBytes ?? 0) }

    /// Sends everything, and then does something.
    func whenAllIsSent(_ action: @escaping @LoopActor () -> Void) {
        flush()
        guard let connection, connection.pendingBytes > 0 else { return action() }
        connection.onDrained = action
    }

    func close() {
        connection?.close()
        connection = nil
        delegate = nil
    }

    func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while true {
            switch Frame.next(in: bytes, at: offset) {
            case .incomplete: return offset
            case .refused(let length):
                fail("the kernel sent a frame of \(length) bytes")
                return bytes.count
            case .body(let body, let end):
                offset = end
                if pieces.isOpen || delegate?.link(self, brought: body) != true {
                    hear(body)
                }
                guard isOpen else { return bytes.count }
            }
        }
    }

    private func hear(_ body: UnsafeRawBufferPointer) {
        do {
            switch try KernelMessage(body) {
            case .piece(let left, let bytes):
                guard let whole = try pieces.take(left: left, bytes) else { return }
                try whole.withUnsafeBytes { try hear(whole: $0) }
            case let message:
                guard !pieces.isOpen else { throw WireError.field("a message between pieces") }
                delegate?.link(self, said: message)
            }
        } catch {
            fail("\(error)")
        }
    }

    private func hear(whole body: UnsafeRawBufferPointer) throws {
        let message = try KernelMessage(body)
        if case .piece = message { throw WireError.field("a piece of pieces") }
        delegate?.link(self, said: message)
    }

    func connection(_ connection: Connection, closed reason: CloseReason) {
        let why = reason.words.isEmpty ? "" : " (\(reason.words))"
        end(
            KernelError(
                .kernelLost,
                "the kernel went away or cut this connection\(why): see `concentric log kernel`, "
                    + "and `concentric up` when it does not run", retry: true))
    }

    private func fail(_ what: String) {
        end(KernelError(.malformed, what))
    }

    private func end(_ error: KernelError) {
        let teller = delegate
        close()
        teller?.link(self, ended: error)
    }
}
