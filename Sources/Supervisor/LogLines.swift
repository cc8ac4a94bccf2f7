internal import Glibc

/// Makes lines of the bytes that a device writes: bounded in length and in number a second.
///
/// Invariant: `partial` holds less than `LogLimits.lineBytes`.
struct LogLines {
    private var partial: [UInt8] = []
    /// The unfinished line is left out.
    private var isDropping = false
    /// It is shared with the other processes of the device.
    let rate: LogRate

    init(_ rate: LogRate = LogRate()) { self.rate = rate }

    /// `now` is monotonic, in nanoseconds.
    mutating func feed(
        _ input: UnsafeRawBufferPointer, now: UInt64, _ emit: (String) -> Void
    ) {
        tick(now: now, emit)
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
    func tick(now: UInt64, _ emit: (String) -> Void) {
        if let report = rate.open(now) { emit(report) }
    }

    /// The stream has ended: the unfinished line counts as one.
    mutating func finish(_ emit: (String) -> Void) {
        if !partial.isEmpty || isDropping { endLine(emit) }
        if let report = rate.report() { emit(report) }
    }

    private mutating func append(_ input: UnsafeRawBufferPointer, _ emit: (String) -> Void) {
        var rest = input[...]
        while !rest.isEmpty {
            if isDropping || rate.isOver {
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
        if isDropping || rate.isOver {
            isDropping = false
            partial.removeAll(keepingCapacity: true)
            rate.suppress()
        } else {
            if partial.last == 13 { partial.removeLast() }
            say("", emit)
        }
    }

    private mutating func say(_ mark: String, _ emit: (String) -> Void) {
        rate.count(partial.count)
        // A device's bytes must not steer the terminal that shows them.
        PlainLine.clean(&partial)
        emit(String(decoding: partial, as: UTF8.self) + mark)
        partial.removeAll(keepingCapacity: true)
    }
}
