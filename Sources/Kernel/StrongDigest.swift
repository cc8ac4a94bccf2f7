internal import Values

/// A number that stands for bytes even where somebody would have two payloads taken for one:
/// SHA-256 (FIPS 180-4), of which the first 160 bits are kept.
///
/// Only the keys that callers choose rest on it, for nothing of theirs is kept to compare with. It
/// costs 4 to 5 ms for a mebibyte, and 70 to 90 ms for the largest payload that a frame holds, in
/// which the kernel does nothing else. The caller cannot make it instead: whoever knows another's
/// key and payload could then send something else under both, and the other's request would be
/// taken for a repeat of it. Nor is it made in pieces between other events: what the caller sends
/// next would overtake the request, or have to be held, for a case that the copy of so large a
/// payload makes slow in any case.
struct StrongDigest {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c,
        0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var schedule = [UInt32](repeating: 0, count: 64)

    /// The digest as 40 hexadecimal figures.
    /// - Complexity: linear.
    static func text(_ bytes: [UInt8]) -> String {
        var digest = StrongDigest()
        bytes.withUnsafeBytes { digest.take($0) }
        return digest.state.prefix(5).map(\.hexadecimal).joined()
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        let whole = bytes.count & ~63
        var start = 0
        while start < whole {
            compress(UnsafeRawBufferPointer(rebasing: bytes[start..<start + 64]))
            start += 64
        }
        // A one, zeros, and the length in bits.
        var rest = Array(bytes[whole...]) + [0x80]
        while rest.count % 64 != 56 { rest.append(0) }
        let bits = UInt64(bytes.count) &* 8
        for shift in stride(from: 56, through: 0, by: -8) {
            rest.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        rest.withUnsafeBytes {
            for start in stride(from: 0, to: $0.count, by: 64) {
                compress(UnsafeRawBufferPointer(rebasing: $0[start..<start + 64]))
            }
        }
    }

    private mutating func compress(_ block: UnsafeRawBufferPointer) {
        for index in 0..<16 {
            schedule[index] = UInt32(
                bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
        }
        for index in 16..<64 {
            let early = schedule[index - 15]
            let late = schedule[index - 2]
            let first = turn(early, 7) ^ turn(early, 18) ^ early >> 3
            let second = turn(late, 17) ^ turn(late, 19) ^ late >> 10
            schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let mixed = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
            let chosen = e & f ^ ~e & g
            let first = h &+ mixed &+ chosen &+ Self.constants[index] &+ schedule[index]
            let most = a & b ^ a & c ^ b & c
            let second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) &+ most
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    @inline(__always)
    private func turn(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word &>> bits | word &<< (32 &- bits)
    }

    /// The first bits of the cube roots of the first primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
        0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
        0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
        0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
        0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
        0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
        0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
        0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
        0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
