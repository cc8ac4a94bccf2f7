/// The first element of every frame. The numbers are frozen; see `protocol/wire.md`.
package enum MessageKind: UInt64, CaseIterable, Sendable {
    // From a peer.
    case hello = 1
    case name = 5
    case call = 10
    case dispatch = 11
    case cancel = 12
    case follow = 13
    case unfollow = 14
    case publish = 15
    case read = 16
    case resume = 17
    case check = 18
    case mismatch = 19
    case ready = 20
    case returned = 21
    case askCall = 22
    case askCommit = 23
    case note = 24
    case parked = 25
    case drained = 26
    case askRun = 27
    case askDispatch = 28
    case askPublish = 29
    // Both ways.
    case ping = 30
    case pong = 31
    // From the kernel.
    case welcome = 2
    case refused = 3
    case visit = 40
    case cancelVisit = 41
    case answer = 42
    case reply = 43
    case accepted = 44
    case snapshot = 45
    case patch = 46
    case drain = 47
    case visitClosure = 48
    case together = 52
    case digest = 53
    case piece = 54
}

/// Why a frame is not a message.
package enum WireError: Error, CustomStringConvertible {
    /// The bytes are not the CBOR that the kind asks for.
    case malformed(CBORError)
    /// A kind that this build does not know, or that does not come from this side.
    case unknownKind(UInt64)
    /// The array has more or fewer fields than the kind asks for.
    case fields(MessageKind, Int)
    /// A field has a value that it cannot have.
    case field(String)
    /// A message that may not come where it stands; the text says what.
    case order(String)
    /// The frame says that descriptors ride along, which this build does not take yet.
    case descriptors(UInt64)

    package var description: String {
        switch self {
        case .malformed(let error): "the frame is malformed: \(error)"
        case .unknownKind(let kind):
            "the message kind \(kind) is not known to wire \(WireVersion.wire)"
        case .fields(let kind, let count): "the message \(kind) does not have \(count) fields"
        case .field(let name): "the field \(name) is out of its range"
        case .order(let what): what
        case .descriptors(let count):
            "\(count) descriptors ride along; this build (\(WireVersion.build)) takes none"
        }
    }
}
