import Control
import DeviceKit
import Glibc

/// How a device of the zoo begins, by the first word of its arguments; the names of the symbols
/// that it answers follow. Without such a word it begins well.
enum Behaviour: String, CaseIterable {
    /// `wild WORD…` is tame until there is a file `NAME.wild` among the data, so that a device
    /// begins well and its next process does not.
    case wild
    /// `quits CODE LINE` says the line and ends at once.
    case quits
    /// `fragile FILE` ends at once while there is a file.
    case fragile
    /// Never says hello.
    case mute
    /// Says hello and is never ready.
    case greets
    /// Ignores SIGTERM.
    case stubborn
    /// Leaves the last symbol unbound.
    case unfinished
    /// Traps at once.
    case traps
    /// `slow MS` says hello that much later.
    case slow
    /// `brief MS CODE` is ready and ends so much later.
    case brief
    /// Prints on both streams before its hello and long after.
    case chatty
    /// Speaks an older wire, or a newer one, and stays after it was refused.
    case older, newer
    /// Says a hello with members that nobody knows, and serves nothing.
    case extended
    /// Says another device's name in its hello, and serves nothing.
    case liar
    /// Puts itself into the background: the process that was started ends.
    case daemon
    /// Writes garbage in the place of its hello.
    case babbling

    static var words: [String] { allCases.map(\.rawValue) }

    static func run(_ words: [String]) -> Never {
        let rest = Array(words.dropFirst())
        guard let first = words.first, let behaviour = Behaviour(rawValue: first) else {
            serve(words)
        }
        let names = words.filter { $0.hasPrefix("Zoo.") }
        switch behaviour {
        case .wild:
            if access(Place.file("wild"), F_OK) == 0 { run(rest) }
            serve(names)
        case .quits:
            complain(rest.dropFirst().joined(separator: " "))
            exit(Int32(rest.first ?? "") ?? 1)
        case .fragile:
            let file = rest.first ?? ""
            if access(file, F_OK) == 0 {
                complain("\(file) is there")
                exit(3)
            }
        case .mute: while true { pause() }
        case .stubborn: signal(SIGTERM, SIG_IGN)
        case .unfinished: serve(Array(rest.dropLast()))
        case .traps: Deed.trap()
        case .slow: usleep((UInt32(rest.first ?? "") ?? 0) * 1_000)
        case .brief: serveBriefly(rest, names)
        case .chatty:
            print("The zoo \u{1}\u{2}\u{0} is opening", terminator: "\n\n")
            fflush(nil)
            complain("and says so twice")
        case .older, .newer, .extended, .liar, .greets, .babbling: RawCable.run(behaviour, names)
        case .daemon: leave(names)
        }
        serve(names)
    }

    private static func serve(_ names: [String]) -> Never {
        Device.serve { try bind(names, $0) }
    }

    private static func serveBriefly(_ words: [String], _ names: [String]) -> Never {
        let life = UInt64(words.first ?? "") ?? 0
        let code = Int32(words.dropFirst().first ?? "") ?? 1
        Device.serve { device in
            try bind(names, device)
            device.onReady { _ in
                Program.spawn {
                    try? await Program.pause(milliseconds: life)
                    exit(code)
                }
            }
        }
    }

    @LoopActor
    private static func bind(_ names: [String], _ device: Bindings) throws {
        for name in names {
            guard
                let bind = Handlers.named(name) ?? Pipes.all[name] ?? Errand.all[name]
                    ?? Shelves.all[name]
            else {
                throw KernelError(.unbound, "the zoo has no \(name)")
            }
            bind(device)
        }
    }

    /// The double fork of a daemon: another process in a session of its own has the descriptors.
    private static func leave(_ names: [String]) -> Never {
        let kept: [Int32] = [3, 4, 5]
        let error = Spawn.start([Place.program] + names, ownSession: true, keeping: kept).error
        complain("in the background: \(error)")
        exit(0)
    }

    static func complain(_ line: String) {
        let text = line + "\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
    }
}

/// Where a device of the zoo finds itself.
enum Place {
    static var name: String { variable("CONCENTRIC_DEVICE") }
    static var program: String { CommandLine.arguments.first ?? "" }

    /// `NAME.kind` among the data of the instance.
    static func file(_ kind: String) -> String { "\(variable("CONCENTRIC_DATA"))/\(name).\(kind)" }

    /// A file among the data of the instance that its devices share.
    static func shared(_ file: String) -> String { "\(variable("CONCENTRIC_DATA"))/\(file)" }

    private static func variable(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}
