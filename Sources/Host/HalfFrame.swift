import Driver
import Wire

/// A frame of a device that is not whole yet: how long it may take.
///
/// One that is written slowly is well; one of which nothing comes for a while, or which takes
/// longer than the slowest that is believed, is not.
struct HalfFrame {
    /// Seen time of its first bytes, and of its last.
    private var begun = UInt64.max
    private var heard: UInt64 = 0
    /// Its length as it announces it, as far as that has come.
    private var length = 0

    var isThere: Bool { begun != .max }

    /// Takes what has come of it: all that follows the last whole frame.
    /// - Parameter isNew: whether there was a whole frame before it, so that it is another one.
    mutating func arrived(_ bytes: UnsafeRawBufferPointer, isNew: Bool, at now: UInt64) {
        guard !bytes.isEmpty else {
            begun = .max
            return
        }
        if isNew || !isThere { begun = now }
        heard = now
        length = 0
        if bytes.count >= 4 {
            for byte in bytes[..<4] { length = length << 8 | Int(byte) }
        }
    }

    /// The time so far counts for nothing.
    mutating func forgive(at now: UInt64) {
        guard isThere else { return }
        begun = now
        heard = now
    }

    /// Nanoseconds in which a frame of this length must be whole.
    static func limit(of length: Int) -> UInt64 {
        let mebibytes = UInt64(min(max(0, length), WireLimits.frame)) >> 20
        return DriverLimits.frameTime + mebibytes * DriverLimits.frameTimeOfMebibyte
    }

    /// What is wrong with it; nil if nothing is yet.
    func complaint(at now: UInt64) -> String? {
        guard isThere else { return nil }
        let silence = now - min(now, heard)
        let whole = now - min(now, begun)
        func seconds(_ time: UInt64) -> UInt64 { time / 1_000_000_000 }
        if silence >= DriverLimits.frameTime {
            return "a frame was not whole, and nothing of it came for \(seconds(silence)) s"
        }
        guard whole >= Self.limit(of: length) else { return nil }
        return "a frame was not whole after \(seconds(whole)) s"
    }
}
