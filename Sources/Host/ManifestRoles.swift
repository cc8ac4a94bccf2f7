import Installation
import Kernel
import Supervisor

/// A manifest in the words of the rooms that act by it.
extension Manifest {
    /// What the hub takes from it.
    var declaration: DeviceDeclaration {
        DeviceDeclaration(
            name: name, pure: pure, provides: provides, calls: calls, reads: reads, writes: writes,
            publishes: publishes, instances: instances)
    }

    /// Seconds from the start of a process to its readiness.
    var startLimit: Double { startSeconds ?? PolicyNumbers.start }

    /// Seconds that an end may take: asked to drain, after SIGTERM, after SIGKILL.
    var stopLimit: Double {
        (drainSeconds ?? PolicyNumbers.drain) + (termSeconds ?? PolicyNumbers.term)
            + PolicyNumbers.reap
    }

    /// What the supervisor takes from it for one of its seats.
    func spec(of seat: String, executable: String, environment: [String]) -> DeviceSpec {
        DeviceSpec(
            name: seat, executable: executable, arguments: arguments, environment: environment,
            restart: restart == .transient ? .transient : .permanent, startLimit: startLimit,
            drain: drainSeconds ?? PolicyNumbers.drain, term: termSeconds ?? PolicyNumbers.term,
            limits: DeviceSpec.Limits(
                nofile: limits.descriptors, memory: limits.memory, cpu: limits.cpuSeconds,
                core: limits.core))
    }
}
