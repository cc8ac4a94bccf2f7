import Glibc
import Installation

/// The log of one device as it is read: its file, the one that was put aside, and what follows.
///
/// The file that is open stays open while it is put aside, so nothing of it is missed; the next one
/// is read from its beginning.
final class LogTail {
    let device: String
    private let path: String
    private var file: Int32 = -1
    private var identity: Identity?
    /// The file that was last seen aside; what it holds has been read. It stays open, so that no
    /// other file can get its number.
    private var asideFile: Int32 = -1
    private var aside: Identity?
    private var partial: [UInt8] = []
    private var latest: Int64 = 0
    private var found: [LogEntry] = []

    /// Bytes of one file that are read at most, from its end.
    static let mostBytes = 8 << 20
    /// A line without an end is cut here.
    private static let longestLine = 64 << 10
    /// Files that are put aside faster than they are read end a turn.
    private static let filesPerTurn = 8

    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t
    }

    init(device: String, folder: String) {
        self.device = device
        path = "\(folder)/\(SeatName.file(of: device)).log"
    }

    deinit {
        for file in [file, asideFile] where file >= 0 { close(file) }
    }

    /// Everything that is there: the file that was put aside, then the file.
    func readAll() -> [LogEntry] {
        open()
        if Self.identity(of: path + ".1") != identity { readAside() }
        readToEnd()
        return take()
    }

    /// What came since the last reading.
    func readOn() -> [LogEntry] {
        for _ in 0..<Self.filesPerTurn {
            readToEnd()
            guard let now = Self.identity(of: path) else {
                letGo()
                break
            }
            if now == identity {
                guard isCut else { break }
                lseek(file, 0, SEEK_SET)
                continue
            }
            endLine()
            let beside = Self.identity(of: path + ".1")
            if beside != nil, beside == identity {
                setAside(file, identity)
                file = -1
            } else if identity != nil, beside != aside {
                // A whole file came and went in between.
                readAside()
            }
            open()
        }
        return take()
    }

    /// Nothing stands at the path. A removed file that is still open would keep its folder alive,
    /// and the system would never tell that the folder is gone.
    private func letGo() {
        let beside = Self.identity(of: path + ".1")
        if asideFile >= 0, beside != aside {
            close(asideFile)
            asideFile = -1
            aside = nil
        }
        guard file >= 0 else { return }
        endLine()
        if beside != nil, beside == identity {
            setAside(file, identity)
        } else {
            close(file)
        }
        file = -1
        identity = nil
    }

    /// What stands at the end of the file without an end of line.
    func finish() -> [LogEntry] {
        endLine()
        return take()
    }

    private func take() -> [LogEntry] {
        defer { found = [] }
        return found
    }

    private var isCut: Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_size < lseek(file, 0, SEEK_CUR)
    }

    private static func identity(of path: String) -> Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    private func open() {
        if file >= 0 { close(file) }
        identity = nil
        file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else { return }
        identity = Identity(device: status.st_dev, inode: status.st_ino)
        skip(status.st_size)
    }

    /// Leaves out the beginning of a file that is larger than a log is.
    private func skip(_ size: off_t) {
        guard size > Self.mostBytes else { return }
        var start = size - off_t(Self.mostBytes)
        // A line that was cut is left out; one longer than that is shown in pieces anyhow.
        let line = [UInt8](unsafeUninitializedCapacity: Self.longestLine) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, buffer.count, start))
        }
        if let end = line.firstIndex(of: 10) { start += off_t(end) + 1 }
        lseek(file, start, SEEK_SET)
    }

    private func readAside() {
        let current = file
        file = Glibc.open(path + ".1", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        if file >= 0, fstat(file, &status) == 0 {
            skip(status.st_size)
            readToEnd()
            endLine()
            setAside(file, Identity(device: status.st_dev, inode: status.st_ino))
        }
        file = current
    }

    private func setAside(_ file: Int32, _ identity: Identity?) {
        if asideFile >= 0 { close(asideFile) }
        asideFile = file
        aside = identity
    }

    private func readToEnd() {
        guard file >= 0 else { return }
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            var rest = block[..<count]
            while let end = rest.firstIndex(of: 10) {
                partial += rest[..<end]
                endLine()
                rest = rest[(end + 1)...]
            }
            partial += rest
            if partial.count > Self.longestLine { endLine() }
        }
    }

    private func endLine() {
        guard !partial.isEmpty else { return }
        let line = String(decoding: partial, as: UTF8.self)
        partial.removeAll(keepingCapacity: true)
        let entry = LogEntry(line, device: device, before: latest)
        latest = entry.at
        found.append(entry)
    }
}
