internal import Glibc

/// The streams 0, 1 and 2 of the process.
package enum StandardStreams {
    /// Opens those that are closed on /dev/null. A program calls it before it opens anything: what
    /// is opened next would take the number, and who writes to the stream would write into it.
    package static func fill() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one, for those below it are open.
            let opened = open("/dev/null", O_RDWR)
            if opened > 2 { close(opened) }
        }
    }
}
