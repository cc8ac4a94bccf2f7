/// A number that stands for bytes: FNV-1a, 64 bits. It is no defence against malice: what a repeat
/// asks is compared with its record by the bytes themselves, different operations of one digest are
/// numbered, and the keys that callers choose hold a `StrongDigest`. Devices store keys, so it is
/// the same for every start of the kernel.
package enum Digest {
    /// The digest of bytes.
    /// - Complexity: linear.
    package static func of(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    /// The digest as 16 hexadecimal figures.
    static func text(_ digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
