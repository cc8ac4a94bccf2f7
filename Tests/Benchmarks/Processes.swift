import DeviceKit
import Glibc

/// What a process has used so far.
struct Use {
    /// Of the processor.
    var nanoseconds = 0.0
    var allocations = 0.0
    /// Bytes of them.
    var allocated = 0.0
    /// Bytes that went into sockets, and that came out of them.
    var sent = 0.0
    var received = 0.0

    static func - (left: Use, right: Use) -> Use {
        Use(
            nanoseconds: left.nanoseconds - right.nanoseconds,
            allocations: left.allocations - right.allocations,
            allocated: left.allocated - right.allocated, sent: left.sent - right.sent,
            received: left.received - right.received)
    }

    static func / (use: Use, count: Double) -> Use {
        Use(
            nanoseconds: use.nanoseconds / count, allocations: use.allocations / count,
            allocated: use.allocated / count, sent: use.sent / count,
            received: use.received / count)
    }
}

/// What each process of a measurement has used.
struct Uses {
    var writer: Use
    var kernel: Use
    var subscriber: Use
}

/// The processes of a measurement; this one is the subscriber. Each has the counters of
/// `Floor/Preloaded/counters.c`.
struct Processes {
    var writer: Int32
    var kernel: Int32

    var used: Uses {
        get throws {
            // This process last: what reading the others costs is not its work.
            Uses(
                writer: try Self.used(writer), kernel: try Self.used(kernel),
                subscriber: try Self.used(getpid()))
        }
    }

    private static func used(_ pid: Int32) throws -> Use {
        var clock = clockid_t()
        var time = timespec()
        guard let folder = getenv("BENCH_COUNTERS").map({ String(cString: $0) }),
            let file = fopen("\(folder)/\(pid)", "r")
        else {
            throw KernelError(
                .unavailable, "the process \(pid) has no counters: run Scripts/bench mutate")
        }
        defer { fclose(file) }
        var counters = [UInt64](repeating: 0, count: 4)
        guard fread(&counters, 8, 4, file) == 4, clock_getcpuclockid(pid, &clock) == 0,
            clock_gettime(clock, &time) == 0
        else { throw KernelError(.failed, "the counters of \(pid) cannot be read") }
        return Use(
            nanoseconds: Double(time.tv_sec) * 1e9 + Double(time.tv_nsec),
            allocations: Double(counters[0]), allocated: Double(counters[1]),
            sent: Double(counters[2]), received: Double(counters[3]))
    }
}
