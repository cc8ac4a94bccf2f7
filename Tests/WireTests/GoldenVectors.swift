import FoundationEssentials
import Testing
import Values
import Wire

/// A vector of `protocol/vectors`; its README describes the format.
struct GoldenVector: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let diagnostic: String?
    let error: String?
    let isDecodeOnly: Bool

    var testDescription: String { name }

    /// How many vectors stand in `messages.json`: a folder that is not found must not pass.
    static let expected = 101

    static let messages: [GoldenVector] = read("messages.json")

    private static func read(_ file: String) -> [GoldenVector] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        guard let data = try? Data(contentsOf: URL(filePath: "/\(root)/protocol/vectors/\(file)")),
            let items = try? Value.parse(json: String(decoding: data, as: UTF8.self)).array
        else { return [] }
        return items.map { item in
            GoldenVector(
                name: item["name"]?.text ?? "", bytes: bytes(item["hex"]?.text ?? ""),
                diagnostic: item["diagnostic"]?.text, error: item["error"]?.text,
                isDecodeOnly: item["decodeOnly"]?.bool ?? false)
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap { $0.hexDigitValue.map { UInt8($0) } }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// A message of either side.
enum AnyMessage {
    case peer(PeerMessage)
    case kernel(KernelMessage)
}

extension [UInt8] {
    /// Reads the bytes as a message of whichever side may send it, and lends it.
    func withMessage<Result>(_ body: (AnyMessage) throws -> Result) throws -> Result {
        try withUnsafeBytes { raw in
            do {
                return try body(.peer(try PeerMessage(raw)))
            } catch WireError.unknownKind {
                return try body(.kernel(try KernelMessage(raw)))
            }
        }
    }

    /// The frame of this body.
    var framed: [UInt8] {
        Swift.withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0) } + self
    }
}

extension AnyMessage {
    /// The message written again, as a whole frame.
    var frame: [UInt8] {
        let writer = CBORWriter()
        switch self {
        case .peer(let message): writer.write(message)
        case .kernel(let message): writer.write(message)
        }
        return writer.bytes
    }
}

extension CBORWriter {
    func write(_ message: PeerMessage) {
        switch message {
        case .hello(let hello): self.hello(hello)
        case .name(let index, let text): name(index: index, text)
        case .call(let id, let symbol, let deadline, let key, let payload):
            call(id: id, symbol: symbol, deadline: deadline, key: key, [UInt8](payload))
        case .dispatch(let id, let symbol, let key, let payload):
            dispatch(id: id, symbol: symbol, key: key, [UInt8](payload))
        case .cancel(let id): cancel(id: id)
        case .follow(let id, let region): follow(id: id, region: region)
        case .unfollow(let region): unfollow(region: region)
        case .resume(let id, let known): resume(id: id, known)
        case .check(let id, let region): check(id: id, region: region)
        case .mismatch(let region, let epoch, let counter):
            mismatch(region: region, epoch: epoch, counter: counter)
        case .ready: ready()
        case .returned(let visit, let verb): returned(visit: visit, verb)
        case .askCall(let visit, let tag, let symbol, let deadline, let payload):
            askCall(visit: visit, tag: tag, symbol: symbol, deadline: deadline, [UInt8](payload))
        case .askCommit(let visit, let tag, let offers):
            askCommit(visit: visit, tag: tag, offers)
        case .askRun(let visit, let tag, let route, let payload):
            askRun(visit: visit, tag: tag, route, [UInt8](payload))
        case .askDispatch(let visit, let tag, let symbol, let payload):
            askDispatch(visit: visit, tag: tag, symbol: symbol, [UInt8](payload))
        case .askPublish(let visit, let tag, let channel, let payload):
            askPublish(visit: visit, tag: tag, channel: channel, [UInt8](payload))
        case .publish(let id, let channel, let key, let payload):
            publish(id: id, channel: channel, key: key, [UInt8](payload))
        case .read(let id, let channel, let epoch, let after):
            read(id: id, channel: channel, epoch: epoch, after: after)
        case .note(let visit, let region, let number, let revision):
            note(visit: visit, region: region, number: number, revision: revision)
        case .parked(let visit): parked(visit: visit)
        case .drained: drained()
        case .ping(let number): ping(number)
        case .pong(let number): pong(number)
        }
    }

    func write(_ message: KernelMessage) {
        switch message {
        case .welcome(let welcome): self.welcome(welcome)
        case .refused(let code, let message): refused(code: code, message: message)
        case .visit(let order): visit(order, of: nil)
        case .visitClosure(let asker, let order): visit(order, of: asker)
        case .cancelVisit(let visit): cancelVisit(visit)
        case .answer(let visit, let tag, let reply): answer(visit, tag, reply)
        case .reply(let id, .output(let bytes)): output(reply: id, [UInt8](bytes))
        case .reply(let id, .failure(let error)): failure(reply: id, error)
        case .reply(let id, .published(let sequence)): published(reply: id, sequence)
        case .reply(let id, .gap(let from, let to)): gap(reply: id, from: from, to: to)
        case .reply(let id, .events(let after, let events)):
            self.events(reply: id, after: after, count: events.count) { writer in
                for event in events {
                    writer.event(
                        sequence: event.sequence, at: event.at, flow: event.flow,
                        symbol: event.symbol, event.payload)
                }
            }
        case .reply: Issue.record("no writer makes such a reply")
        case .accepted(let id): accepted(id: id)
        case .snapshot(let part): snapshot(part)
        case .patch(let epoch, let counter, let changes):
            patch(epoch: epoch, counter: counter, changes)
        case .together(let count): together(count)
        case .digest(let region, let epoch, let counter, let digest):
            self.digest(region: region, epoch: epoch, counter: counter, digest)
        case .drain: drain()
        case .piece(let left, let bytes): piece(left: left, bytes)
        case .ping(let number): ping(number)
        case .pong(let number): pong(number)
        }
    }

    private func visit(_ order: KernelMessage.Delivery, of asker: KernelMessage.Asker?) {
        visit(
            of: asker, number: order.number, symbol: order.symbol, flow: order.flow,
            path: order.path, step: order.step, attempt: order.attempt, now: order.now,
            lowest: order.lowest, replay: order.replay, reads: order.reads,
            payload: [UInt8](order.payload))
    }

    private func answer(_ visit: UInt64, _ tag: UInt64, _ reply: KernelMessage.Reply) {
        switch reply {
        case .output(let bytes): output(answer: visit, tag, [UInt8](bytes))
        case .failure(let error): failure(answer: visit, tag, error)
        case .committed(let revision, let values):
            committed(answer: visit, tag, revision: revision, values: values)
        case .repeated(let revision, let earlier, let patches):
            repeated(answer: visit, tag, revision: revision, since: earlier, patches)
        case .conflict: conflict(answer: visit, tag)
        case .published(let sequence): published(answer: visit, tag, sequence)
        case .events, .gap: Issue.record("no writer makes such an answer")
        }
    }

    /// One part as it stands; the writer of the house only writes whole values.
    private func snapshot(_ part: KernelMessage.SnapshotPart) {
        let start = openFrame()
        array(8)
        uint(MessageKind.snapshot.rawValue)
        uint(0)
        text(part.region)
        for number in [part.epoch, part.counter, part.part, part.parts] { uint(number) }
        bytes(part.bytes)
        closeFrame(start)
    }
}
