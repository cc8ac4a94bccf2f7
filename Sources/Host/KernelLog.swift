import Glibc
import Supervisor
import UnixSocket
import Wire

/// The kernel's own log, `kernel.log`: what it complains of, whether or not somebody looks at the
/// terminal that it was started from.
@LoopActor
final class KernelLog {
    /// There is one as soon as the folder of the data is this kernel's alone.
    private(set) static var current: KernelLog?

    /// What was complained of before there was one.
    private static var early: [String] = []
    private static let earlyLines = 16

    /// Standard output and error go into the file.
    private(set) var holdsStreams = false
    private var file: LogFile?
    private let rate = LogRate()

    static func open(in folder: String, name: String) {
        let log = KernelLog()
        current = log
        log.file = LogFile(
            folder: folder, name: name,
            tell: { [unowned log] in if !log.holdsStreams { sayOnError($0) } },
            opened: { [unowned log] in if log.holdsStreams { log.redirect(to: $0) } })
        log.add("started: pid=\(getpid()) build=\(WireVersion.build) wire=\(WireVersion.wire)")
        for line in early { log.add(line) }
        early = []
    }

    /// Adds a line to the log, as soon as there is one.
    static func add(_ line: String) {
        if let current {
            current.add(line)
        } else if early.count < earlyLines {
            early.append(line)
        }
    }

    private func add(_ line: String) {
        if let report = rate.open(Clock.monotonic) { file?.add(0, .kernel, report) }
        if rate.isOver {
            rate.suppress()
        } else {
            let piece = PlainLine.of(line)
            rate.count(piece.utf8.count)
            file?.add(0, .kernel, piece)
        }
        file?.flush()
    }

    /// From now on standard output and error go to the log: who started the kernel may be gone, or
    /// wait for the end of the pipe.
    func takeStreams() {
        holdsStreams = true
        let null = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
        redirect(to: null)
        Glibc.close(null)
        file?.reopen()
    }

    /// What the language's runtime says of a trap is kept, too.
    private func redirect(to descriptor: Int32) {
        guard descriptor >= 0 else { return }
        for stream: Int32 in [1, 2] { dup2(descriptor, stream) }
    }
}

/// Says what is wrong: in the log, and in one line on standard error while somebody reads it.
@LoopActor
func complain(_ line: String) {
    KernelLog.add(line)
    if KernelLog.current?.holdsStreams != true { sayOnError(line) }
}

/// One line on standard error; names in it may be a stranger's.
func sayOnError(_ line: String) {
    put("concentric-kernel: \(PlainLine.of(line))\n", on: 2)
}
