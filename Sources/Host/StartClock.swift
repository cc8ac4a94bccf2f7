import Supervisor
import UnixSocket

/// Measures the start of all devices in time in which the kernel itself ran: a stop by Ctrl-Z or
/// a laptop's sleep counts for nothing. Ends when it is let go of.
@LoopActor
final class StartClock {
    private let over: @LoopActor () -> Void
    private var left: Double
    private var last: UInt64

    init(_ seconds: Double, over: @escaping @LoopActor () -> Void) {
        self.over = over
        left = seconds
        last = Clock.monotonic
        arm()
    }

    private func arm() {
        let step = UInt64(min(left, PolicyNumbers.tick) * 1e9)
        EventLoop.shared.schedule(at: last + step) { [weak self] in self?.step() }
    }

    private func step() {
        let now = EventLoop.shared.now
        let gap = Double(now - min(last, now)) / 1e9
        last = now
        if gap <= PolicyNumbers.late { left -= gap }
        if left > 0 { arm() } else { over() }
    }
}
