package import Values

/// What is wrong with a manifest, or with the place where it should be.
package struct ManifestError: Error, CustomStringConvertible {
    package var file: String
    package var what: String

    package init(file: String, what: String) {
        self.file = file
        self.what = what
    }

    package var description: String { "\(file): \(what)" }
}

/// A region that a manifest declares.
package struct DeclaredRegion: Equatable, Sendable {
    package var name: String
    package var initial: Value
    /// Revisions that its history shows; nil: as many as any may.
    package var history: Int?
}

/// A device as its `device.json` describes it.
package struct Manifest: Sendable {
    /// Who starts it.
    package enum Role: String, CaseIterable, Sendable {
        /// The kernel does.
        case device
        /// The user does.
        case presentation
    }

    /// What becomes of a device whose process has exited with 0.
    package enum Restart: String, CaseIterable, Sendable {
        case permanent
        case transient
    }

    /// Limits that the system holds each of its processes to; nil leaves what the kernel has.
    package struct Limits: Equatable, Sendable {
        /// Bytes of address space.
        package var memory: UInt64?
        package var cpuSeconds: UInt64?
        /// Open descriptors.
        package var descriptors: UInt64?
        /// Bytes of a core file.
        package var core: UInt64?
    }

    package var name: String
    package var executable: String
    package var arguments: [String] = []
    package var environment: [String: String] = [:]
    package var role = Role.device
    package var provides: [String] = []
    package var calls: [String] = []
    package var reads: [String] = []
    package var writes: [String] = []
    /// Regions that it declares.
    package var regions: [DeclaredRegion] = []
    /// Channels that it declares, may publish to, and follows.
    package var channels: [DeclaredChannel] = []
    package var publishes: [String] = []
    package var follows: [FollowedChannel] = []
    package var restart = Restart.permanent
    package var limits = Limits()
    /// Processes that serve beside each other.
    package var instances = 1
    /// Whether it stands behind the wall that makes it a function of its input.
    package var pure = false
    package var startSeconds: Double?
    /// Seconds for the steps of a stop: drain, then after SIGTERM.
    package var drainSeconds: Double?
    package var termSeconds: Double?

    /// The name under which the kernel logs; no device may have it.
    package static let kernelName = "kernel"

    private static let keys: Set<String> = [
        "name", "executable", "arguments", "environment", "role", "provides", "calls", "reads",
        "writes", "channels", "publishes", "follows", "regions", "restart", "limits", "sandbox",
        "instances",
        "startSeconds", "drainSeconds", "termSeconds",
    ]

    /// The manifest of a file's text.
    /// - Throws: `ManifestError` naming the file, the key and what was expected.
    package init(json: String, file: String) throws(ManifestError) {
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
        name = try reader.deviceName(map["name"])
        executable = try reader.word(map["executable"], "executable") ?? name
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
        restart = try reader.word(map["restart"], "restart", Restart.permanent)
        switch try reader.text(map["sandbox"], "sandbox") {
        case nil, "none": pure = false
        case "pure": pure = true
        case let other: throw reader.wrong("sandbox", "pure or none", other ?? "")
        }
        channels = try reader.channels(map["channels"])
        publishes = try reader.publishes(map["publishes"])
        follows = try reader.follows(map["follows"], provides: provides)
        instances = try reader.instances(map["instances"], role)
    }

    /// The names of its processes that serve beside each other.
    package var seats: [String] { SeatName.all(of: name, instances) }
}

/// More than this a manifest cannot ask for.
package enum MostLimits {
    /// Processes of one device that serve beside each other.
    package static let instances: Int64 = 64
}

/// Less than this a manifest cannot give its processes: none would come as far as its hello.
package enum LeastLimits {
    /// A program with the static standard library, its stack and its first heap.
    package static let memory: Int64 = 24 << 20
    package static let cpuSeconds: Int64 = 1
    /// Its streams, cable, life line and status page, those of its loop, and one to work with.
    package static let descriptors: Int64 = 10
}
