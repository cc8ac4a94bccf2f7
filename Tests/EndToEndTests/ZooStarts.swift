import DeviceKit
import Glibc

extension EndToEnd.ZooTests {
    /// Begins well, and its next processes begin as they like.
    private static func beginning(
        _ name: String, _ behaviour: [String], _ exits: [String], seconds: Double = 10,
        restarts: Int64 = 5, log: [String] = [], errors: [String] = []
    ) -> Exhibit {
        // The tame one is killed from outside, which costs nothing; then five die of their own.
        Exhibit(
            name: name, behaviour: ["wild"] + behaviour, more: ["startSeconds": .double(seconds)],
            steps: [.wild, .signal(SIGKILL)], state: "failed", exits: exits,
            restarts: restarts...restarts,
            log: log, errors: errors + ["`concentric restart \(name)`"])
    }

    static let starts = [
        beginning(
            "silent", ["mute"], ["start (signal KILL)"], seconds: 5,
            log: ["#6 kernel ended: start (signal KILL)"]),
        beginning(
            "undecided", ["greets"], ["start (signal KILL)"], seconds: 5,
            log: ["#6 kernel ended: start (signal KILL)"]),
        beginning("late", ["slow", "60000"], ["start (signal KILL)"], seconds: 5),
        beginning(
            "quitter", ["quits", "3", "no luck today"], ["exit 3"],
            log: ["#2 err no luck today", "#6 err no luck today", "#6 kernel ended: exit 3"],
            errors: ["no luck today"]),
        beginning("leaver", ["quits", "0", "good bye"], ["exit 0"], log: ["#2 err good bye"]),
        beginning("fragile", ["fragile", "/proc"], ["exit 3"], log: ["err /proc is there"]),
        beginning("trapper", ["traps"], ["signal ILL", "signal TRAP"]),
        beginning(
            "crasher", ["brief", "0", "4"], ["exit 4"], log: ["#6 kernel ended: exit 4"]),
        beginning("slow-crasher", ["brief", "1500", "5"], ["exit 5"]),
        beginning(
            "incomplete", ["unfinished"], ["exit 78"], restarts: 1, log: ["Zoo.obey.incomplete"],
            errors: ["Zoo.obey.incomplete"]),
        beginning(
            "old", ["older"], ["cable (signal KILL)"], restarts: 1,
            errors: ["speaks wire 0, this kernel", "rebuild the older device"]),
        beginning(
            "modern", ["newer"], ["cable (signal KILL)"], restarts: 1,
            errors: ["speaks wire 4000000000, this kernel", "rebuild the older kernel"]),
        beginning(
            "babbler", ["babbling"], ["cable (signal KILL)"], errors: ["a frame of 1195725856"]),
        beginning("daemon", ["daemon"], ["exit 0"], log: ["err in the background: 0"]),
        Exhibit(
            name: "sluggish", behaviour: ["wild", "slow", "800"],
            steps: [.wild, .signal(SIGKILL)], exits: ["signal KILL"], restarts: 1...1),
        Exhibit(
            name: "chatty", behaviour: ["wild", "chatty"], steps: [.wild, .signal(SIGKILL)],
            exits: ["signal KILL"], restarts: 1...1,
            log: ["#2 out The zoo ??? is opening", "#2 err and says so twice"]),
        Exhibit(
            name: "healed", behaviour: ["wild", "quits", "3", "not yet"],
            steps: [.wild, .signal(SIGKILL), .until("waiting"), .tame, .operate("restart")],
            exits: ["exit 3"], restarts: 3...4, log: ["err not yet"]),
        Exhibit(name: "extended", behaviour: ["extended"], serves: false),
        Exhibit(name: "liar", behaviour: ["liar"], serves: false),
    ]
}
