import Driver
import Glibc
import Installation
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
    ///   - manifests: those by which it runs devices, as they were read.
    func declareHost(socket: String, devices: String, manifests: [ManifestSearch.Found]) {
        let path = realpath(devices, nil)
        defer { free(path) }
        let folder = path.map { String(cString: $0) } ?? devices
        let rows = manifests.map { found in
            // The same file whatever the working directory of who looks.
            let file = found.file.dropFirst(devices.utf8.count)
            return Value.map([
                "device": .text(found.manifest.name), "file": .text(folder + file),
                "digest": .text(found.digest),
            ])
        }
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        let members: [String: Value] = [
            "pid": .int(Int64(getpid())), "build": .text(WireVersion.build),
            "wire": .int(Int64(clamping: WireVersion.wire)), "instance": .text(options.name),
            "socket": .text(socket), "data": .text(options.dataDirectory),
            "logs": .text(options.logDirectory),
            "devices": .text(folder), "manifests": .array(rows),
            "startedAt": .date(Clock.realtime),
            "descriptors": .map([
                "soft": .int(Int64(clamping: limits.rlim_cur)),
                "hard": .int(Int64(clamping: limits.rlim_max)),
            ]),
            "limits": .map([
                "backlog": .int(Int64(DriverLimits.backlog)),
                "pastBytes": .int(Int64(hub.limits.pastBytes)),
                "connectionBytes": .int(Int64(HouseLimits.connectionBytes)),
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
            "asked": .text(status.asked.rawValue),
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
