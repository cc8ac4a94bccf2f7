/// The bounds of a driver.
package enum DriverLimits {
    /// Bytes that may wait for a peer before its patches are dropped and whole values follow.
    package static let backlog = 8 << 20
    /// Bytes that may wait for a client before larger answers than the next are dropped, by name.
    package static let unread = 256 << 20
    /// Bytes of an answer that is always given.
    package static let smallAnswer = 64 << 10
    /// Bytes that are written before they are handed on, at the latest.
    package static let gathered = 64 << 10
    /// Requests of a peer that come while more than that waits for it.
    package static let impatience = 65_536
    /// Nanoseconds, in which a device's process was not stopped, for a small frame to be whole, or
    /// for the next bytes of a large one.
    package static let frameTime: UInt64 = 10_000_000_000
    /// What each MiB of a large one is given besides.
    package static let frameTimeOfMebibyte: UInt64 = 4_000_000_000
}
