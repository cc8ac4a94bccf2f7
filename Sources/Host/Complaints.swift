/// What is complained of may come thousands of times a second, and a log that is full of it keeps
/// nothing else. The first few lines of a second are said as they come, for each may name somebody;
/// of the others the last one is said, with their number, when the second is over. While it goes on
/// that is the only line of each second.
struct Complaints {
    private let pause: UInt64
    private let most: Int
    /// When the second that runs now ends; nil while none runs.
    private(set) var due: UInt64?
    /// Lines that may still be said in it.
    private var left = 0
    /// Lines that were said of it as they came: the same one is not said twice.
    private var said: Set<String> = []
    private var last: String?
    private var unsaid = 0

    /// - Parameters:
    ///   - pause: nanoseconds of what is called a second here.
    ///   - most: lines that are said at once in one that follows a quiet one.
    init(pause: UInt64 = HouseLimits.complaintPause, most: Int = HouseLimits.complaintsAtOnce) {
        self.pause = pause
        self.most = most
    }

    /// - Parameter now: in nanoseconds; it never goes back.
    /// - Returns: what is to be said now; `due` says when to ask `rest`.
    mutating func add(_ line: String, now: UInt64) -> [String] {
        var lines = rest(now: now)
        if due == nil { begin(now, left: most) }
        if left > 0, said.insert(line).inserted {
            left -= 1
            lines.append(line)
        } else {
            last = line
            unsaid += 1
        }
        return lines
    }

    /// Ends the second if it is over, or if this is the end of all.
    /// - Returns: what was not said in it.
    mutating func rest(now: UInt64, isLast: Bool = false) -> [String] {
        guard let due, isLast || now >= due else { return [] }
        guard let line = last else {
            self.due = nil
            return []
        }
        let others = unsaid - 1
        begin(now, left: 0)
        return [others == 0 ? line : "\(line) (and \(others) more such complaints)"]
    }

    private mutating func begin(_ now: UInt64, left: Int) {
        due = now + pause
        self.left = left
        said = []
        last = nil
        unsaid = 0
    }
}
