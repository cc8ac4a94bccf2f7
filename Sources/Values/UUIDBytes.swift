/// The 128 bits of a UUID, without a library's type around them.
public struct UUIDBytes: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    public var high: UInt64
    /// The last eight bytes, big-endian.
    public var low: UInt64

    /// Makes a UUID of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the text form `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, in any case.
    public init?(_ text: some StringProtocol) {
        self.init(utf8: text.utf8)
    }

    init?(utf8 text: some Collection<UInt8>) {
        guard text.count == 36 else { return nil }
        var halves = (high: UInt64(0), low: UInt64(0))
        for (position, byte) in text.enumerated() {
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.digit(byte) else { return nil }
            if position < 18 {
                halves.high = halves.high << 4 | digit
            } else {
                halves.low = halves.low << 4 | digit
            }
        }
        self.init(high: halves.high, low: halves.low)
    }

    /// Reads the text form in lower case only: the texts that JSON holds for a UUID.
    init?(canonical text: some Collection<UInt8>) {
        guard text.count == 36, !text.contains(where: { (0x41...0x5A).contains($0) }) else {
            return nil
        }
        self.init(utf8: text)
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x61...0x66: UInt64(byte - 0x61 + 10)
        case 0x41...0x46: UInt64(byte - 0x41 + 10)
        default: nil
        }
    }

    /// The text form of RFC 9562, in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var next = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[next] = UInt8(ascii: "-")
                    next += 1
                }
                let half = nibble < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (nibble & 15))) & 15
                text[next] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
                next += 1
            }
            return next
        }
    }

    /// Orders by the bytes.
    public static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
