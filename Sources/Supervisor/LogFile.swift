internal import Glibc
internal import Installation
package import UnixSocket

/// The file of a log: bounded, put aside when it is full, and made again when somebody removed it.
///
/// Nothing that befalls it reaches its writer: what cannot be written is counted, and the next line
/// that can be written says how many lines are missing.
@LoopActor
package final class LogFile {
    private let folder: String
    package let path: String
    private var file: OwnedDescriptor?
    private var device: dev_t = 0
    private var inode: ino_t = 0
    private var size = 0
    private var pending: [UInt8] = []
    private var pendingLines = 0
    private var lostLines = 0
    /// The last write ended within a line.
    private var isMidLine = false
    private var isTroubled = false
    /// The last full file could not be put aside.
    private var isStuck = false
    private let tell: @LoopActor (String) -> Void
    private let opened: @LoopActor (Int32) -> Void

    /// - Parameters:
    ///   - folder: is made if it is missing, but not its parent.
    ///   - tell: is told once that the file cannot be written, until it can be again.
    ///   - opened: is told each descriptor of the file, which stays owned here.
    package init(
        folder: String, name: String, tell: @escaping @LoopActor (String) -> Void,
        opened: @escaping @LoopActor (Int32) -> Void = { _ in }
    ) {
        self.folder = folder
        self.tell = tell
        self.opened = opened
        path = "\(folder)/\(SeatName.file(of: name)).log"
        openFile()
    }

    /// Opens the file anew, so that `opened` is told of it.
    package func reopen() { openFile() }

    /// Adds a line: the time, the process, the stream, the text.
    package func add(_ incarnation: Int, _ stream: LogStream, _ line: String) {
        pending.append(contentsOf: "\(Self.stamp()) #\(incarnation) \(stream.rawValue) ".utf8)
        pending.append(contentsOf: line.utf8)
        pending.append(10)
        pendingLines += 1
        // Whoever adds without end between two turns does not fill the memory.
        if pending.count > LogLimits.bytesPerSecond { flush() }
    }

    /// Writes what was added.
    package func flush() {
        guard pendingLines > 0 else { return }
        defer {
            pending.removeAll(keepingCapacity: pending.capacity <= LogLimits.bytesPerSecond)
            pendingLines = 0
        }
        if !isInPlace { openFile() }
        let cut = size > 0 && size + pending.count > LogLimits.fileBytes ? rotate() : nil
        guard let number = file?.number else {
            lostLines += pendingLines
            return
        }
        var text: [UInt8] = isMidLine ? [10] : []
        if let cut {
            text += Array("\(Self.stamp()) #0 kernel [\(cut)]\n".utf8)
        }
        if lostLines > 0 {
            let lost = "[\(lostLines) lines are missing: the log could not be written]"
            text += Array("\(Self.stamp()) #0 kernel \(lost)\n".utf8)
        }
        guard write(text, to: number).isEmpty else {
            lostLines += pendingLines
            return
        }
        lostLines = write(pending, to: number).count { $0 == 10 }
    }

    /// - Returns: what could not be written.
    private func write(_ bytes: [UInt8], to number: Int32) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                trouble("cannot be written: \(SocketError.text(of: errno))")
                return rest
            }
            size += count
            rest = rest.dropFirst(count)
            isMidLine = bytes[rest.startIndex - 1] != 10
        }
        if !bytes.isEmpty { isTroubled = false }
        return rest
    }

    private func trouble(_ what: String) {
        guard !isTroubled else { return }
        isTroubled = true
        tell("no log file \(path): \(what)")
    }

    /// Whether the path still leads to the file that is open.
    private var isInPlace: Bool {
        var status = stat()
        return file != nil && lstat(path, &status) == 0 && status.st_dev == device
            && status.st_ino == inode
    }

    private func openFile() {
        file = nil
        isMidLine = false
        mkdir(folder, 0o700)
        // A pipe in the file's place would block the opening, and nobody else's file is written.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let number = open(path, flags, 0o600)
        guard number >= 0 else { return trouble(SocketError.text(of: errno)) }
        let new = OwnedDescriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return trouble("it is no plain file")
        }
        device = status.st_dev
        inode = status.st_ino
        size = Int(status.st_size)
        file = consume new
        opened(number)
    }

    /// Puts the full file aside. One that stays where it is, for its folder is not writable or
    /// something stands in the place beside it, is emptied: the bound holds whatever happens.
    /// - Returns: what to say of it in the file that is begun.
    private func rotate() -> String? {
        if rename(path, path + ".1") == 0 {
            isStuck = false
            openFile()
            return nil
        }
        let why = "\(path).1 cannot be made: \(SocketError.text(of: errno))"
        if !isStuck { tell("a full log file is emptied: \(why)") }
        isStuck = true
        guard let number = file?.number else { return nil }
        guard ftruncate(number, 0) == 0 else {
            trouble("cannot be emptied: \(SocketError.text(of: errno))")
            file = nil
            return nil
        }
        size = 0
        isMidLine = false
        return "the lines before are gone: \(why)"
    }

    /// Now, as RFC 3339 in UTC with milliseconds.
    private static func stamp() -> String {
        let now = Clock.realtime
        var seconds = time_t(now / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day =
            "\(parts.tm_year + 1900)-\(digits(Int(parts.tm_mon) + 1, 2))"
            + "-\(digits(Int(parts.tm_mday), 2))"
        let time =
            "\(digits(Int(parts.tm_hour), 2)):\(digits(Int(parts.tm_min), 2))"
            + ":\(digits(Int(parts.tm_sec), 2))"
        return "\(day)T\(time).\(digits(Int(now % 1000), 3))Z"
    }
}
