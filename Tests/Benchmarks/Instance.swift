import DeviceKit
import Glibc

/// A kernel with an echo device and, where it is asked for, another one, under a folder of its own.
@LoopActor
final class Instance {
    let kernel: Kernel
    private let folder: String

    private init(_ kernel: Kernel, _ folder: String) {
        self.kernel = kernel
        self.folder = folder
    }

    /// What runs beside the echo.
    enum Other {
        /// A device with pipes.
        case circuit
        /// A device with several processes.
        case toil
        /// A device with a region.
        case board
        /// A device with regions of many rows.
        case ledgers
    }

    static func start(with other: Other?) async throws -> Instance {
        let folder = "/tmp/concentric-bench-\(getpid())"
        let own = Bench.output(of: "readlink -f /proc/\(getpid())/exe")
        let bin = getenv("CONCENTRIC_BIN").map { String(cString: $0) } ?? parent(of: own)
        mkdir(folder, 0o700)
        mkdir("\(folder)/devices", 0o700)
        try write(
            """
            {"name": "echo", "executable": "\(own)", "arguments": ["device"], "sandbox": "pure",
             "provides": ["Bench.echo"]}
            """, of: "echo", in: folder)
        if other == .toil {
            try write(
                """
                {"name": "toil", "executable": "\(own)", "arguments": ["toil"], "sandbox": "pure",
                 "provides": ["\(Toil.symbol.name)"], "instances": \(Toil.instances)}
                """, of: "toil", in: folder)
        }
        if other == .circuit {
            try write(
                """
                {"name": "route", "executable": "\(own)", "arguments": ["circuit"],
                 "provides": ["Bench.route", "Bench.calls"], "calls": ["Bench.echo"]}
                """, of: "route", in: folder)
        }
        if other == .board {
            try write(
                """
                {"name": "board", "executable": "\(own)", "arguments": ["board"],
                 "provides": ["Bench.flood"], "writes": ["BenchBoard"],
                 "regions": [{"name": "BenchBoard", "initial": {"count": 0, "text": ""}}]}
                """, of: "board", in: folder)
        }
        if other == .ledgers {
            try write(Ledgers.manifest(own), of: "ledgers", in: folder)
        }
        setenv("XDG_RUNTIME_DIR", folder, 1)
        let line = Bench.output(
            of: "'\(bin)/concentric' up --detach --name bench --data '\(folder)/data' "
                + "--devices '\(folder)/devices'")
        guard line.hasPrefix("ready ") else {
            throw KernelError(.unavailable, "the kernel did not start: \(line)")
        }
        let kernel = try await Kernel.connect(instance: "bench", client: "bench")
        try await kernel.follow("Kernel.Devices") { _ in }
        return Instance(kernel, folder)
    }

    private nonisolated static func write(
        _ manifest: String, of device: String, in folder: String
    ) throws {
        mkdir("\(folder)/devices/\(device)", 0o700)
        guard let file = fopen("\(folder)/devices/\(device)/device.json", "w") else {
            throw KernelError(.unavailable, "\(folder) cannot be written")
        }
        fputs(manifest, file)
        fclose(file)
    }

    private nonisolated static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The device's process now.
    var devicePID: Int32 {
        let row = kernel.value(of: "Kernel.Devices")?.value[0]
        return Int32(clamping: row?["pid"]?.int ?? 0)
    }

    /// The process of a device.
    func pid(of device: String) throws -> Int32 {
        let rows = kernel.value(of: "Kernel.Devices")?.value.array ?? []
        guard let pid = rows.first(where: { $0["name"]?.text == device })?["pid"]?.int else {
            throw KernelError(.failed, "\(device) does not run")
        }
        return Int32(clamping: pid)
    }

    /// The device's state as it is shown.
    var state: String {
        kernel.value(of: "Kernel.Devices")?.value[0]?["state"]?.text ?? ""
    }

    /// Where the kernel listens.
    var socket: String { "\(folder)/concentric/bench.sock" }

    /// Processor seconds of the kernel.
    var kernelTime: Double { Self.processorTime(kernel.pid) }

    /// Waits until another process than this one serves.
    func replaced(_ pid: Int32) async throws {
        for _ in 0..<5_000 where devicePID == pid || !isReady {
            try await Program.pause(milliseconds: 1)
        }
        guard devicePID != pid, isReady else {
            throw KernelError(.failed, "the device was killed and no other process serves")
        }
    }

    /// Whether the device serves.
    var isReady: Bool { state == "ready" }

    /// Processor seconds of client, kernel and device.
    var processorTime: Double {
        Self.processorTime(getpid()) + Self.processorTime(kernel.pid) + deviceTime
    }

    /// Processor seconds of the device's process.
    var deviceTime: Double { Self.processorTime(devicePID) }

    private static func processorTime(_ pid: Int32) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return 0
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Waits until the kernel is gone, for it writes into the folder up to its end.
    func end() async {
        var isGone = false
        kernel.onEnd = { _ in isGone = true }
        _ = try? await kernel.call("Kernel.shutdown", .null)
        for _ in 0..<10_000 where !isGone { try? await Program.pause(milliseconds: 1) }
        kernel.close()
    }

    func remove() {
        _ = Bench.output(of: "rm -rf '\(folder)'")
    }
}
