internal import Control
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
    case patch(epoch: UInt64, counter: UInt64, [RegionChange])
    /// The next so many snapshots and patches are applied as one.
    case together(UInt64)
    /// What the value of a place is at a revision, in short; see `ContentDigest`.
    case digest(region: String, epoch: UInt64, counter: UInt64, UInt64)
    case drain
    /// A piece of a message that is larger than a frame, and how many follow it; see `Pieces`.
    case piece(left: UInt64, UnsafeRawBufferPointer)
    case ping(UInt64)
    case pong(UInt64)

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
        package var reads: [RegionRead]
        package var payload: UnsafeRawBufferPointer
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

    /// The message of one frame's body.
    /// - Throws: `WireError`; the connection cannot be trusted after it.
    package init(_ body: UnsafeRawBufferPointer) throws(WireError) {
        self = try CBORReader.message(body, Self.read) { $0.fields }
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
            step: try uint32(), attempt: try uint32(), now: try int(),
            lowest: try uint(), replay: try bool(), reads: try reads(), payload: try bytes())
    }

    fileprivate mutating func reads() throws -> [RegionRead] {
        try rows("reads", of: 4) { row in
            RegionRead(
                region: try row.name(), number: try row.uint32(), revision: try row.uint(),
                value: try row.value())
        }
    }

    fileprivate mutating func changes() throws -> [RegionChange] {
        try rows("changes", of: 3) { row in
            RegionChange(region: try row.name(), from: try row.uint(), patch: try row.patch())
        }
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
        attempt: UInt32, now: Int64, lowest: UInt64, replay: Bool, reads: [RegionRead],
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

    package func patch(epoch: UInt64, counter: UInt64, _ changes: [RegionChange]) {
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
