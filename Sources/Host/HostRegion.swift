import Glibc
import Kernel
import UnixSocket
import Values
import Wire

/// The region `Kernel.Host`: what this kernel is and where its files are. It is set once, at boot.
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
        let value = Value.map([
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
        ])
        hub.declare(region: Self.hostRegion, initial: value, owned: true)
    }
}
