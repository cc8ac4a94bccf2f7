import CLinux
import Control
import DeviceKit
import Glibc
import Wire

/// What a device of the zoo does when it is told: the first word of a payload.
enum Deed: String, CaseIterable {
    /// `close FD` closes the cable (3), the life line (4) or the status page (5).
    case close
    /// Puts nonsense into the status page.
    case scribble
    /// Breaks the protocol: bytes that are no frame, a length of 4 GiB, the half of a frame.
    case garbage, huge, half
    /// Writes frames for ever and reads none.
    case flood
    /// Stops itself.
    case stop
    /// `exit CODE`; `raise SIGNAL`, whose action is the default.
    case exit, raise
    case trap
    /// A loop without end; a system call that does not return.
    case spin, block
    /// `busy MS` and `linger MS` take their time and go on: without waiting, and waiting, which
    /// says so first.
    case busy, linger
    /// `print BYTES` on both streams without an end of line.
    case print
    /// Lines for ever, until it is over: `spam LINES`.
    case spam
    /// Helper processes: in the group, in a session of its own, as a daemon whose parent has
    /// ended, and one that keeps the cable.
    case helper, escape, daemon, hold
    /// A shell that leaves two jobs in the background behind: one ends at once, one sleeps.
    case jobs
    /// The same of one job that has left the group and says nothing of its device.
    case bare
    /// Leaves its group for that of the kernel; asks for a session of its own.
    case desert, session

    static var words: [String] { allCases.map(\.rawValue) }

    /// Does what the words say; returns if the deed is one after which a device goes on.
    @LoopActor
    static func perform(_ text: String) async throws {
        let words = text.split(separator: " ").map(String.init)
        let number = Int32(words.dropFirst().first ?? "") ?? 0
        guard let deed = Deed(rawValue: words.first ?? "") else { return }
        switch deed {
        case .linger:
            Swift.print("lingers")
            try await Program.pause(milliseconds: UInt64(max(0, number)))
        case .garbage, .huge, .half, .flood: speak(deed)
        case .helper, .escape, .daemon, .hold, .jobs, .bare, .desert, .session: part(deed)
        default: work(deed, number)
        }
    }

    /// The same of a deed that does not wait, for code that cannot.
    nonisolated static func performNow(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let deed = Deed(rawValue: words.first ?? "") else { return }
        work(deed, Int32(words.dropFirst().first ?? "") ?? 0)
    }

    nonisolated private static func work(_ deed: Deed, _ number: Int32) {
        switch deed {
        case .close: Glibc.close(number)
        case .scribble: scribble()
        case .stop: Glibc.raise(SIGSTOP)
        case .exit: Glibc.exit(number)
        case .raise:
            signal(number, SIG_DFL)
            Glibc.raise(number)
        case .trap: trap()
        case .spin:
            var count: UInt64 = 0
            while true { count &+= 1 }
        case .block:
            var ends: [Int32] = [0, 0]
            var byte: UInt8 = 0
            clx_pipe(&ends, 0)
            while true { _ = read(ends[0], &byte, 1) }
        case .busy:
            let end = monotonic + Int(number) * 1_000_000
            while monotonic < end {}
        case .print: Handlers.shout(Int(number))
        case .spam: for line in 0..<number { Swift.print("line \(line) of the spam") }
        default: break
        }
    }

    /// Nanoseconds.
    nonisolated private static var monotonic: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    nonisolated static func trap() -> Never {
        // The payload of a test asks for it.
        fatalError("the payload asked for it")
    }

    nonisolated private static func scribble() {
        let memory = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0)
        guard let memory, memory != MAP_FAILED else { return }
        memset(memory, 0xA5, 4_096)
    }

    nonisolated private static func speak(_ deed: Deed) {
        switch deed {
        case .garbage: RawCable.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        case .huge: RawCable.send([0xFF, 0xFF, 0xFF, 0xFF, 0x83])
        case .half: RawCable.send([0, 0, 4, 0, 0x83, 0x15])
        case .flood:
            let writer = CBORWriter()
            for number: UInt64 in 0..<4_096 { writer.ping(number) }
            let bytes = writer.bytes
            while RawCable.send(bytes) {}
        default: break
        }
    }

    nonisolated private static func part(_ deed: Deed) {
        let sleeper = ["sleep", "1000"]
        switch deed {
        case .helper: _ = Spawn.start(sleeper)
        case .escape: _ = Spawn.start(sleeper, ownSession: true)
        case .hold: _ = Spawn.start(sleeper, ownSession: true, keeping: [3, 4])
        case .daemon:
            let shell = Spawn.start(["sh", "-c", "setsid sh -c 'sleep 1000 & sleep 1000' &"])
            waitpid(shell.pid, nil, 0)
        case .jobs:
            let shell = Spawn.start(["setsid", "sh", "-c", "sleep 0.1 & sleep 1000 & exit 0"])
            waitpid(shell.pid, nil, 0)
        case .bare:
            waitpid(Spawn.start(["sh", "-c", "env -i setsid sleep 1000 & exit 0"]).pid, nil, 0)
        case .desert: told("desert", setpgid(0, getpgid(getppid())))
        case .session: told("session", setsid())
        default: break
        }
    }

    nonisolated private static func told(_ deed: String, _ result: Int32) {
        Behaviour.complain("\(deed): \(result < 0 ? String(cString: strerror(errno)) : "done")")
    }
}
