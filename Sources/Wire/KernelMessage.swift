package import Control
package import Values

/// A message from the kernel to a device or client. Payloads are borrowed from the frame.
package enum KernelMessage {
    case welcome(Welcome)
    case refused(code: String, message: String)
    case visit(Delivery)
    /// A closure of a pipe that a visit runs; the symbol counts the closures of that pipe.
    case visitClosure(of: Asker, Delivery)
    case cancelVisit(UInt64)
    case answer(visit: UInt64, tag: UInt64, Reply)
    case reply(id: UInt64, Reply)
    case accepted(id: UInt64)
    case snapshot(SnapshotPart)
    case patch(epoch: UInt64, counter: UInt64, [Change])
    /// The next so many snapshots and patches are applied as one.
    case together(UInt64)
    /// What the value of a place is at a revision, in short; see `ContentDigest`.
    case digest(region: String, epoch: UInt64, counter: UInt64, UInt64)
    case drain
    /// A piece of a message that is larger than a frame, and how many follow it; see `Pieces`.
    case piece(left: UInt64, UnsafeRawBufferPointer)
    case ping(UInt64)
    case pong(UInt64)

    /// How a question ended.
    package enum Reply {
        case output(UnsafeRawBufferPointer)
        case failure(KernelError)
        /// The commit is made; in a repeat, the values that it was applied to.
        case committed(revision: UInt64, values: [Value]?)
        /// The same in a repeat, as what differs from the values of an earlier commit of the visit.
        case repeated(revision: UInt64, since: UInt64, [Patch])
        case conflict
        /// The event stands in its channel under this number.
        case published(UInt64)
        /// What comes after an event of a channel.
        case events(after: UInt64, [WireEvent])
        /// Events of a channel that are no longer kept.
        case gap(from: UInt64, to: UInt64)

        fileprivate var fields: Int {
            switch self {
            case .output, .failure, .published: 2
            case .committed, .events, .gap: 3
            case .repeated: 4
            case .conflict: 1
            }
        }
    }

    /// The question by which a visit runs a pipe.
    package struct Asker: Hashable, Sendable {
        package var visit: UInt64
        package var tag: UInt64

        package init(visit: UInt64, tag: UInt64) {
            self.visit = visit
            self.tag = tag
        }
    }

    /// One delivery of a stage; see `protocol/wire.md`.
    package struct Delivery {
        package var number: UInt64
        package var symbol: UInt64
        package var flow: UInt64
        package var path: String?
        package var step: UInt32
        package var attempt: UInt32
        package var now: Int64
        package var lowest: UInt64
        package var replay: Bool
        package var reads: [Read]
        package var payload: UnsafeRawBufferPointer
    }

    /// A read that a repeat gets again.
    package struct Read {
        package var region: String
        package var number: UInt32
        package var revision: UInt64
        package var value: Value

        package init(region: String, number: UInt32, revision: UInt64, value: Value) {
            self.region = region
            self.number = number
            self.revision = revision
            self.value = value
        }
    }

    /// A part of a region's whole value; the parts are applied together.
    package struct SnapshotPart {
        package var region: String
        package var epoch: UInt64
        package var counter: UInt64
        package var part: UInt64
        package var parts: UInt64
        package var bytes: UnsafeRawBufferPointer
    }

    /// The change of one region.
    package struct Change {
        package var region: String
        package var from: UInt64
        package var patch: Patch

        package init(region: String, from: UInt64, patch: Patch) {
            self.region = region
            self.from = from
            self.patch = patch
        }
    }

    /// The message of one frame's body.
    /// - Throws: `WireError`; the connection cannot be trusted after it.
    package init(_ body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = CBORReader(body)
        let (kind, fields) = try reader.kind()
        do {
            self = try Self.read(kind, &reader)
            try reader.expect(self.fields, of: kind, fields)
            try reader.finish()
        } catch let error as WireError {
            throw error
        } catch let error as CBORError {
            throw .malformed(error)
        } catch {
            throw .field("\(error)")
        }
    }

    /// How many fields stand behind the two that all messages share.
    private var fields: Int {
        switch self {
        case .drain: 0
        case .welcome, .cancelVisit, .accepted, .together, .ping, .pong: 1
        case .refused, .piece: 2
        case .patch: 3
        case .digest: 4
        case .snapshot: 6
        case .visit: 11
        case .visitClosure: 13
        case .answer(_, _, let reply): 2 + reply.fields
        case .reply(_, let reply): 1 + reply.fields
        }
    }

    private static func read(
        _ kind: MessageKind, _ reader: inout CBORReader
    ) throws -> KernelMessage {
        switch kind {
        case .visit: return .visit(try reader.delivery())
        case .visitClosure:
            let asker = Asker(visit: try reader.uint(), tag: try reader.uint())
            return .visitClosure(of: asker, try reader.delivery())
        case .reply: return .reply(id: try reader.uint(), try reader.reply())
        case .answer:
            return .answer(
                visit: try reader.uint(), tag: try reader.uint(), try reader.reply())
        case .patch:
            return .patch(
                epoch: try reader.uint(), counter: try reader.uint(), try reader.changes())
        case .snapshot:
            return .snapshot(
                SnapshotPart(
                    region: try reader.name(), epoch: try reader.uint(),
                    counter: try reader.uint(), part: try reader.uint(),
                    parts: try reader.uint(), bytes: try reader.bytes()))
        case .cancelVisit: return .cancelVisit(try reader.uint())
        case .accepted: return .accepted(id: try reader.uint())
        case .welcome: return .welcome(try Welcome(value: try reader.value()))
        case .refused: return .refused(code: try reader.text(), message: try reader.text())
        case .together: return .together(try reader.uint())
        case .digest:
            return .digest(
                region: try reader.name(), epoch: try reader.uint(), counter: try reader.uint(),
                try reader.uint())
        case .drain: return .drain
        case .piece: return .piece(left: try reader.uint(), try reader.bytes())
        case .ping: return .ping(try reader.uint())
        case .pong: return .pong(try reader.uint())
        default: throw WireError.unknownKind(kind.rawValue)
        }
    }
}

