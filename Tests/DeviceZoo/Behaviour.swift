import Control
import DeviceKit
import Glibc

/// What a device of the zoo does, by the first word of its arguments.
enum Behaviour {
    /// - Parameter words: the names of the symbols to answer, after one of these words or none:
    ///   `stubborn` ignores SIGTERM, `quits CODE LINE` ends at once, `fragile FILE` does so while
    ///   there is a file, `mute` never says hello, `unfinished` leaves the last symbol unbound.
    static func run(_ words: [String]) -> Never {
        switch words.first {
        case "quits":
            complain(words.dropFirst(2).joined(separator: " "))
            exit(Int32(words.dropFirst().first ?? "") ?? 1)
        case "fragile":
            let file = words.dropFirst().first ?? ""
            if access(file, F_OK) == 0 {
                complain("\(file) is there")
                exit(3)
            }
            serve(Array(words.dropFirst(2)))
        case "mute":
            while true { pause() }
        case "stubborn":
            signal(SIGTERM, SIG_IGN)
            serve(Array(words.dropFirst()))
        case "unfinished": serve(Array(words.dropFirst().dropLast()))
        default: serve(words)
        }
    }

    private static func serve(_ names: [String]) -> Never {
        Device.serve { device in
            for name in names {
                guard let bind = Handlers.all[name] ?? Handlers.limits[name] ?? Pipes.all[name]
                else {
                    throw KernelError(.unbound, "the zoo has no \(name)")
                }
                bind(device)
            }
        }
    }

    static func complain(_ line: String) {
        let text = line + "\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
    }
}
