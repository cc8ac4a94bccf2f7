/// What the kernel keeps of its descriptors for itself and its devices, so that no number of
/// connections can keep a device from being started again. Clients get what is left.
package enum DescriptorLimits {
    /// Of one process: its cable, its handle, its life line and two logs.
    package static let process = 5
    /// Processes of one device at a time: the one that serves, its successor, and the hub's cells.
    package static let processes = 10
    /// Processes of each further seat of a device: the one that serves and its successor.
    package static let seat = 2
    /// The log file of one seat, and the next one while it is rotated.
    package static let log = 2
    /// A launch on top of what it leaves: the ends that the child gets, twice.
    package static let launch = 16
    /// Streams, loop, signals, socket, locks, the kernel's own log, a database of the system.
    package static let kernel = 32

    /// The descriptors that are not for clients.
    ///
    /// - Parameter seats: those of all devices.
    package static func reserve(devices: Int, seats: Int) -> Int {
        kernel + launch + devices * process * processes + (seats - devices) * process * seat
            + seats * log
    }

    /// A kernel with room for fewer clients does not start.
    package static let clients = 16

    /// Without as many a kernel does not start.
    package static func need(devices: Int, seats: Int) -> Int {
        reserve(devices: devices, seats: seats) + clients
    }
}
