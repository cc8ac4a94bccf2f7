/// What a stage says at its end: control is data, and it only moves forward.
public enum Verb<Forward> {
    /// The value goes on to the next stage.
    case next(Forward)
    /// The flow ends here, with success and this value.
    case abort(Abort)
    /// The flow goes on along another route.
    case divert(Divert)
    /// The flow ends here, with this error.
    case fail(any Error)

    /// The value with which a flow ends early.
    public struct Abort: Sendable {
        let shape: String
        let encode: @Sendable (any Coding) throws -> [UInt8]
    }

    /// Another route and the value that enters it.
    public struct Divert: Sendable {
        let name: String
        let shape: String
        let encode: @Sendable (any Coding) throws -> [UInt8]
    }

    /// Ends the flow with success and this value. Its shape must be that of the output of the whole
    /// pipe; otherwise the flow fails with `composeTypeMismatch`.
    public static func abort<T: Codable & Sendable>(_ value: T) -> Verb {
        .abort(Abort(shape: Shape.of(T.self)) { try $0.encode(value) })
    }

    /// Goes on along the pipe that is bound to a symbol. What that gives must have the shape of
    /// what the flow was to give; otherwise it fails with `composeTypeMismatch`.
    public static func divert<P, O>(to symbol: Symbol<P, O>, _ value: P) -> Verb
    where P: Codable & Sendable {
        .divert(
            Divert(name: symbol.name, shape: symbol.payload.shape) { try $0.encode(value) })
    }
}

/// A verb with its value encoded, as it travels.
public enum EncodedVerb: Sendable, Hashable {
    /// See `Verb.next`.
    case next([UInt8])
    /// See `Verb.abort`.
    case abort([UInt8], shape: String = "")
    /// See `Verb.divert`.
    case divert(String, [UInt8], shape: String = "")
    /// See `Verb.fail`.
    case fail(KernelError)
}

extension Verb {
    /// The verb as it travels.
    func encoded(_ coder: Coder<Forward>, _ coding: any Coding) throws -> EncodedVerb {
        switch self {
        case .next(let value): .next(try coder.encode(value, coding))
        case .abort(let abort): .abort(try abort.encode(coding), shape: abort.shape)
        case .divert(let divert):
            .divert(divert.name, try divert.encode(coding), shape: divert.shape)
        case .fail(let error): .fail(KernelError(error))
        }
    }
}
