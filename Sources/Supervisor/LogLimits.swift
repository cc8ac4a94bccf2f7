/// Every limit of the logs, in one place.
package enum LogLimits {
    /// A longer line is split.
    package static let lineBytes = 8 << 10
    /// What one stream of a device may write into its log within a second, over all its processes;
    /// more is counted and left out.
    package static let linesPerSecond = 1_000
    package static let bytesPerSecond = 1 << 20
    /// What is read from one stream in a turn.
    package static let readBytes = 64 << 10
    package static let readsPerTurn = 4
    /// What is read from one stream after the death: a pipe holds less, unless somebody still
    /// writes.
    package static let restBytes = 1 << 20
    /// A larger log file is put aside, and one such is kept.
    package static let fileBytes = 4 << 20
    /// The lines of standard error that are kept for reports.
    package static let tailLines = 20
    /// Ends each piece but the last of a line that was split.
    package static let splitMark = " [continues]"
}

/// How much is logged in this second. All processes of a device share one for each stream, so that
/// a device with several, or one that crashes again and again, logs no more than one that lives.
package final class LogRate {
    private var windowStart: UInt64 = 0
    private var lines = 0
    private var bytes = 0
    /// Lines that were left out and not yet told.
    package private(set) var suppressed = 0

    package init() {}

    package var isOver: Bool {
        lines >= LogLimits.linesPerSecond || bytes >= LogLimits.bytesPerSecond
    }

    /// Begins a second when the last one is over. `now` is monotonic, in nanoseconds.
    /// - Returns: what to say of the lines that were left out.
    package func open(_ now: UInt64) -> String? {
        guard now &- windowStart >= 1_000_000_000 else { return nil }
        windowStart = now
        lines = 0
        bytes = 0
        return report()
    }

    package func count(_ lineBytes: Int) {
        lines += 1
        bytes += lineBytes
    }

    package func suppress() { suppressed += 1 }

    package func report() -> String? {
        guard suppressed > 0 else { return nil }
        defer { suppressed = 0 }
        return "[suppressed \(suppressed) lines]"
    }
}
