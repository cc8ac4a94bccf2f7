internal import CLinux
internal import Glibc

/// The two times of the house.
package enum Clock {
    /// CLOCK_MONOTONIC in nanoseconds: for deadlines and durations.
    package static var monotonic: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// CLOCK_REALTIME in milliseconds since 1970: for people and for records.
    package static var realtime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
