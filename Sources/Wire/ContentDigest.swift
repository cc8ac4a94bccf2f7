package import Values

/// A number that stands for a value: the `Digest` of its canonical CBOR. Whoever keeps a copy of a
/// value by its changes compares it, to find a defect.
package enum ContentDigest {
    /// The digest of a value.
    /// - Complexity: linear; the value is encoded for it.
    package static func of(_ value: Value) -> UInt64 {
        let writer = CBORWriter(capacity: 1_024)
        writer.value(value)
        return writer.withBytes(of(encoded:))
    }

    /// The digest of a value's canonical bytes.
    package static func of(encoded bytes: UnsafeRawBufferPointer) -> UInt64 {
        Digest.of(bytes)
    }
}
