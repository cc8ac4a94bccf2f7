package import Values

/// A number that stands for a value: FNV-1a of 64 bits over its canonical CBOR. Whoever keeps a
/// copy of a value by its changes compares it, to find a defect; it is no defence against malice.
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
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
