package import Control
package import Values

/// A message from a device or client to the kernel. Payloads are borrowed from the frame.
package enum PeerMessage {
    case hello(Hello)
    /// A number for a name, for the life of the connection.
    case name(index: UInt64, String)
    case call(
        id: UInt64, symbol: UInt64, deadline: UInt32, key: String?, UnsafeRawBufferPointer)
    case dispatch(id: UInt64, symbol: UInt64, key: String?, UnsafeRawBufferPointer)
    case cancel(id: UInt64)
    case follow(id: UInt64, region: String)
    case unfollow(region: String)
    /// Follows several places at once, from the revisions at which the peer has them.
    case resume(id: UInt64, [Known])
    /// Asks for the digest of a place.
    case check(id: UInt64, region: String)
    /// The peer has another value of a place at a revision than the digest says.
    case mismatch(region: String, epoch: UInt64, counter: UInt64)
    /// An event for a channel.
    case publish(id: UInt64, channel: String, key: String?, UnsafeRawBufferPointer)
    /// What comes after an event of a channel; nil: from now on.
    case read(id: UInt64, channel: String, epoch: UInt64?, after: UInt64?)
    case ready
    case returned(visit: UInt64, EncodedVerb)
    case askCall(
        visit: UInt64, tag: UInt64, symbol: UInt64, deadline: UInt32, UnsafeRawBufferPointer)
    case askCommit(visit: UInt64, tag: UInt64, [RegionOffer])
    case askRun(visit: UInt64, tag: UInt64, RouteDescriptor, UnsafeRawBufferPointer)
    case askDispatch(visit: UInt64, tag: UInt64, symbol: UInt64, UnsafeRawBufferPointer)
    case askPublish(visit: UInt64, tag: UInt64, channel: String, UnsafeRawBufferPointer)
    case note(visit: UInt64, region: String, number: UInt32, revision: UInt64)
    case parked(visit: UInt64)
    case drained
    case ping(UInt64)
    case pong(UInt64)

    /// The message of one frame's body.
    /// - Throws: `WireError`; the connection cannot be trusted after it.
    package init(_ body: UnsafeRawBufferPointer) throws(WireError) {
        self = try CBORReader.message(body, Self.read) { $0.fields }
    }

    /// How many fields stand behind the two that all messages share.
    private var fields: Int {
        switch self {
        case .ready, .drained: 0
        case .hello, .cancel, .unfollow, .parked, .ping, .pong: 1
        case .name, .follow, .resume, .check: 2
        case .returned(_, .divert): 5
        case .returned(_, .abort), .dispatch, .note, .askRun, .askDispatch, .askPublish,
            .publish, .read:
            4
        case .returned, .askCommit, .mismatch: 3
        case .call, .askCall: 5
        }
    }

    private static func read(
        _ kind: MessageKind, _ reader: inout CBORReader
    ) throws -> PeerMessage {
        switch kind {
        case .call:
            return .call(
                id: try reader.uint(), symbol: try reader.uint(),
                deadline: try reader.uint32(), key: try reader.optionalText(),
                try reader.bytes())
        case .returned: return .returned(visit: try reader.uint(), try reader.verb())
        case .askCall:
            return .askCall(
                visit: try reader.uint(), tag: try reader.uint(), symbol: try reader.uint(),
                deadline: try reader.uint32(), try reader.bytes())
        case .dispatch:
            return .dispatch(
                id: try reader.uint(), symbol: try reader.uint(),
                key: try reader.optionalText(), try reader.bytes())
        case .askCommit:
            return .askCommit(
                visit: try reader.uint(), tag: try reader.uint(), try reader.offers())
        case .askRun:
            return .askRun(
                visit: try reader.uint(), tag: try reader.uint(),
                try RouteDescriptor(value: try reader.value()), try reader.bytes())
        case .askDispatch:
            return .askDispatch(
                visit: try reader.uint(), tag: try reader.uint(), symbol: try reader.uint(),
                try reader.bytes())
        case .askPublish:
            return .askPublish(
                visit: try reader.uint(), tag: try reader.uint(), channel: try reader.name(),
                try reader.bytes())
        case .publish:
            return .publish(
                id: try reader.uint(), channel: try reader.name(),
                key: try reader.optionalText(), try reader.bytes())
        case .read:
            return .read(
                id: try reader.uint(), channel: try reader.name(),
                epoch: try reader.optionalUInt(), after: try reader.optionalUInt())
        case .note:
            return .note(
                visit: try reader.uint(), region: try reader.name(),
                number: try reader.uint32(), revision: try reader.uint())
        case .parked: return .parked(visit: try reader.uint())
        case .hello: return .hello(try Hello(value: try reader.value()))
        case .name: return .name(index: try reader.uint(), try reader.name())
        case .cancel: return .cancel(id: try reader.uint())
        case .follow: return .follow(id: try reader.uint(), region: try reader.name())
        case .unfollow: return .unfollow(region: try reader.name())
        case .resume, .check, .mismatch: return try reader.follow(kind)
        case .ready: return .ready
        case .drained: return .drained
        case .ping: return .ping(try reader.uint())
        case .pong: return .pong(try reader.uint())
        default: throw WireError.unknownKind(kind.rawValue)
        }
    }
}

