/// One device as the kernel tells of it in `Kernel.Devices`.
package struct DeviceStatus: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case starting
        case ready
        case late
        case draining
        case waiting
        case failed
        case stopped
        case done
        case unkillable
        /// Not known now: the kernel that told it is away.
        case unseen
        /// A state of another build of the kernel, by its name.
        case unknown(String)

        package init(_ name: String) {
            self = Self.known.first { $0.name == name } ?? .unknown(name)
        }

        static let known: [State] = [
            .starting, .ready, .late, .draining, .waiting, .failed, .stopped, .done, .unkillable,
        ]

        package var name: String {
            if case .unknown(let name) = self { name } else { "\(self)" }
        }

        /// Tells the states apart without colours too.
        var mark: String {
            switch self {
            case .ready: "●"
            case .starting, .waiting: "◌"
            case .late: "◐"
            case .draining: "◒"
            case .failed, .unkillable: "✗"
            case .stopped: "■"
            case .done: "✓"
            case .unseen: "○"
            case .unknown: "?"
            }
        }

        var style: Style {
            switch self {
            case .ready: Style(.green)
            case .starting, .waiting, .late, .draining: Style(.yellow)
            case .failed, .unkillable: Style(.red, .bold)
            case .stopped, .done, .unseen: .dim
            case .unknown: .plain
            }
        }
    }

    package var name: String
    package var state: State
    /// Nil while no process of the device runs.
    package var pid: Int?
    package var incarnation: Int
    package var restarts: Int
    /// How the last process ended, in words.
    package var lastExit: String?

    package init(
        name: String, state: State, pid: Int? = nil, incarnation: Int = 1, restarts: Int = 0,
        lastExit: String? = nil
    ) {
        self.name = name
        self.state = state
        self.pid = pid
        self.incarnation = incarnation
        self.restarts = restarts
        self.lastExit = lastExit
    }
}
