/// The text of a date: RFC 3339 in UTC with three digits of fraction, `2026-11-30T05:46:59.123Z`.
public enum DateText {
    /// The text of a date within ``Value/dateRange``; nil outside.
    public static func print(_ milliseconds: Int64) -> String? {
        guard Value.dateRange.contains(milliseconds) else { return nil }
        let days = floorDivide(milliseconds, 86_400_000)
        let rest = milliseconds - days * 86_400_000
        let (year, month, day) = civil(days)
        return String(unsafeUninitializedCapacity: 24) { text in
            var next = 0
            func put(_ number: Int64, _ digits: Int, _ end: Unicode.Scalar) {
                var number = number
                for place in stride(from: next + digits - 1, through: next, by: -1) {
                    text[place] = UInt8(0x30 + number % 10)
                    number /= 10
                }
                text[next + digits] = UInt8(ascii: end)
                next += digits + 1
            }
            put(year, 4, "-")
            put(month, 2, "-")
            put(day, 2, "T")
            put(rest / 3_600_000, 2, ":")
            put(rest / 60_000 % 60, 2, ":")
            put(rest / 1000 % 60, 2, ".")
            put(rest % 1000, 3, "Z")
            return next
        }
    }

    /// Reads any text of RFC 3339; the fraction is rounded to milliseconds.
    public static func parse(_ text: some StringProtocol) -> Int64? {
        parse(utf8: Array(text.utf8))
    }

    /// Reads the one form that ``print(_:)`` writes.
    static func parse(canonical text: some Collection<UInt8>) -> Int64? {
        guard text.count == 24 else { return nil }
        let bytes = Array(text)
        guard bytes[10] == UInt8(ascii: "T"), bytes[19] == UInt8(ascii: "."),
            bytes[23] == UInt8(ascii: "Z")
        else { return nil }
        return parse(utf8: bytes)
    }

    private static func parse(utf8 text: [UInt8]) -> Int64? {
        guard text.count >= 20, text[4] == 0x2D, text[7] == 0x2D, text[10] | 0x20 == 0x74,
            text[13] == 0x3A, text[16] == 0x3A,
            let year = number(text[0..<4]), let month = number(text[5..<7]),
            let day = number(text[8..<10]), let hour = number(text[11..<13]),
            let minute = number(text[14..<16]), let second = number(text[17..<19]),
            year >= 1, (1...12).contains(month), day >= 1, day <= length(of: month, in: year),
            hour < 24, minute < 60, second < 60
        else { return nil }
        var rest = text[19...]
        guard let fraction = takeFraction(&rest), let offset = offset(rest) else { return nil }
        let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset
        let sum = (minutes * 60 + second) * 1000 + fraction
        return Value.dateRange.contains(sum) ? sum : nil
    }

    private static func takeFraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
        rest = rest[digits.endIndex...]
        guard !digits.isEmpty, let kept = number(digits.prefix(3)) else { return nil }
        let scale: Int64 = digits.count == 1 ? 100 : digits.count == 2 ? 10 : 1
        return kept * scale + ((digits.dropFirst(3).first ?? 0) >= 0x35 ? 1 : 0)
    }

    /// The minutes east of UTC that `Z` or `±hh:mm` says.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        let text = Array(text)
        if text.count == 1, text[0] | 0x20 == UInt8(ascii: "z") { return 0 }
        guard text.count == 6, text[3] == 0x3A, let hours = number(text[1..<3]), hours < 24,
            let minutes = number(text[4..<6]), minutes < 60
        else { return nil }
        switch text[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var sum: Int64 = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { return nil }
            sum = sum * 10 + Int64(byte - 0x30)
        }
        return sum
    }

    private static func length(of month: Int64, in year: Int64) -> Int64 {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: leap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    // Howard Hinnant's "chrono-compatible low-level date algorithms": years that begin in March, so
    // that the leap day is the last of its year.

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivide(year, 400)
        let ofEra = year - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let ofYear = day - (365 * year + year / 4 - year / 100)
        let part = (5 * ofYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (
            year + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * part + 2) / 5 + 1
        )
    }
}