/// What the verbs are numbered with.
private enum VerbKind: UInt64 {
    case next = 0
    case abort = 1
    case divert = 2
    case fail = 3
}

extension CBORReader {
    mutating func verb() throws -> EncodedVerb {
        switch VerbKind(rawValue: try uint()) {
        case .next: return .next([UInt8](try bytes()))
        case .abort: return .abort([UInt8](try bytes()), shape: try text())
        case .divert: return .divert(try name(), [UInt8](try bytes()), shape: try text())
        case .fail: return .fail(try error())
        case nil: throw WireError.field("verb")
        }
    }

    mutating func offers() throws -> [RegionOffer] {
        try rows("regions of a commit", of: 3, 1...WireLimits.committed) { row in
            RegionOffer(
                region: try row.name(), base: try row.uint(),
                patch: row.skipNull() ? nil : try row.patch())
        }
    }
}

extension CBORWriter {
    package func hello(_ hello: Hello) {
        frame(.hello, 1) { $0.value(hello.value) }
    }

    package func name(index: UInt64, _ name: String) {
        frame(.name, 2) {
            $0.uint(index)
            $0.text(name)
        }
    }

    package func call(
        id: UInt64, symbol: UInt64, deadline: UInt32, key: String?, _ payload: [UInt8]
    ) {
        frame(.call, 5) {
            $0.uint(id)
            $0.uint(symbol)
            $0.uint(UInt64(deadline))
            $0.optional(key)
            $0.bytes(payload)
        }
    }

    package func dispatch(id: UInt64, symbol: UInt64, key: String?, _ payload: [UInt8]) {
        frame(.dispatch, 4) {
            $0.uint(id)
            $0.uint(symbol)
            $0.optional(key)
            $0.bytes(payload)
        }
    }

    package func cancel(id: UInt64) {
        frame(.cancel, 1) { $0.uint(id) }
    }

    package func follow(id: UInt64, region: String) {
        frame(.follow, 2) {
            $0.uint(id)
            $0.text(region)
        }
    }

    package func unfollow(region: String) {
        frame(.unfollow, 1) { $0.text(region) }
    }

    package func ready() {
        frame(.ready, 0) { _ in }
    }

    package func drained() {
        frame(.drained, 0) { _ in }
    }

    package func returned(visit: UInt64, _ verb: EncodedVerb) {
        switch verb {
        case .next(let bytes): returned(visit, .next, 1) { $0.bytes(bytes) }
        case .abort(let bytes, let shape):
            returned(visit, .abort, 2) {
                $0.bytes(bytes)
                $0.text(shape)
            }
        case .divert(let name, let bytes, let shape):
            returned(visit, .divert, 3) {
                $0.text(name)
                $0.bytes(bytes)
                $0.text(shape)
            }
        case .fail(let error): returned(visit, .fail, 1) { $0.error(error) }
        }
    }

    /// - Parameter count: the fields that `fields` writes.
    @inline(__always)
    private func returned(
        _ visit: UInt64, _ kind: VerbKind, _ count: Int, _ fields: (CBORWriter) -> Void
    ) {
        frame(.returned, 2 + count) {
            $0.uint(visit)
            $0.uint(kind.rawValue)
            fields($0)
        }
    }

    package func askCall(
        visit: UInt64, tag: UInt64, symbol: UInt64, deadline: UInt32, _ payload: [UInt8]
    ) {
        frame(.askCall, 5) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(symbol)
            $0.uint(UInt64(deadline))
            $0.bytes(payload)
        }
    }

    package func askCommit(visit: UInt64, tag: UInt64, _ offers: [RegionOffer]) {
        frame(.askCommit, 3) {
            $0.uint(visit)
            $0.uint(tag)
            $0.array(offers.count)
            for offer in offers {
                $0.array(3)
                $0.text(offer.region)
                $0.uint(offer.base)
                if let patch = offer.patch { $0.patch(patch) } else { $0.null() }
            }
        }
    }

    package func askRun(
        visit: UInt64, tag: UInt64, _ route: RouteDescriptor, _ payload: [UInt8]
    ) {
        frame(.askRun, 4) {
            $0.uint(visit)
            $0.uint(tag)
            $0.value(route.value)
            $0.bytes(payload)
        }
    }

    package func askDispatch(visit: UInt64, tag: UInt64, symbol: UInt64, _ payload: [UInt8]) {
        frame(.askDispatch, 4) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(symbol)
            $0.bytes(payload)
        }
    }

    package func note(visit: UInt64, region: String, number: UInt32, revision: UInt64) {
        frame(.note, 4) {
            $0.uint(visit)
            $0.text(region)
            $0.uint(UInt64(number))
            $0.uint(revision)
        }
    }

    package func parked(visit: UInt64) {
        frame(.parked, 1) { $0.uint(visit) }
    }

    package func ping(_ number: UInt64) {
        frame(.ping, 1) { $0.uint(number) }
    }

    package func pong(_ number: UInt64) {
        frame(.pong, 1) { $0.uint(number) }
    }
}
