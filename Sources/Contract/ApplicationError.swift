/// Why an operation of the application was refused. It crosses a process boundary as these three
/// parts, so callers match `code` and never the message.
public struct ApplicationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One of `Code`.
    public var code: String
    /// One sentence for a person: what, where, and what to do.
    public var message: String
    /// Whether the same request may succeed when it is sent again unchanged.
    public var retry: Bool

    /// Makes an error; most are about the request itself, so trying again is the exception.
    public init(code: String, message: String, retry: Bool = false) {
        self.code = code
        self.message = message
        self.retry = retry
    }

    /// The code and the message, for logs.
    public var description: String { "\(code): \(message)" }

    /// The codes that the application uses. They are text, so that a client of another build can
    /// carry one that it does not know.
    public enum Code {
        /// A slideshow, a slide or a path that does not exist.
        public static let notFound = "notFound"
        /// A name that is empty, too long, or holds control characters.
        public static let invalidName = "invalidName"
        /// A title that is too long or holds control characters.
        public static let invalidTitle = "invalidTitle"
        /// An order that is not a permutation of the slides that remain.
        public static let invalidOrder = "invalidOrder"
        /// A path that is relative, empty or holds a zero byte.
        public static let invalidPath = "invalidPath"
        /// A cursor that no scan of these paths gave.
        public static let invalidCursor = "invalidCursor"
        /// An invocation key of a form that the store cannot prune.
        public static let invalidKey = "invalidKey"
        /// Files whose names no text can carry were not imported; the others were.
        public static let leftOut = "leftOut"
        /// A slideshow without a single photo.
        public static let noPhotos = "noPhotos"
        /// A file or folder that the user may not read.
        public static let unreadable = "unreadable"
        /// The library file could not be read or written.
        public static let storage = "storage"
    }
}
