import DeviceKit
import Glibc

/// The file of a Chrome trace. After each batch it is whole JSON: the end is written with the
/// events, and overwritten by the next ones, so that whoever stops the shell, in whatever way,
/// leaves a file that opens; and so does a disk that is full.
final class ChromeFile {
    private let descriptor: Int32
    private let path: String
    private var trace = ChromeTrace()
    /// Where the end stands.
    private var position = 0
    private var isEmpty = true

    /// - Throws: `OutputError` naming the file and the system's reason.
    init(_ path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error(path) }
        try put(ChromeTrace.head + ChromeTrace.tail)
        position = ChromeTrace.head.utf8.count
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func add(_ entries: [TraceEntry]) throws {
        let events = entries.flatMap { trace.events(of: $0) }
        guard !events.isEmpty else { return }
        let text = (isEmpty ? "" : ",\n") + events.map { $0.json() }.joined(separator: ",\n")
        do {
            try put(text + ChromeTrace.tail)
        } catch {
            takeBack()
            throw error
        }
        position += text.utf8.count
        isEmpty = false
    }

    /// A batch was written in part: the end goes back to where it stood, where it has room.
    private func takeBack() {
        try? put(ChromeTrace.tail)
        _ = ftruncate(descriptor, off_t(position + ChromeTrace.tail.utf8.count))
    }

    private func put(_ text: String) throws {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done,
                    off_t(position + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.error(path) }
            done += count
        }
    }

    private static func error(_ path: String) -> OutputError {
        OutputError(message: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
