internal import CLinux
internal import Glibc
internal import Installation
internal import UnixSocket

/// There is no process, and why.
struct LaunchFailure: Error, Equatable {
    let message: String
    let errno: Int32

    init(_ message: String, _ errno: Int32) {
        self.message = message
        self.errno = errno
    }

    /// What `clx_launch` failed at.
    init(_ spec: DeviceSpec, step: Int32, errno: Int32) {
        let what =
            switch clx_step(rawValue: UInt32(step)) {
            case clx_step_exec: "cannot execute \(spec.executable)"
            case clx_step_directory: "cannot start in \(spec.directory ?? "")"
            case clx_step_limits: "cannot set the limits of \(spec.executable)"
            default: "cannot start \(spec.executable)"
            }
        var line = "\(what): \(SocketError.text(of: errno))"
        if step == clx_step_exec.rawValue {
            line += Self.hint(spec.executable, errno)
        }
        self.init(line, errno)
    }

    /// What the error number alone does not say about the file.
    private static func hint(_ path: String, _ errno: Int32) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "" }
        if status.st_mode & S_IFMT == S_IFDIR { return " (it is a directory)" }
        switch errno {
        case EACCES: return " (its mode is 0\(String(status.st_mode & 0o7777, radix: 8)))"
        case ENOENT: return " (the file is there: \(missing(of: ProgramFile(path))) is missing)"
        case ENOEXEC: return " (\(foreign(ProgramFile(path))))"
        default: return ""
        }
    }

    private static func missing(of program: ProgramFile) -> String {
        switch program.kind {
        case .program(_, let loader?): "its loader \(loader)"
        case .script(let interpreter): "its interpreter \(interpreter)"
        case .program, .neither: "its loader or interpreter"
        }
    }

    private static func foreign(_ program: ProgramFile) -> String {
        guard case .program(let machine, _) = program.kind, let own = ProgramFile.ownMachine,
            machine != own
        else { return "no program of this machine" }
        return "a program for \(ProgramFile.name(of: machine)), this machine is "
            + ProgramFile.name(of: own)
    }

    /// The name that the policy knows the error by.
    var name: String { Self.names[errno] ?? "errno \(errno)" }

    private static let names: [Int32: String] = [
        EAGAIN: "EAGAIN", ENOMEM: "ENOMEM", EMFILE: "EMFILE", ENFILE: "ENFILE",
        ENOENT: "ENOENT", EACCES: "EACCES", ENOEXEC: "ENOEXEC", ENOTDIR: "ENOTDIR",
        EISDIR: "EISDIR", ELOOP: "ELOOP", EPERM: "EPERM", E2BIG: "E2BIG", ETXTBSY: "ETXTBSY",
        EINVAL: "EINVAL", EIO: "EIO",
    ]
}

/// Names of signals without SIG.
package enum SignalName {
    private static let names: [(Int32, String)] = [
        (SIGHUP, "HUP"), (SIGINT, "INT"), (SIGQUIT, "QUIT"), (SIGILL, "ILL"), (SIGTRAP, "TRAP"),
        (SIGABRT, "ABRT"), (SIGBUS, "BUS"), (SIGFPE, "FPE"), (SIGKILL, "KILL"),
        (SIGUSR1, "USR1"), (SIGSEGV, "SEGV"), (SIGUSR2, "USR2"), (SIGPIPE, "PIPE"),
        (SIGALRM, "ALRM"), (SIGTERM, "TERM"), (SIGCHLD, "CHLD"), (SIGCONT, "CONT"),
        (SIGSTOP, "STOP"), (SIGTSTP, "TSTP"), (SIGTTIN, "TTIN"), (SIGTTOU, "TTOU"),
        (SIGURG, "URG"), (SIGXCPU, "XCPU"), (SIGXFSZ, "XFSZ"), (SIGVTALRM, "VTALRM"),
        (SIGPROF, "PROF"), (SIGWINCH, "WINCH"), (SIGIO, "IO"), (SIGSYS, "SYS"),
    ]

    /// `KILL` for 9; the number where there is no name.
    package static func of(_ number: Int32) -> String {
        names.first { $0.0 == number }?.1 ?? String(number)
    }

    /// 9 for `KILL`, `SIGKILL`, `kill` and `9`.
    package static func number(_ text: String) -> Int32? {
        if let number = Int32(text) { return (1...64).contains(number) ? number : nil }
        let upper = text.uppercased()
        let bare = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
        return names.first { $0.1 == bare }?.0
    }
}
