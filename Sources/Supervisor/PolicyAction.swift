/// The states of a device, in the words of `ps`.
package enum DeviceState: String, Sendable, CaseIterable {
    case starting
    case ready
    /// It does not turn for now, is stopped, or is traced: the reason says.
    case late
    case draining
    case waiting
    case failed
    case stopped
    case done
    case unkillable
}

/// The last word about a device. Whoever waits until another one is done waits in vain.
package enum AskedWord: String, Sendable, CaseIterable {
    /// The boot says it, too.
    case start
    case restart
    case swap
    case stop
    /// The kernel itself ends.
    case down
}

/// What becomes of a visit whose process died.
package enum VisitVerdict: String, Sendable, CaseIterable {
    /// Delivered again.
    case replay
    /// It had begun and may not be sent again: its outcome is unknown.
    case lost
    /// It killed too often: its flow fails.
    case poisoned
    /// Delivered again, to a process of the device that is started for it alone.
    case cell
}

/// How a visit may be delivered.
package enum DeliveryVerdict: String, Sendable, CaseIterable {
    case free
    /// To a process of the device that is started for it alone.
    case cell
    case poisoned
}

/// A death, as the machine judges it.
package struct Death: Equatable, Sendable, CustomStringConvertible {
    package var exit: ExitReason
    /// Why the machine ended the process; nil if it did not.
    package var cause: EndCause?
    /// Visits up to this one had begun; `UInt64.max` when no page tells.
    package var begun: UInt64
    /// The visit whose code ran, or 0.
    package var running: UInt64

    /// `signal KILL`, `exit 3`, `hang (signal KILL)`, `memory (signal KILL)`,
    /// `processor time (signal XCPU)`.
    package var description: String {
        if let cause { return "\(cause.rawValue) (\(exit))" }
        if exit.processorTime { return "processor time (\(exit))" }
        return exit.memory ? "memory (\(exit))" : exit.description
    }
}

/// What the host does for the machine, in this order.
package enum PolicyAction: Equatable, Sendable {
    /// `cell`: the process is for one visit that may have ended another one.
    case spawn(device: String, incarnation: Int, cell: Bool)
    /// Ask it to finish what it has and to go.
    case drain(device: String, incarnation: Int)
    /// SIGTERM to the group.
    case term(device: String, incarnation: Int)
    /// SIGKILL to the group.
    case kill(device: String, incarnation: Int)
    case ping(device: String, incarnation: Int)
    case cancel(device: String, incarnation: Int, visit: UInt64)
    /// After a death, once for each visit that it held.
    case settle(device: String, incarnation: Int, visit: UInt64, VisitVerdict)
    /// A death is settled.
    case buried(device: String, incarnation: Int, Death, cell: Bool)
    /// A cell that was asked for is not coming; `failed`: of the device's own doing, and another
    /// one would not do better.
    case cellLost(device: String, failed: Bool)
    /// It is not coming back by itself: who waits for it is told.
    case refuse(device: String, DeviceState)
    case show(device: String, DeviceState, reason: String)
    /// The process that a swap started died before it was ready. `servesOn`: the old one is there.
    case swapFailed(device: String, reason: String, servesOn: Bool)
    /// A swap that was to come is not tried, for it failed in another seat.
    case swapDropped(device: String, failed: String)
    /// The operator's word is not done.
    case refused(device: String, reason: String)
    /// Everything is down.
    case exit

    /// The reason by which whoever waits for a swap knows that it failed.
    package static func shown(failedSwap reason: String) -> String { "swap failed: \(reason)" }
}
