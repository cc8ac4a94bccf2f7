/// Framing: a length of four bytes, big-endian, then that many bytes of CBOR.
///
/// It is fed whatever has arrived and asked for whole frames; it holds nothing itself.
package enum Frame {
    /// What stands at the beginning of bytes.
    package enum Next {
        /// A whole frame: its body, and where the next one begins.
        case body(UnsafeRawBufferPointer, end: Int)
        /// The frame is not yet whole.
        case incomplete
        /// Its length is under or over the limits: the peer does not speak this protocol.
        case refused(length: UInt32)
    }

    /// The frame that begins at `offset`.
    /// - Complexity: constant; nothing is copied.
    @inline(__always)
    package static func next(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Next {
        let left = bytes.count - offset
        guard left >= 4, let base = bytes.baseAddress else { return .incomplete }
        let length = UInt32(
            bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        guard length >= UInt32(WireLimits.shortestFrame), length <= UInt32(WireLimits.frame) else {
            return .refused(length: length)
        }
        let end = offset + 4 + Int(length)
        guard end <= bytes.count else { return .incomplete }
        return .body(
            UnsafeRawBufferPointer(start: base + offset + 4, count: Int(length)), end: end)
    }
}

extension CBORWriter {
    /// Writes one frame: its length, the array, the kind, no descriptors, then what `fields`
    /// writes.
    @inline(__always)
    func frame(_ kind: MessageKind, _ count: Int, _ fields: (CBORWriter) -> Void) {
        let start = openFrame()
        head(4, UInt64(count + 2))
        head(0, kind.rawValue)
        head(0, 0)
        fields(self)
        closeFrame(start)
    }
}
