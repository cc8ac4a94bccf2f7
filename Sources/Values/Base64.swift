/// base64url without padding: RFC 4648 §5.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var width: UInt32 = 0
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            width += 8
            while width >= 6 {
                width -= 6
                text.append(alphabet[Int(bits >> width & 63)])
            }
        }
        if width > 0 { text.append(alphabet[Int(bits << (6 - width) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Refuses what ``encode(_:)`` never writes: padding, other letters, loose bits at the end.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var bits: UInt32 = 0
        var width: UInt32 = 0
        for letter in text.utf8 {
            guard let digit = digit(letter) else { return nil }
            bits = (bits << 6 | digit) & 0xFFFF
            width += 6
            if width >= 8 {
                width -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> width))
            }
        }
        guard width < 6, bits & (1 << width - 1) == 0 else { return nil }
        return bytes
    }

    private static func digit(_ letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
