import Control
import DeviceKit
import Glibc

/// What a device has begun, one line a visit, in a file that survives it.
enum Diary {
    @LoopActor
    static func bind(_ symbol: Symbol<String, String>, _ device: Bindings) {
        device.bind(symbol) { _, text in
            try write(text)
            var deed = text[...]
            if text.hasPrefix("late ") {
                deed = text.dropFirst(5)
                try await Program.pause(milliseconds: 5)
            }
            try await Deed.perform(String(deed))
            return text
        }
    }

    nonisolated static func keep(_ text: String) throws -> String {
        try write(text)
        Deed.performNow(text)
        return text
    }

    nonisolated static func write(_ text: String) throws {
        guard write(text + "\n", to: Place.file("diary")) else {
            throw KernelError(.failed, "no diary: \(String(cString: strerror(errno)))")
        }
    }

    /// Adds a line, whole or not at all.
    @discardableResult
    nonisolated static func write(_ line: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        return line.withCString { Glibc.write(file, $0, strlen($0)) } == line.utf8.count
    }
}
