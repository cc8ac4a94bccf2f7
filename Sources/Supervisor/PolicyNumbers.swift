/// Every limit of supervision, in one place; durations are seconds.
package enum PolicyNumbers {
    /// A number of events within a span of time.
    package struct Rate: Sendable {
        package let count: Int
        package let span: Double
    }

    /// The longest time between two ticks.
    package static let tick = 1.0
    /// A longer gap between two events means that the kernel itself did not run; it is not counted.
    package static let late = 2.0

    /// The start deadline of a device that names none.
    package static let start = 10.0
    /// The steps of an end: asked to drain, SIGTERM, SIGKILL and its reap.
    package static let drain = 2.0
    package static let term = 1.0
    package static let reap = 1.0
    /// How often a process that SIGKILL did not end is looked at.
    package static let stuck = 30.0
    /// A closed cable gives its process this long to die by itself.
    package static let part = 1.0

    /// A loop that does not turn outside a visit.
    package static let hang = 10.0
    /// A process that is left stopped while it holds a visit.
    package static let stopped = 1.0
    /// A loop that has not turned for so long is shown late.
    package static let lateShown = 3.0
    /// A silent device without a page is asked for a sign of life.
    package static let quiet = 5.0

    /// The waits before a start whose predecessor died of its own doing.
    package static let backoff: [Double] = [0, 1, 2, 4, 8, 16, 30]
    /// So long ready takes back one step of the backoff.
    package static let health = 60.0
    /// At so many counted deaths a device is given up.
    package static let short = Rate(count: 5, span: 60)
    package static let long = Rate(count: 12, span: 600)
    /// At so many counted deaths in a row without one ready a device is given up.
    package static let barren = 5

    /// Deaths above these rates cost a pause each.
    package static let burst = Rate(count: 20, span: 1)
    package static let visits = Rate(count: 20, span: 60)
    package static let pause = 1.0

    /// A visit is poisoned at this weight: three deaths, or two hangs.
    package static let strikes = 3
    package static let hangWeight = 2
    /// So many deaths from outside in a row in which the same visit was begun make it a suspect,
    /// for a visit may send such a signal itself; how long the last one is remembered.
    package static let coincidences = 3
    package static let coincidence = 60.0
    /// How long a charge is remembered, and how many there may be for one device.
    package static let memory = 600.0
    package static let charges = 1024
    /// So many distinct visits that died without one that returned blame the device.
    package static let distinct = 5

    /// A seat that was swapped to follow the build of another is not so swapped again before.
    package static let follow = 10.0

    /// The longest deadline of a flow inside the old process of a swap, if nobody says.
    package static let finishing = 10.0

    /// Signals that a device does not give itself.
    package static let outside: Set<String> = ["KILL", "TERM", "INT", "HUP", "QUIT"]
    /// A spawn that failed for want of the host's means.
    package static let shortage: Set<String> = ["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"]
}
