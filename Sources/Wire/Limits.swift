/// Every bound of the wire, in one place. Sizes are bytes.
package enum WireLimits {
    /// The body of one frame; checked before anything is allocated.
    package static let frame = 16 << 20
    /// The body of a message that comes in pieces.
    package static let pieced = 128 << 20
    /// The shortest body: an array of two small numbers.
    package static let shortestFrame = 3
    /// One part of a snapshot.
    package static let snapshotPart = 256 << 10
    /// The whole value of a region.
    package static let region = 64 << 20
    /// Places that one message resumes.
    package static let resumed = 1_024
    /// Regions that one commit names.
    package static let committed = 16
    /// The longest name of a symbol or region, or of a part of one with its pointer.
    package static let name = 512
    /// Names that one connection may declare.
    package static let names = 65_536
    /// Bindings that one device may announce.
    package static let bindings = 4_096
    /// Forks within the branches of forks.
    package static let nestedForks = 16
}

/// The versions that stand in the handshake: that of the wire and that of the build.
package enum WireVersion {
    /// The wire that this build speaks.
    package static let wire: UInt64 = 1
    /// This build.
    package static let build = "0.1.0"
}