extension CBORReader {
    fileprivate mutating func delivery() throws -> KernelMessage.Delivery {
        KernelMessage.Delivery(
            number: try uint(), symbol: try uint(), flow: try uint(), path: try optionalText(),
            step: try milliseconds(), attempt: try milliseconds(), now: try int(),
            lowest: try uint(), replay: try bool(), reads: try reads(), payload: try bytes())
    }

    fileprivate mutating func reads() throws -> [KernelMessage.Read] {
        let count = try array()
        var reads: [KernelMessage.Read] = []
        for _ in 0..<count {
            guard try array() == 4 else { throw WireError.field("read") }
            reads.append(
                KernelMessage.Read(
                    region: try name(), number: try milliseconds(), revision: try uint(),
                    value: try value()))
        }
        return reads
    }

    fileprivate mutating func reply() throws -> KernelMessage.Reply {
        switch try uint() {
        case 0: return .output(try bytes())
        case 1: return .failure(try error())
        case 2:
            let revision = try uint()
            guard !skipNull() else { return .committed(revision: revision, values: nil) }
            var values: [Value] = []
            for _ in 0..<(try array()) { values.append(try value()) }
            return .committed(revision: revision, values: values)
        case 3: return .conflict
        case 4: return .published(try uint())
        case 5: return try events()
        case 6: return try gap()
        case 7: return .repeated(revision: try uint(), since: try uint(), try patches())
        default: throw WireError.field("reply")
        }
    }

    fileprivate mutating func changes() throws -> [KernelMessage.Change] {
        let count = try array()
        var changes: [KernelMessage.Change] = []
        for _ in 0..<count {
            guard try array() == 3 else { throw WireError.field("change") }
            changes.append(
                KernelMessage.Change(
                    region: try name(), from: try uint(), patch: try patch()))
        }
        return changes
    }
}

extension CBORWriter {
    package func welcome(_ welcome: Welcome) {
        frame(.welcome, 1) { $0.value(welcome.value) }
    }

    package func refused(code: String, message: String) {
        frame(.refused, 2) {
            $0.text(code)
            $0.text(message)
        }
    }

