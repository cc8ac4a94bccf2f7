internal import Glibc

/// What went wrong with a socket or a descriptor, where, and what to do about it.
package struct SocketError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The name of an instance holds other characters than `[A-Za-z0-9._-]`, or not 1 to 64 of
        /// them, or begins with a dot.
        case badName
        /// The path does not fit into a socket address.
        case pathTooLong
        /// The socket's directory belongs to someone else or is open to others.
        case unsafeDirectory
        /// Something that is not a socket stands at the path.
        case inTheWay
        /// Another process serves the path.
        case inUse
        /// Nobody serves the path.
        case notServed
        /// The server at the path belongs to another user.
        case foreignServer
        /// The server is there and has no room for one more now.
        case busy
        /// More descriptors than one message may carry.
        case tooManyDescriptors
        /// A system call failed; `errno` says how.
        case system
    }

    package var code: Code
    /// The file that it is about.
    package var path: String?
    /// The error number of the system call, 0 if there was none.
    package var errno: Int32
    /// The process that stands in the way, if it is known.
    package var pid: Int32?
    /// What went wrong, without the path and the error number.
    package var message: String
    /// What to do.
    package var advice: String?

    package init(
        _ code: Code, _ message: String, path: String? = nil, errno: Int32 = 0, pid: Int32? = nil,
        advice: String? = nil
    ) {
        self.code = code
        self.path = path
        self.errno = errno
        self.pid = pid
        self.message = message
        self.advice = advice
    }

    /// One line: what, where, why, what to do.
    package var description: String {
        var line = message
        if let path { line += ": \(path)" }
        if errno != 0 { line += ": \(Self.text(of: errno))" }
        if let advice { line += "; \(advice)" }
        return line
    }

    /// The system's words for an error number.
    package static func text(of number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard strerror_r(number, buffer.baseAddress!, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: buffer.baseAddress!)
        }
    }

    /// The failure of the system call that was just made.
    static func system(_ message: String, path: String? = nil, advice: String? = nil) -> SocketError
    {
        let number = Glibc.errno
        return SocketError(.system, message, path: path, errno: number, advice: advice)
    }
}
