internal import Installation

/// How a device is started and kept; what its manifest says, with every path resolved.
package struct DeviceSpec: Sendable, Equatable {
    /// Limits that the system holds the process to; nil leaves what the kernel was started with.
    package struct Limits: Sendable, Equatable {
        /// Open descriptors.
        package var nofile: UInt64?
        /// Bytes of address space.
        package var memory: UInt64?
        /// Seconds of processor time; at the limit the process ends by SIGXCPU, a second later by
        /// SIGKILL.
        package var cpu: UInt64?
        /// Bytes of a core file.
        package var core: UInt64?

        package init(
            nofile: UInt64? = nil, memory: UInt64? = nil, cpu: UInt64? = nil, core: UInt64? = nil
        ) {
            self.nofile = nofile
            self.memory = memory
            self.cpu = cpu
            self.core = core
        }
    }

    /// Of the seat: `compute`, or `compute/2` of a device with several.
    package var name: String
    /// A path; it is not searched for.
    package var executable: String
    package var arguments: [String]
    /// `NAME=value`, the whole of it: nothing is inherited.
    package var environment: [String]
    /// Where it starts; nil: where the kernel is.
    package var directory: String?
    package var restart: DeviceProfile.Restart
    /// Seconds from its start to its readiness.
    package var startLimit: Double
    /// Seconds from `drain` to SIGTERM, and from that to SIGKILL.
    package var drain: Double
    package var term: Double
    package var limits: Limits

    package init(
        name: String, executable: String, arguments: [String] = [], environment: [String] = [],
        directory: String? = nil, restart: DeviceProfile.Restart = .permanent,
        startLimit: Double = PolicyNumbers.start, drain: Double = PolicyNumbers.drain,
        term: Double = PolicyNumbers.term, limits: Limits = Limits()
    ) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.restart = restart
        self.startLimit = startLimit
        self.drain = drain
        self.term = term
        self.limits = limits
    }

    var profile: DeviceProfile {
        DeviceProfile(
            name: name, device: SeatName.device(of: name), restart: restart, startLimit: startLimit,
            drain: drain, term: term)
    }
}

/// What is told about a device.
package struct DeviceStatus: Sendable, Equatable {
    package var name: String
    package var state: DeviceState
    /// What was asked of it last.
    package var asked: AskedWord
    /// Of the process that serves or is to serve, 0 if there is none.
    package var pid: Int32
    /// Of that process, or of the last one; 0 before the first start.
    package var incarnation: Int
    /// The starts after the first.
    package var restarts: Int
    /// How the last process ended: `signal KILL`, `exit 3`, `hang (signal KILL)`; empty before.
    package var lastExit: String
    /// Why it is in its state; may be empty.
    package var reason: String
    /// The last lines on standard error of the process that ended last.
    package var errorLines: [String]
}
