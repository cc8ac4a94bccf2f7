import DeviceKit
import Glibc

/// A device beside those of the application, for what these do not have: symbols that are never
/// sent again, effects outside of a transaction, handlers that end or hang their process.
enum Post {
    /// Adds a line to `mail`; what may not be repeated once it has begun.
    static let mail = Symbol<String, String>("Chaos.mail", .once)
    /// Makes a file that is named by the key, unless it is there.
    static let keep = Symbol<String, String>("Chaos.keep", .keyed)
    /// Hangs at its first attempt.
    static let stumble = Symbol<String, String>(
        "Chaos.stumble", .replayable.limits(attempt: 300, deadline: 30_000))
    /// Ends its process at each attempt.
    static let poison = Symbol<String, String>(
        "Chaos.poison", .replayable.limits(attempt: 3_000, deadline: 60_000))

    static func manifest(executable: String) -> String {
        let names = [mail, keep, stumble, poison].map { Value.text($0.name) }
        return Value.map([
            "name": "post", "executable": .text(executable), "arguments": ["device"],
            "provides": .array(names),
        ]).json()
    }

    static func serve() -> Never {
        let data = getenv("CONCENTRIC_DATA").map { String(cString: $0) } ?? "."
        Device.serve { device in
            device.bind(mail) { _, text in
                usleep(4_000)
                try append("\(text)\n", to: "\(data)/mail")
                usleep(4_000)
                return text
            }
            device.bind(keep) { kernel, text in
                usleep(2_000)
                try keep(text, key: kernel.key, in: "\(data)/kept")
                usleep(2_000)
                return text
            }
            device.bind(stumble) { _, text in
                // Whoever made the file hangs.
                if creat("\(data)/stumble-\(text)", 0o600, O_EXCL) { while true { pause() } }
                return text
            }
            device.bind(poison) { _, _ in
                kill(getpid(), SIGSEGV)
                while true { pause() }
            }
        }
    }

    private static func creat(_ path: String, _ mode: mode_t, _ flag: Int32) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flag, mode)
        if file >= 0 { close(file) }
        return file >= 0
    }

    private static func append(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0, text.withCString({ write(file, $0, strlen($0)) }) == text.utf8.count else {
            throw KernelError(.failed, "\(path): \(String(cString: strerror(errno)))")
        }
        close(file)
    }

    /// The file comes into being whole, or a kill could leave an empty one.
    private static func keep(_ text: String, key: String, in folder: String) throws {
        mkdir(folder, 0o700)
        let name = String(key.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" })
        let draft = "\(folder)/.draft-\(getpid())"
        unlink(draft)
        try append(text, to: draft)
        let made = link(draft, "\(folder)/\(name)")
        guard made == 0 || errno == EEXIST else {
            throw KernelError(.failed, "\(name): \(String(cString: strerror(errno)))")
        }
        unlink(draft)
    }
}
