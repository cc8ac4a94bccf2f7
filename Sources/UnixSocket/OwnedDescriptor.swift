internal import CLinux
internal import Glibc

/// A descriptor that is closed exactly once: when its owner lets go of it.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, for system calls; it stays owned here.
    package let number: Int32

    /// Takes over `number`, which must be open and owned by nobody else.
    package init(owning number: Int32) {
        precondition(number >= 0, "a descriptor that is not open cannot be owned")
        self.number = number
    }

    deinit { Glibc.close(number) }

    /// Gives the descriptor to the caller, who now has to close it.
    package consuming func take() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// Another descriptor of the same open file, close-on-exec.
    package func duplicate() throws(SocketError) -> OwnedDescriptor {
        try OwnedDescriptor(checking: clx_duplicate(number, 0), "cannot duplicate a descriptor")
    }

    /// Takes over the result of a system call.
    init(checking result: Int32, _ what: String, path: String? = nil) throws(SocketError) {
        guard result >= 0 else { throw SocketError.system(what, path: path) }
        self.init(owning: result)
    }
}

/// Two descriptors that belong together: the ends of a pipe or of a socket pair.
package struct DescriptorPair: ~Copyable, Sendable {
    /// The read end of a pipe.
    package var first: OwnedDescriptor?
    /// The write end of a pipe.
    package var second: OwnedDescriptor?

    /// Takes the first end out of the pair; it must still be there.
    package mutating func takeFirst() -> OwnedDescriptor { first.take()! }
    /// Takes the second end out of the pair; it must still be there.
    package mutating func takeSecond() -> OwnedDescriptor { second.take()! }
}

/// Two connected stream sockets, close-on-exec. Both block; a `Connection` never does, whatever its
/// socket is set to.
package func socketPair() throws(SocketError) -> DescriptorPair {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
        throw SocketError.system("cannot make a socket pair")
    }
    return DescriptorPair(
        first: OwnedDescriptor(owning: ends[0]), second: OwnedDescriptor(owning: ends[1]))
}

/// A pipe, close-on-exec: `first` is read, `second` written.
package func pipePair(nonBlocking: Bool = false) throws(SocketError) -> DescriptorPair {
    var ends: [Int32] = [-1, -1]
    guard clx_pipe(&ends, nonBlocking ? O_NONBLOCK : 0) == 0 else {
        throw SocketError.system("cannot make a pipe")
    }
    return DescriptorPair(
        first: OwnedDescriptor(owning: ends[0]), second: OwnedDescriptor(owning: ends[1]))
}
