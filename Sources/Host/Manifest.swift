import Kernel
import Supervisor
import Values

/// What is wrong with a manifest, or with the place where it should be.
struct ManifestError: Error, CustomStringConvertible {
    var file: String
    var what: String

    var description: String { "\(file): \(what)" }
}

/// A device as its `device.json` describes it.
struct Manifest {
    /// Who starts it.
    enum Role: String, CaseIterable {
        /// The kernel does.
        case device
        /// The user does.
        case presentation
    }

    var name: String
    var executable: String
    var arguments: [String] = []
    var environment: [String: String] = [:]
    var role = Role.device
    var provides: [String] = []
    var calls: [String] = []
    var reads: [String] = []
    var writes: [String] = []
    /// Regions that it declares, with their initial values.
    var regions: [(name: String, initial: Value)] = []
    var restart = DeviceProfile.Restart.permanent
    var limits = DeviceSpec.Limits()
    /// Whether it stands behind the wall that makes it a function of its input.
    var pure = false
    var startSeconds: Double?
    /// Seconds for the steps of a stop: drain, then after SIGTERM.
    var drainSeconds: Double?
    var termSeconds: Double?

    private static let keys: Set<String> = [
        "name", "executable", "arguments", "environment", "role", "provides", "calls", "reads",
        "writes", "follows", "regions", "restart", "limits", "sandbox", "instances",
        "startSeconds", "drainSeconds", "termSeconds",
    ]

    /// The manifest of a file's text.
    /// - Throws: `ManifestError` naming the file, the key and what was expected.
    init(json: String, file: String) throws(ManifestError) {
        let reader = ManifestReader(file: file)
        let value: Value
        do {
            value = try Value.parse(json: json)
        } catch {
            throw ManifestError(file: file, what: "not JSON: \(error)")
        }
        guard let map = value.map else {
            throw ManifestError(file: file, what: "a manifest is an object")
        }
        try reader.only(Self.keys, in: map, of: "the manifest")
        name = try reader.name(map["name"], "name")
        executable = try reader.text(map["executable"], "executable") ?? name
        arguments = try reader.texts(map["arguments"], "arguments")
        environment = try reader.environment(map["environment"])
        role = try reader.word(map["role"], "role", Role.device)
        provides = try reader.texts(map["provides"], "provides")
        calls = try reader.texts(map["calls"], "calls")
        reads = try reader.texts(map["reads"], "reads")
        writes = try reader.texts(map["writes"], "writes")
        regions = try reader.regions(map["regions"])
        limits = try reader.limits(map["limits"])
        startSeconds = try reader.seconds(map["startSeconds"], "startSeconds")
        drainSeconds = try reader.seconds(map["drainSeconds"], "drainSeconds")
        termSeconds = try reader.seconds(map["termSeconds"], "termSeconds")
        switch try reader.text(map["restart"], "restart") {
        case nil, "permanent": restart = .permanent
        case "transient": restart = .transient
        case let other: throw reader.wrong("restart", "permanent or transient", other ?? "")
        }
        switch try reader.text(map["sandbox"], "sandbox") {
        case nil, "none": pure = false
        case "pure": pure = true
        case let other: throw reader.wrong("sandbox", "pure or none", other ?? "")
        }
        guard try reader.texts(map["follows"], "follows").isEmpty else {
            throw ManifestError(
                file: file, what: "follows: unsupported, channels are not there yet")
        }
        guard (map["instances"]?.int ?? 1) == 1 else {
            throw ManifestError(
                file: file, what: "instances: unsupported, a device has one process yet")
        }
    }

    /// What the hub takes from it.
    var declaration: DeviceDeclaration {
        DeviceDeclaration(
            name: name, pure: pure, provides: provides, calls: calls, reads: reads, writes: writes)
    }
}
