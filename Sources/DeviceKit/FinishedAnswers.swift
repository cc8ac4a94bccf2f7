// When the answers of finished visits leave.
//
// Answers gather and leave together: one write for many is what makes a busy device fast. But what
// has not left is lost with the process, and the code that runs next may be what ends it. Such an
// answer is no harm where its visit is played again. So answers are held back for other code to
// run, except that
//
// - the answer of a visit that may not be repeated leaves before any other code runs, and so does
//   that of a visit which is a repeat itself: it was lost once already;
// - before the code of a repeat runs, everything has left, for it may be what ended a process;
// - nobody's answer waits for much code of others, neither many pieces nor slow ones.
//
// A full socket takes nothing: then the code that is next waits until it has.

/// Counts the answers that have not left, and says when they must.
struct FinishedAnswers {
    /// What must happen before more code runs.
    enum Need {
        case nothing
        /// What the cable takes now leaves.
        case some
        /// Everything leaves, however long that takes.
        case everything
    }

    /// Answers that wait for other code to run, at most.
    static let most = 256
    /// Nanoseconds of other code after which so many answers were too many.
    static let longest: UInt64 = 1_000_000

    private(set) var held = 0
    /// How many may be held. It grows while the code is quick, so that a device whose code is slow
    /// sends each answer by itself, and so does a young process.
    private(set) var batch = 1
    private var areNeeded = false
    private var lastSent: UInt64 = 0

    /// A visit is finished.
    /// - Parameter needed: it may not be repeated, or is a repeat.
    mutating func add(needed: Bool) {
        held += 1
        if needed { areNeeded = true }
    }

    /// What must happen before the code of a visit runs, at its n-th attempt.
    @inline(__always)
    func need(before attempt: UInt32) -> Need {
        guard held > 0 else { return .nothing }
        if areNeeded || attempt > 1 { return .everything }
        return held >= batch ? .some : .nothing
    }

    /// Some have left.
    ///
    /// - Parameters:
    ///   - all: nothing is left of them.
    ///   - turn: when the turn of the loop began; all that had been held before had left then.
    mutating func sent(all: Bool, now: UInt64, turn: UInt64) {
        let since = max(turn, lastSent)
        batch = now > since && now - since > Self.longest ? 1 : min(batch * 2, Self.most)
        lastSent = now
        guard all else { return }
        held = 0
        areNeeded = false
    }

    /// The turn's end has sent all.
    mutating func left() {
        held = 0
        areNeeded = false
    }
}
