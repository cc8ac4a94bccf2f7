import Glibc
import Kernel
import Supervisor
import UnixSocket
import Values
import Wire

/// What the kernel shows of itself: the region `Kernel.Host`, set once at boot, with what it is and
/// where its files are; and the rows of `Kernel.Devices`.
extension House {
    nonisolated static let hostRegion = "Kernel.Host"

    /// - Parameters:
    ///   - socket: where it listens.
    ///   - devices: the folder in which it found the manifests.
    func declareHost(socket: String, devices: String) {
        let path = realpath(devices, nil)
        defer { free(path) }
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        let members: [String: Value] = [
            "pid": .int(Int64(getpid())), "build": .text(WireVersion.build),
            "wire": .int(Int64(clamping: WireVersion.wire)), "instance": .text(options.name),
            "socket": .text(socket), "data": .text(options.dataDirectory),
            "logs": .text(options.logDirectory),
            "devices": .text(path.map { String(cString: $0) } ?? devices),
            "startedAt": .date(Clock.realtime),
            "descriptors": .map([
                "soft": .int(Int64(clamping: limits.rlim_cur)),
                "hard": .int(Int64(clamping: limits.rlim_max)),
            ]),
        ]
        hub.declare(region: Self.hostRegion, initial: .map(members), owned: true)
    }

    /// A row of `Kernel.Devices`.
    /// - Parameter build: what the process that serves says that it was built as.
    func row(of status: DeviceStatus, build: String?) -> Value {
        let members: [String: Value] = [
            "name": .text(status.name),
            "state": .text(status.state.rawValue),
            "pid": status.pid > 0 ? .int(Int64(status.pid)) : .null,
            "incarnation": .int(Int64(status.incarnation)),
            "restarts": .int(Int64(status.restarts)),
            "lastExit": .text(status.lastExit),
            "reason": .text(status.reason),
            "build": build.map(Value.text) ?? .null,
        ]
        return .map(members)
    }
}
