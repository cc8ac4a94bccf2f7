import Glibc
import Installation
import Supervisor
import UnixSocket

/// What the kernel was started with.
struct Options {
    var name = "main"
    var data: String?
    var devices: String?
    /// Nanoseconds without progress, after which a client that leaves something unread is cut off.
    var patience = HouseLimits.patience
    /// Bytes that all clients together may leave unread.
    var unread = HouseLimits.unread

    /// A word of the command line that makes no sense.
    struct UsageError: Error, CustomStringConvertible {
        var description: String
    }

    static let usage = """
        usage: concentric-kernel [--name NAME] [--data DIR] [--devices DIR]

        Starts every device of a folder and routes messages between them. `concentric up` starts it.

          --name NAME     the instance; its socket is named after it (main)
          --data DIR      where devices keep their data ($XDG_DATA_HOME/concentric/NAME)
          --devices DIR   the folder of devices ($CONCENTRIC_DEVICES, or devices/ near this program)

        $CONCENTRIC_PATIENCE: milliseconds after which a client that takes nothing of what waits for
        it is cut off (30000).
        $CONCENTRIC_UNREAD: MiB that all clients together may leave unread, before some are cut off
        (512).
        """

    init(_ arguments: [String]) throws(UsageError) {
        if let name = Self.environment("CONCENTRIC_NAME"), !name.isEmpty { self.name = name }
        patience = try Self.patience(Self.environment("CONCENTRIC_PATIENCE"))
        unread = try Self.unread(Self.environment("CONCENTRIC_UNREAD"))
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard ["--name", "--data", "--devices"].contains(word) else {
                throw UsageError(description: "unknown word \(word); see --help")
            }
            guard let value = rest.popFirst(), !value.isEmpty else {
                throw UsageError(description: "\(word) wants a value")
            }
            switch word {
            case "--name": name = value
            case "--data": data = value
            default: devices = value
            }
        }
        // First of all, for files are named after it, too.
        do throws(SocketError) {
            try SocketPath.check(name: name)
        } catch {
            throw UsageError(description: "\(error)")
        }
    }

    /// Nanoseconds of a number of milliseconds; the usual ones if there is none.
    static func patience(_ text: String?) throws(UsageError) -> UInt64 {
        guard let text else { return HouseLimits.patience }
        guard let milliseconds = UInt64(text), (5...3_600_000).contains(milliseconds) else {
            throw UsageError(
                description: "CONCENTRIC_PATIENCE wants milliseconds, 5 to 3600000, not \(text)")
        }
        return milliseconds * 1_000_000
    }

    /// Bytes of a number of MiB; the usual ones if there is none.
    static func unread(_ text: String?) throws(UsageError) -> Int {
        guard let text else { return HouseLimits.unread }
        guard let mebibytes = Int(text), (16...1 << 20).contains(mebibytes) else {
            throw UsageError(
                description: "CONCENTRIC_UNREAD wants MiB, 16 to 1048576, not \(text)")
        }
        return mebibytes << 20
    }

    static func environment(_ name: String) -> String? { InstanceFolders.variable(name) }

    /// Whether nobody reads what is said after the first line.
    var isDetached: Bool { Self.environment("CONCENTRIC_DETACHED") == "1" }

    /// Where this instance keeps what outlives it.
    var folders: InstanceFolders { InstanceFolders(name: name, given: data) }
    var dataDirectory: String { folders.data }
    var logDirectory: String { folders.logs }

    /// How each seat of a device is started.
    func specs(of manifest: Manifest, executable: String) -> [DeviceSpec] {
        manifest.seats.map { seat in
            manifest.spec(
                of: seat, executable: executable, environment: environment(of: manifest, seat))
        }
    }

    /// The whole environment of a process of a device.
    private func environment(of manifest: Manifest, _ seat: String) -> [String] {
        var map: [String: String] = [:]
        for key in ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "XDG_RUNTIME_DIR"] {
            if let value = Self.environment(key) { map[key] = value }
        }
        // A repeat of a handler must iterate sets in the same order as its first attempt.
        map["SWIFT_DETERMINISTIC_HASHING"] = "1"
        // A backtrace would keep the cable of a dead process open.
        map["SWIFT_BACKTRACE"] = "enable=no"
        map.merge(manifest.environment) { $1 }
        // Last, for what descends from a device is known by them.
        map["CONCENTRIC_NAME"] = name
        map["CONCENTRIC_DEVICE"] = seat
        map["CONCENTRIC_DATA"] = dataDirectory
        return map.map { "\($0)=\($1)" }.sorted()
    }

    /// Seconds from the start to the readiness of all: the longest that one of them is given, and
    /// the time in which the death of a late one is known.
    func startLimit(of manifests: [Manifest]) -> Double {
        let longest = manifests.map(\.startLimit).max()
        return (longest ?? PolicyNumbers.start) + PolicyNumbers.reap
    }

    /// Says a line to whoever started the kernel: on standard output, and where it asked for it.
    @LoopActor
    func say(_ line: String) {
        KernelLog.add(line)
        put(PlainLine.of(line) + "\n", on: 1)
    }
}
