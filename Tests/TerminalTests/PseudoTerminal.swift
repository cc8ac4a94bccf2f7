import Glibc

/// A pair of a terminal and the end that its user would sit at.
final class PseudoTerminal {
    let user: Int32
    let terminal: Int32
    let path: String

    struct Failure: Error {}

    /// The calls behind unlockpt and ptsname, which Glibc shows to GNU sources only.
    private static let unlock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    init(columns: UInt16 = 40, rows: UInt16 = 6) throws {
        user = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var locked: Int32 = 0
        var index: UInt32 = 0
        guard user >= 0, ioctl(user, Self.unlock, &locked) == 0,
            ioctl(user, Self.number, &index) == 0
        else { throw Failure() }
        path = "/dev/pts/\(index)"
        terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw Failure() }
        resize(columns: columns, rows: rows)
        _ = fcntl(user, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(user)
        close(terminal)
    }

    func resize(columns: UInt16, rows: UInt16) {
        var window = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &window)
    }

    /// Whether what is typed is a line, as a shell wants it.
    var isCooked: Bool {
        var modes = termios()
        tcgetattr(terminal, &modes)
        let cooked = UInt32(ICANON | ECHO | ISIG)
        return modes.c_lflag & cooked == cooked && modes.c_oflag & UInt32(OPOST) != 0
    }

    /// All that was written to the terminal and not read yet.
    func shown() -> String {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(user, &bytes, bytes.count)
            guard count > 0 else { break }
            all += bytes[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(user, bytes, bytes.count)
    }
}

/// Waits until a descriptor has something to read.
func awaitReadable(_ descriptor: Int32) {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&waited, 1, 240_000)
}
