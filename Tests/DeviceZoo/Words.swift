import Control

/// What the animals of the zoo answer. A device answers those that its arguments name.
enum Zoo {
    /// Gives its payload back.
    static let echo = Symbol<String, String>("Zoo.echo", .replayable)
    /// As many letters as it is asked for.
    static let letters = Symbol<Int, String>("Zoo.letters", .replayable)
    /// Traps on the payload `trap`, gives every other back.
    static let trap = Symbol<String, String>("Zoo.trap", .replayable)
    /// Never returns and never waits.
    static let spin = Symbol<Void, Void>("Zoo.spin", .once)
    /// Hangs on the payload `hang`, gives every other back; its limits are short.
    static let hang = Symbol<String, String>(
        "Zoo.hang", .replayable.limits(attempt: 1_000, deadline: 20_000))
    /// Waits without blocking for as long as it is let.
    static let dream = Symbol<Void, Void>(
        "Zoo.dream", .replayable.limits(attempt: 300, deadline: 20_000))
    /// Adds a line to the file `PATH`, then blocks until there is a file `PATH.go`.
    static let gate = Symbol<String, Int>(
        "Zoo.gate", .replayable.limits(attempt: 60_000, deadline: 200_000))
    /// The same, never sent again once begun.
    static let gateOnce = Symbol<String, Int>(
        "Zoo.gateOnce", .once.limits(attempt: 60_000, deadline: 200_000))
    /// Starts helper processes in the device's group; their ids.
    static let helpers = Symbol<Int, [Int32]>("Zoo.helpers", .once)
    /// Prints so many bytes on each log stream, without an end of line.
    static let shout = Symbol<Int, Void>("Zoo.shout", .replayable)
    /// Puts so many letters, always another one, into the region `ZooState`.
    static let fill = Symbol<Int, Int>("Zoo.fill", .replayable)
    /// Adds a text of so many letters to `ZooStock`; how many it has then.
    static let stock = Symbol<Int, Int>(
        "Zoo.stock", .replayable.limits(attempt: 30_000, deadline: 90_000))
    /// Reads `ZooStock` and counts in it, then waits like `gate`: how many letters it has read, how
    /// many the commit was made on, and the process.
    static let ponder = Symbol<String, [Int]>(
        "Zoo.ponder", .replayable.limits(attempt: 30_000, deadline: 90_000))
    /// Moves so much from one side of the ledger to the other, one by one.
    static let shift = Symbol<Int, Int>(
        "Zoo.shift", .replayable.limits(attempt: 60_000, deadline: 200_000))
    /// Adds so much to `ZooState`, one by one.
    static let count = Symbol<Int, Int>(
        "Zoo.count", .replayable.limits(attempt: 60_000, deadline: 200_000))
    /// Fails with an error of its own.
    static let fail = Symbol<String, Void>("Zoo.fail", .replayable)
    /// Ends the process with an exit code.
    static let leave = Symbol<Int32, Void>("Zoo.leave", .once)

    // Words of which each device of one house can have its own, `Zoo.echo.NAME`.

    /// Gives its payload back.
    static func echo(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.echo.\(name)", .replayable)
    }
    /// Gives its payload back and then does what it says, outside of any visit.
    static func act(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.act.\(name)", .replayable)
    }
    /// Does what its payload says while the visit runs, if there is a file `NAME.dare` among the
    /// data, which goes; then, or otherwise, gives it back.
    static func dare(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.dare.\(name)", .replayable.limits(attempt: 4_000, deadline: 30_000))
    }
    /// Does what its payload says while the visit runs, whenever it is asked.
    static func obey(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.obey.\(name)", .replayable.limits(attempt: 2_000, deadline: 20_000))
    }
    /// Waits a few milliseconds and does what its payload says after that, while the visit is
    /// begun and nothing of it runs; gives every other payload back.
    static func drift(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.drift.\(name)", .replayable.limits(attempt: 3_000, deadline: 30_000))
    }
    /// Adds its payload to the diary of its device, then does what it says, and gives it back. A
    /// payload `late WORDS` waits a few milliseconds in between.
    static func diary(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.diary.\(name)", .replayable.limits(attempt: 5_000, deadline: 60_000))
    }
    /// The same, never sent again once begun.
    static func entry(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.entry.\(name)", .once.limits(attempt: 5_000, deadline: 60_000))
    }
    /// As `diary` and `entry`, by a function, which needs no task.
    static func slip(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.slip.\(name)", .replayable.limits(attempt: 5_000, deadline: 60_000))
    }
    static func stamp(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.stamp.\(name)", .once.limits(attempt: 5_000, deadline: 60_000))
    }
    /// Makes a file with the payload, named by the invocation's key, unless it is there.
    static func tally(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.tally.\(name)", .keyed)
    }
}

/// A region that may be larger than a frame.
struct ZooStock: Region {
    var texts: [String]
    var count: Int

    var bytes: Int { texts.reduce(0) { $0 + $1.utf8.count } }
}

/// One side of a ledger, whose sides add up to nothing.
struct ZooLeft: Region {
    var n: Int
}

/// The other side.
struct ZooRight: Region {
    var n: Int
}

/// A region that can be made as large as one likes.
struct ZooState: Region {
    var text: String
    var count: Int
}