    /// The delivery's payload stands apart because it is kept elsewhere.
    package func visit(
        of asker: KernelMessage.Asker? = nil, number: UInt64, symbol: UInt64, flow: UInt64,
        path: String?, step: UInt32,
        attempt: UInt32, now: Int64, lowest: UInt64, replay: Bool, reads: [KernelMessage.Read],
        payload: [UInt8]
    ) {
        frame(asker == nil ? .visit : .visitClosure, asker == nil ? 11 : 13) {
            if let asker {
                $0.uint(asker.visit)
                $0.uint(asker.tag)
            }
            $0.uint(number)
            $0.uint(symbol)
            $0.uint(flow)
            $0.optional(path)
            $0.uint(UInt64(step))
            $0.uint(UInt64(attempt))
            $0.int(now)
            $0.uint(lowest)
            $0.bool(replay)
            $0.array(reads.count)
            for read in reads {
                $0.array(4)
                $0.text(read.region)
                $0.uint(UInt64(read.number))
                $0.uint(read.revision)
                $0.value(read.value)
            }
            $0.bytes(payload)
        }
    }

    package func cancelVisit(_ visit: UInt64) {
        frame(.cancelVisit, 1) { $0.uint(visit) }
    }

    package func output(reply id: UInt64, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { output(reply: id, $0) }
    }

    package func output(reply id: UInt64, _ bytes: UnsafeRawBufferPointer) {
        frame(.reply, 3) {
            $0.uint(id)
            $0.uint(0)
            $0.bytes(bytes)
        }
    }

    package func failure(reply id: UInt64, _ error: KernelError) {
        frame(.reply, 3) {
            $0.uint(id)
            $0.uint(1)
            $0.error(error)
        }
    }

    package func output(answer visit: UInt64, _ tag: UInt64, _ bytes: [UInt8]) {
        frame(.answer, 4) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(0)
            $0.bytes(bytes)
        }
    }

    package func failure(answer visit: UInt64, _ tag: UInt64, _ error: KernelError) {
        frame(.answer, 4) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(1)
            $0.error(error)
        }
    }

    package func committed(
        answer visit: UInt64, _ tag: UInt64, revision: UInt64, values: [Value]?
    ) {
        frame(.answer, 5) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(2)
            $0.uint(revision)
            guard let values else { return $0.null() }
            $0.array(values.count)
            for value in values { $0.value(value) }
        }
    }

    package func conflict(answer visit: UInt64, _ tag: UInt64) {
        frame(.answer, 3) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(3)
        }
    }

    package func accepted(id: UInt64) {
        frame(.accepted, 1) { $0.uint(id) }
    }

    /// The whole value of a region, in parts of at most `WireLimits.snapshotPart`, and its digest.
    package func snapshot(region: String, epoch: UInt64, counter: UInt64, _ value: Value) {
        let writer = CBORWriter(capacity: 1_024)
        writer.value(value)
        writer.withBytes { bytes in
            let size = WireLimits.snapshotPart
            let parts = max(1, (bytes.count + size - 1) / size)
            for part in 0..<parts {
                let end = min(bytes.count, (part + 1) * size)
                frame(.snapshot, 6) {
                    $0.text(region)
                    $0.uint(epoch)
                    $0.uint(counter)
                    $0.uint(UInt64(part))
                    $0.uint(UInt64(parts))
                    $0.bytes(UnsafeRawBufferPointer(rebasing: bytes[(part * size)..<end]))
                }
            }
            digest(
                region: region, epoch: epoch, counter: counter, ContentDigest.of(encoded: bytes))
        }
    }

    package func patch(epoch: UInt64, counter: UInt64, _ changes: [KernelMessage.Change]) {
        frame(.patch, 3) {
            $0.uint(epoch)
            $0.uint(counter)
            $0.array(changes.count)
            for change in changes {
                $0.array(3)
                $0.text(change.region)
                $0.uint(change.from)
                $0.patch(change.patch)
            }
        }
    }

    package func drain() {
        frame(.drain, 0) { _ in }
    }
}
