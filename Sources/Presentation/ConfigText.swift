import Contract
import FoundationEssentials

/// Configurations in words.
enum ConfigText {
    static func duration(_ duration: Config.Duration) -> String {
        duration == .manual ? "manual" : "\(duration.rawValue) s"
    }

    static func loop(_ loop: Bool) -> String { loop ? "loop" : "once" }
}

/// Times in digits, by the proleptic Gregorian calendar.
enum DateText {
    /// Seconds before and after 1970 that have a year of four digits.
    private static let span = -62_135_596_800.0..<253_402_300_800.0

    /// As `2026-11-30 06:40`; `?` for a time that no calendar shows.
    static func minutes(_ date: Date, offset: Int) -> String {
        let exact = date.timeIntervalSince1970 + Double(offset)
        guard span.contains(exact) else { return "?" }
        let seconds = Int(exact.rounded(.down))
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let minute = (seconds - day * 86_400) / 60
        let (year, month, dayOfMonth) = civil(day)
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(dayOfMonth, 2) + " "
            + pad(minute / 60, 2) + ":" + pad(minute % 60, 2)
    }

    /// As `2026-11-30 06:40:05`.
    static func seconds(_ date: Date, offset: Int) -> String {
        let second = Int(date.timeIntervalSince1970.rounded(.down)) % 60
        return minutes(date, offset: offset) + ":" + pad(second < 0 ? second + 60 : second, 2)
    }

    /// Days since 1970 as a date: years that begin in March, in eras of 400 of them (H. Hinnant,
    /// "chrono-Compatible Low-Level Date Algorithms").
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func pad(_ number: Int, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }
}
