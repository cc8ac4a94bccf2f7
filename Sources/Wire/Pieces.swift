/// Messages that are larger than a frame.
///
/// What the kernel must give a repeat (the values that a stage has read, or has changed) may be
/// larger than any frame. Such a message comes as pieces that follow each other, with nothing
/// between them; their bytes, one after the other, are its body.
extension CBORWriter {
    /// Replaces the frame that begins at a position by pieces of it, if it is too large.
    package func cut(from start: Int) {
        guard count - start - 4 > WireLimits.frame else { return }
        let body = [UInt8](UnsafeRawBufferPointer(rebasing: written[(start + 4)...]))
        truncate(to: start)
        let size = WireLimits.snapshotPart
        let pieces = (body.count + size - 1) / size
        body.withUnsafeBytes { body in
            for piece in 0..<pieces {
                let end = min(body.count, (piece + 1) * size)
                self.piece(
                    left: UInt64(pieces - 1 - piece),
                    UnsafeRawBufferPointer(rebasing: body[(piece * size)..<end]))
            }
        }
    }

    /// One piece, with the number of those that follow it.
    package func piece(left: UInt64, _ bytes: UnsafeRawBufferPointer) {
        frame(.piece, 2) {
            $0.uint(left)
            $0.bytes(bytes)
        }
    }
}

/// The pieces of one message, until it is whole.
package struct Pieces {
    private var bytes: [UInt8] = []
    private var left: UInt64?

    package init() {}

    /// Whether some pieces of a message have come, and others have not.
    package var isOpen: Bool { left != nil }

    /// Takes the next piece.
    /// - Returns: the body of the message when this was its last piece.
    /// - Throws: `WireError` when a piece is missing, or the message is too large.
    package mutating func take(
        left next: UInt64, _ piece: UnsafeRawBufferPointer
    ) throws(WireError) -> [UInt8]? {
        if let left {
            guard next == left - 1 else { throw .field("the number of a piece") }
        }
        guard bytes.count + piece.count <= WireLimits.pieced else { throw .field("a piece") }
        bytes.append(contentsOf: piece)
        left = next > 0 ? next : nil
        guard next == 0 else { return nil }
        defer { bytes = [] }
        return bytes
    }
}
