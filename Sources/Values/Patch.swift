/// A list of changes to a value: RFC 6902. It applies as a whole or not at all.
public struct Patch: Sendable, Hashable {
    /// One change; the paths of each are read after the changes before it.
    public enum Operation: Sendable, Hashable {
        /// Sets a member, inserts before an element (`-`: after the last), or replaces the whole.
        case add(Pointer, Value)
        /// Takes away what stands there.
        case remove(Pointer)
        /// Puts a value in the place of what stands there.
        case replace(Pointer, Value)
        /// Takes away what stands at `from` and adds it at `to`.
        case move(from: Pointer, to: Pointer)
        /// Adds at `to` what stands at `from`.
        case copy(from: Pointer, to: Pointer)
        /// Refuses the patch unless what stands there is equal; numbers are equal by value.
        case test(Pointer, Value)
    }

    /// The changes in their order.
    public var operations: [Operation]

    /// Makes a patch of its changes.
    public init(_ operations: [Operation] = []) {
        self.operations = operations
    }

    /// Whether this changes nothing.
    public var isEmpty: Bool { operations.isEmpty }

    /// How much `copy` may add in one patch, in bytes of ``Value/weight(limit:)``: each copy can
    /// double the value, and thirty would fill the memory of whoever prints it.
    public static let copyLimit = 16 * 1024 * 1024

    /// The effort that one patch may be: the elements that its insertions and removals shift in
    /// arrays, and the bytes of ``Value/weight(limit:)`` of what it moves. Without it a message of
    /// a few megabytes could occupy whoever applies it for minutes. No patch that
    /// ``difference(from:to:)`` makes is more.
    public static let effortLimit = 64 << 20
}

/// Why a patch was refused; the value that it was for is as before.
public struct PatchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: String, Sendable {
        /// The patch is not in the form of RFC 6902.
        case malformed
        /// Nothing stands at the path, or on the way to it.
        case notFound
        /// A token on the way into an array is no index of it.
        case badIndex
        /// The whole value cannot be removed, nor anything be moved into itself.
        case impossible
        /// A `test` found something else.
        case testFailed
        /// The result would be deeper than ``Value/depthLimit``, or the copies or the effort exceed
        /// their limit.
        case tooLarge
    }

    /// The kind of failure, for a program to act upon.
    public let code: Code
    /// The position of the operation in the patch, from 0.
    public var operation: Int
    /// The text of the path that could not be followed.
    public let path: String
    /// One sentence for a person.
    public let message: String

    init(_ code: Code, at path: Pointer, _ message: String, operation: Int = 0) {
        self.init(code, at: path.description, message, operation: operation)
    }

    init(_ code: Code, at path: String, _ message: String, operation: Int = 0) {
        self.code = code
        self.operation = operation
        self.path = path
        self.message = message
    }

    /// One line for a person.
    public var description: String {
        "operation \(operation) at \"\(path)\": \(message)"
    }
}
