/// A line whose bytes were said by somebody else, made fit to be shown: they neither steer the
/// terminal that shows it nor end the line.
package enum PlainLine {
    /// `line` as one line of at most `LogLimits.lineBytes`.
    package static func of(_ line: String) -> String {
        var bytes = Array(line.utf8.prefix(LogLimits.lineBytes))
        // A letter that was cut in two.
        if bytes.count < line.utf8.count {
            while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
            if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        }
        clean(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Puts a question mark in the place of each control character but the tab.
    static func clean(_ bytes: inout [UInt8]) {
        for index in bytes.indices
        where bytes[index] < 32 && bytes[index] != 9 || bytes[index] == 127 {
            bytes[index] = UInt8(ascii: "?")
        }
        // Those above ASCII have two bytes.
        for index in bytes.indices.dropFirst()
        where bytes[index - 1] == 0xC2 && (0x80...0x9F).contains(bytes[index]) {
            bytes[index - 1] = UInt8(ascii: "?")
            bytes[index] = UInt8(ascii: "?")
        }
    }
}
