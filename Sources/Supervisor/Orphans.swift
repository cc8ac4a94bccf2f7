// Processes that a device started and that outlive their parent.
//
// A group takes most of them with it. One that has left its group, by setsid(2) or as a daemon,
// comes to this process when its parent ends, for this process takes the place of init for all that
// descend from it. Devices do not: they wait for their own children and would meet strangers. So
// what comes here may descend from a device that lives, or from one that is dead: its environment
// says which. The first is only reaped when it ends, the second is ended.

internal import CLinux
internal import Glibc
internal import Installation
internal import UnixSocket

/// Reaps what comes to this process as an orphan, and ends what has lost its device.
@LoopActor
final class Orphans {
    /// One that lives. Its environment is read once, for a device may leave many; one that says
    /// nothing is executing a program perhaps, and is asked again for a while.
    private struct Adopted {
        var origin: ProcessTable.Origin?
        let since: UInt64
    }

    private var adopted: [Int32: Adopted] = [:]
    private var watcher: SignalWatcher?

    /// Whether none is left that was killed.
    private(set) var isEmpty = true
    /// Told whenever the last of them is gone.
    var onEmpty: (@LoopActor () -> Void)?
    /// Whether a child was started here.
    var isOwn: @LoopActor (Int32) -> Bool = { _ in true }
    /// Whether the device lives from which a process comes, nil if it does not say.
    var spares: @LoopActor (ProcessTable.Origin?) -> Bool = { _ in true }

    /// Nanoseconds after which one whose environment said nothing is looked at again.
    private static let secondLook: UInt64 = 100_000_000

    /// Takes the place of init; nil if the system refuses or does not list children, or if this
    /// process has children already, which are somebody else's.
    init?() {
        guard ProcessTable.children(of: getpid())?.isEmpty == true else { return nil }
        // The end of each child is told, those included that came here as orphans.
        watcher = try? SignalWatcher([SIGCHLD]) { [weak self] _ in self?.look() }
        guard watcher != nil, clx_adopt_orphans() == 0 else { return nil }
    }

    /// Looks at every child that was not started here. The children of one that ends come here, and
    /// are found at the next look, which its end causes.
    func look() {
        var awaited = false
        var isNewcomer = false
        var living: [Int32: Adopted] = [:]
        let now = EventLoop.shared.now
        for pid in ProcessTable.children(of: getpid()) ?? [] where !isOwn(pid) {
            // A child that lives keeps its number until it is reaped, which nobody else does; what
            // is no child is not touched.
            guard clx_reap_orphan(pid) == 0 else { continue }
            var orphan = adopted[pid] ?? Adopted(since: now)
            if orphan.origin == nil, now - orphan.since <= 2 * Self.secondLook {
                orphan.origin = ProcessTable.origin(of: pid)
            }
            if orphan.origin == nil, adopted[pid] == nil { isNewcomer = true }
            living[pid] = orphan
            guard !spares(orphan.origin) else { continue }
            Glibc.kill(pid, SIGKILL)
            awaited = true
        }
        if isNewcomer {
            EventLoop.shared.schedule(at: now + Self.secondLook) { [weak self] in
                self?.look()
            }
        }
        adopted = living
        isEmpty = !awaited
        if isEmpty { onEmpty?() }
    }
}
