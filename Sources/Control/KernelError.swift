/// What may have happened before a flow failed.
public enum Outcome: String, Sendable, Hashable {
    /// Nothing that anybody could notice.
    case none
    /// An effect may have been made.
    case unknown
}

/// An error as it crosses from one process to another: a code, a message, and whether it is worth
/// to try again. The kernel's own codes are a closed list; any other code is the application's.
public struct KernelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A word that programs compare.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The word.
        public let rawValue: String

        /// A code of an application's own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// What went wrong.
    public var code: Code
    /// What, where, and what to do, for people.
    public var message: String
    /// Whether something may have happened.
    public var outcome: Outcome
    /// Whether the same request may succeed later.
    public var retry: Bool

    /// An error of its parts.
    public init(_ code: Code, _ message: String, outcome: Outcome = .unknown, retry: Bool = false) {
        self.code = code
        self.message = message
        self.outcome = outcome
        self.retry = retry
    }

    /// `code: message`.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension KernelError.Code {
    /// The device is away and its queue is full, or it does not come back by itself; or the past
    /// that was asked for is not kept.
    public static let unavailable = Self(rawValue: "unavailable")
    /// The time of the whole flow is over.
    public static let deadline = Self(rawValue: "deadline")
    /// One attempt took longer than the symbol's limit.
    public static let attempt = Self(rawValue: "attempt")
    /// The device died while a visit that may not be repeated had begun.
    public static let deviceLost = Self(rawValue: "deviceLost")
    /// The visit killed its device each time that it was tried.
    public static let poisoned = Self(rawValue: "poisoned")
    /// A repeated handler asked for other things than before, after it had made an effect.
    public static let diverged = Self(rawValue: "diverged")
    /// The client, or the flow that asked, no longer wants the answer.
    public static let cancelled = Self(rawValue: "cancelled")
    /// Nobody answers the symbol, or there is no such region or channel.
    public static let unbound = Self(rawValue: "unbound")
    /// A word of the protocol that this build does not yet serve.
    public static let unsupported = Self(rawValue: "unsupported")
    /// More than a connection, a lane or a flow may have at once.
    public static let overloaded = Self(rawValue: "overloaded")
    /// One stage asked for more than its record can hold.
    public static let recordFull = Self(rawValue: "recordFull")
    /// Bytes that are not what the symbol takes.
    public static let malformed = Self(rawValue: "malformed")
    /// The manifest, or the state of the connection, does not allow it.
    public static let denied = Self(rawValue: "denied")
    /// The kernel went away before it answered.
    public static let kernelLost = Self(rawValue: "kernelLost")
    /// A value, a route or a message over its limit.
    public static let tooLarge = Self(rawValue: "tooLarge")
    /// A commit met newer values again and again.
    public static let conflict = Self(rawValue: "conflict")
    /// A `finally` did not run to its end.
    public static let finallyLost = Self(rawValue: "finallyLost")
    /// A stage ended its flow, or sent it on, with a value of another shape than the flow gives.
    public static let composeTypeMismatch = Self(rawValue: "composeTypeMismatch")
    /// The client looks at the past, where nothing is done until it has returned.
    public static let previewing = Self(rawValue: "previewing")
    /// Events of a channel that are no longer kept and were not handled or read.
    public static let gap = Self(rawValue: "gap")
    /// A handler threw an error that has no code of its own.
    public static let failed = Self(rawValue: "failed")

    /// Every code that the kernel itself uses.
    public static let kernel: [KernelError.Code] = [
        .unavailable, .deadline, .attempt, .deviceLost, .poisoned, .diverged, .cancelled, .unbound,
        .unsupported, .overloaded, .recordFull, .malformed, .denied, .kernelLost, .tooLarge,
        .conflict, .finallyLost, .composeTypeMismatch, .previewing, .gap, .failed,
    ]
}

/// An error of an application that keeps its code when it crosses a process boundary.
public protocol CodedError: Error {
    /// A word that programs compare.
    var code: String { get }
    /// What, where, and what to do, for people.
    var message: String { get }
    /// Whether the same request may succeed later.
    var retry: Bool { get }
}

extension KernelError {
    /// The error as it travels, whatever was thrown.
    public init(_ error: any Error) {
        switch error {
        case let error as KernelError: self = error
        case let error as any CodedError:
            self.init(Code(rawValue: error.code), error.message, retry: error.retry)
        case is CancellationError:
            self.init(.cancelled, "the handler was cancelled")
        default: self.init(.failed, "\(error)")
        }
    }
}
