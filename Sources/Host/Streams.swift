import Glibc

/// Writes to a stream of whoever started the kernel. The kernel never waits for a terminal that
/// stands still, a pipe that nobody reads or one that is gone: what does not go out now is lost.
func put(_ text: String, on stream: Int32) {
    var text = text
    text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            var end = pollfd(fd: stream, events: Int16(POLLOUT), revents: 0)
            guard poll(&end, 1, 0) > 0, end.revents & Int16(POLLOUT) != 0 else { return }
            // A stream that is writable takes so much without waiting.
            let count = write(stream, rest.baseAddress, min(rest.count, streamPiece))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}

private let streamPiece = 256
