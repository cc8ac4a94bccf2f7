internal import Glibc

/// Every limit of the logs, in one place.
package enum LogLimits {
    /// A longer line is split.
    package static let lineBytes = 8 << 10
    /// What one stream of a device may write into its log within a second; more is counted and left
    /// out.
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

/// Makes lines of the bytes that a device writes: bounded in length and in number a second.
///
/// Invariant: `partial` holds less than `LogLimits.lineBytes`.
struct LogLines {
    private var partial: [UInt8] = []
    /// The unfinished line is left out.
    private var isDropping = false
    private var windowStart: UInt64 = 0
    private var lines = 0
    private var bytes = 0
    private(set) var suppressed = 0

    /// `now` is monotonic, in nanoseconds.
    mutating func feed(
        _ input: UnsafeRawBufferPointer, now: UInt64, _ emit: (String) -> Void
    ) {
        openWindow(now, emit)
        var rest = input[...]
        while !rest.isEmpty {
            let start = UnsafeRawBufferPointer(rebasing: rest)
            guard let end = memchr(start.baseAddress!, 10, start.count) else {
                append(start, emit)
                break
            }
            let length = UnsafeRawPointer(end) - start.baseAddress!
            append(UnsafeRawBufferPointer(rebasing: start[..<length]), emit)
            endLine(emit)
            rest = rest.dropFirst(length + 1)
        }
    }

    /// Says what was left out when its second is over.
    mutating func tick(now: UInt64, _ emit: (String) -> Void) { openWindow(now, emit) }

    /// The stream has ended: the unfinished line counts as one.
    mutating func finish(_ emit: (String) -> Void) {
        if !partial.isEmpty || isDropping { endLine(emit) }
        reportSuppressed(emit)
    }

    private var isOverRate: Bool {
        lines >= LogLimits.linesPerSecond || bytes >= LogLimits.bytesPerSecond
    }

    private mutating func openWindow(_ now: UInt64, _ emit: (String) -> Void) {
        guard now &- windowStart >= 1_000_000_000 else { return }
        windowStart = now
        lines = 0
        bytes = 0
        reportSuppressed(emit)
    }

    private mutating func reportSuppressed(_ emit: (String) -> Void) {
        guard suppressed > 0 else { return }
        emit("[suppressed \(suppressed) lines]")
        suppressed = 0
    }

    private mutating func append(_ input: UnsafeRawBufferPointer, _ emit: (String) -> Void) {
        var rest = input[...]
        while !rest.isEmpty {
            if isDropping || isOverRate {
                isDropping = true
                partial.removeAll(keepingCapacity: true)
                return
            }
            let piece = rest.prefix(LogLimits.lineBytes - partial.count)
            partial.append(contentsOf: piece)
            rest = rest.dropFirst(piece.count)
            if partial.count == LogLimits.lineBytes {
                say(LogLimits.splitMark, emit)
            }
        }
    }

    private mutating func endLine(_ emit: (String) -> Void) {
        if isDropping || isOverRate {
            isDropping = false
            partial.removeAll(keepingCapacity: true)
            suppressed += 1
        } else {
            if partial.last == 13 { partial.removeLast() }
            say("", emit)
        }
    }

    private mutating func say(_ mark: String, _ emit: (String) -> Void) {
        lines += 1
        bytes += partial.count
        // A device's bytes must not steer the terminal that shows them.
        for index in partial.indices where partial[index] < 32 && partial[index] != 9 {
            partial[index] = UInt8(ascii: "?")
        }
        emit(String(decoding: partial, as: UTF8.self) + mark)
        partial.removeAll(keepingCapacity: true)
    }
}
