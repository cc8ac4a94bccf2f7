// What both ends of a cable say of the regions of the buffer: by name, and with the revisions as
// counters of one start of the kernel.

/// The change of one region, or of a part of one, in a commit.
package struct RegionChange: Sendable {
    package var region: String
    /// The revision at which it was before.
    package var from: UInt64
    package var patch: Patch

    package init(region: String, from: UInt64, patch: Patch) {
        self.region = region
        self.from = from
        self.patch = patch
    }
}

/// The change of one region that a commit is to make, made on the value at a revision.
package struct RegionOffer: Sendable {
    package var region: String
    /// The revision of the value.
    package var base: UInt64
    /// Nil: the region was only read, and must still be the same.
    package var patch: Patch?

    package init(region: String, base: UInt64, patch: Patch?) {
        self.region = region
        self.base = base
        self.patch = patch
    }
}

/// A read of a visit, which its repeat gets again.
package struct RegionRead: Sendable {
    package var region: String
    /// Counts the reads of this region in the visit, from 0.
    package var number: UInt32
    /// The revision of the value.
    package var revision: UInt64
    package var value: Value

    package init(region: String, number: UInt32, revision: UInt64, value: Value) {
        self.region = region
        self.number = number
        self.revision = revision
        self.value = value
    }
}
