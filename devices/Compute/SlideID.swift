import FoundationEssentials

/// The id of a slide is computed, not drawn: the same request gives the same slideshow, so a replay
/// after a crash changes nothing and two runs can be compared.
///
/// It is a UUID of version 8 (RFC 9562, section 5.8), whose 122 free bits are a hash of the
/// slideshow's id, an ordinal and the bytes of the photo's path. The hash is MurmurHash3 x64 128 by
/// Austin Appleby (public domain): it need not resist forgery, for whoever asks picks a free
/// ordinal, and it must never change, for ids are stored.
enum SlideID {
    /// The id of the nth slide (from 0) that shows `photo` in the slideshow.
    static func derived(slideshow: UUID, photo: String, ordinal: Int) -> UUID {
        var message: [UInt8] = withUnsafeBytes(of: slideshow.uuid) { Array($0) }
        message.reserveCapacity(24 + photo.utf8.count)
        appendLittleEndian(UInt64(truncatingIfNeeded: ordinal), to: &message)
        message.append(contentsOf: photo.utf8)
        var bytes: [UInt8] = []
        let (high, low) = hash(message)
        appendLittleEndian(high, to: &bytes)
        appendLittleEndian(low, to: &bytes)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    /// MurmurHash3 x64 128 with seed 0.
    static func hash(_ message: [UInt8]) -> (UInt64, UInt64) {
        var first: UInt64 = 0
        var second: UInt64 = 0
        let whole = message.count / 16 * 16
        for start in stride(from: 0, to: whole, by: 16) {
            first ^= mixedFirst(littleEndian(message[start..<start + 8]))
            first = (rotated(first, 27) &+ second) &* 5 &+ 0x52dc_e729
            second ^= mixedSecond(littleEndian(message[start + 8..<start + 16]))
            second = (rotated(second, 31) &+ first) &* 5 &+ 0x3849_5ab5
        }
        let tail = message[whole...]
        second ^= mixedSecond(littleEndian(tail.dropFirst(8)))
        first ^= mixedFirst(littleEndian(tail.prefix(8)))
        first ^= UInt64(message.count)
        second ^= UInt64(message.count)
        first &+= second
        second &+= first
        first = finished(first)
        second = finished(second)
        first &+= second
        second &+= first
        return (first, second)
    }

    private static let firstFactor: UInt64 = 0x87c3_7b91_1142_53d5
    private static let secondFactor: UInt64 = 0x4cf5_ad43_2745_937f

    private static func mixedFirst(_ word: UInt64) -> UInt64 {
        rotated(word &* firstFactor, 31) &* secondFactor
    }

    private static func mixedSecond(_ word: UInt64) -> UInt64 {
        rotated(word &* secondFactor, 33) &* firstFactor
    }

    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word &<< bits | word &>> (64 - bits)
    }

    private static func finished(_ word: UInt64) -> UInt64 {
        var word = word
        word ^= word &>> 33
        word = word &* 0xff51_afd7_ed55_8ccd
        word ^= word &>> 33
        word = word &* 0xc4ce_b9fe_1a85_ec53
        word ^= word &>> 33
        return word
    }

    /// Up to 8 bytes as a number; the missing ones are zero.
    private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 &<< 8 | UInt64($1) }
    }

    private static func appendLittleEndian(_ word: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word &>> shift))
        }
    }
}
