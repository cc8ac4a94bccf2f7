/// What a stage says at its end: control is data, and it only moves forward.
public enum Verb<Forward> {
    /// The value goes on to the next stage.
    case next(Forward)
    /// The flow ends here, with success and this value.
    case abort(Abort)
    /// The flow goes on along another route. Not yet served: the kernel answers `unsupported`.
    case divert(Divert)
    /// The flow ends here, with this error.
    case fail(any Error)

    /// The value with which a flow ends early.
    public struct Abort: Sendable {
        let encode: @Sendable (any Coding) throws -> [UInt8]
    }

    /// Another route and the value that enters it.
    public struct Divert: Sendable {
        let name: String
        let encode: @Sendable (any Coding) throws -> [UInt8]
    }

    /// Ends the flow with success and this value, whose type must be the output of the whole pipe.
    public static func abort<T: Codable & Sendable>(_ value: T) -> Verb {
        .abort(Abort { try $0.encode(value) })
    }

    /// Goes on along the pipe that is bound to a symbol.
    public static func divert<P, O>(to symbol: Symbol<P, O>, _ value: P) -> Verb
    where P: Codable & Sendable {
        .divert(Divert(name: symbol.name) { try $0.encode(value) })
    }
}

/// A verb with its value encoded, as it travels.
public enum EncodedVerb: Sendable, Hashable {
    /// See `Verb.next`.
    case next([UInt8])
    /// See `Verb.abort`.
    case abort([UInt8])
    /// See `Verb.divert`.
    case divert(String, [UInt8])
    /// See `Verb.fail`.
    case fail(KernelError)
}

extension Verb {
    /// The verb as it travels.
    func encoded(_ coder: Coder<Forward>, _ coding: any Coding) throws -> EncodedVerb {
        switch self {
        case .next(let value): .next(try coder.encode(value, coding))
        case .abort(let abort): .abort(try abort.encode(coding))
        case .divert(let divert): .divert(divert.name, try divert.encode(coding))
        case .fail(let error): .fail(KernelError(error))
        }
    }
}
