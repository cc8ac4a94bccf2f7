import DeviceKit
import Glibc

/// Ends a verb that streams when nobody reads what it prints any more, although it has nothing to
/// print: `concentric log -f | head -1` ends with the `head`.
@LoopActor
final class Readers: Watcher {
    private static var current: Readers?

    /// A file, which cannot be watched, has no reader to lose.
    static func watch() {
        guard current == nil else { return }
        let readers = Readers()
        if EventLoop.shared.watch(1, [], readers) { current = readers }
    }

    /// Called by the loop: the other end is closed, since nothing else is waited for.
    func ready(_ events: Interest) { exit(0) }
}
