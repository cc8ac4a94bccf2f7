import DeviceKit

/// What a run has done, and what of it was wrong.
@LoopActor
final class Ledger {
    enum Flaw: String, CaseIterable {
        /// A command without an end, or an effect that was told and not made.
        case lost
        /// An effect that was made more often than told.
        case doubled
        /// An answer or a state that is not what the commands should have made.
        case diverged
    }

    let options: Options
    private let begun = Entry.now
    /// Commands that were admitted, and those that have ended.
    private(set) var issued = 0
    private(set) var ended = 0
    var kills = 0
    var stops = 0
    var swaps = 0
    var restarts = 0
    var replays: Int64 = 0
    /// Commands that the post has now: so few that a kill at random would rarely meet one.
    var atPost = 0
    /// Commands that ended with the named error that they should end with.
    var namedErrors = 0
    private var flaws: [Flaw: Int] = [:]

    init(_ options: Options) { self.options = options }

    func note(_ flaw: Flaw, _ what: String, count: Int = 1) {
        flaws[flaw, default: 0] += count
        Entry.complain("\(flaw.rawValue): \(what)")
    }

    // MARK: - Pace

    /// Whether there is one more command to send. Commands wait when they are far ahead of the
    /// kills, and kills when they are far ahead of the commands: both end together.
    func admit() async -> Bool {
        while issued < options.commands, !mayRun(issued, options.commands, kills, options.kills) {
            try? await Program.pause(milliseconds: 2)
        }
        guard issued < options.commands else { return false }
        issued += 1
        return true
    }

    func end() { ended += 1 }

    var mayKill: Bool { mayRun(kills, options.kills, ended, options.commands) }

    private func mayRun(_ done: Int, _ all: Int, _ other: Int, _ others: Int) -> Bool {
        others == 0 || other == others || done * others <= (other + others / 20 + 4) * all
    }

    // MARK: - The end

    /// Prints the line and returns the exit code.
    func conclude() -> Int32 {
        let seconds = Int((Entry.now - begun) * 10)
        let faults = Flaw.allCases.map { "\($0.rawValue) \(flaws[$0] ?? 0)" }
        print(
            "commands \(ended) kills \(kills) stops \(stops) swaps \(swaps) restarts \(restarts) "
                + "replays \(replays) errors \(namedErrors) \(faults.joined(separator: " ")) "
                + "seed \(options.seed) seconds \(seconds / 10).\(seconds % 10)")
        return flaws.isEmpty && ended == options.commands ? 0 : 1
    }
}
