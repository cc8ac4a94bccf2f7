// Processes that a device started and that outlive it.
//
// A group takes most of them with it. One that has left its group, by setsid(2) or as a daemon,
// comes to this process when its parent dies, for this process takes the place of init for all
// that descend from it; and so does each device for its own. So what comes here that was not
// started here descends from a device that has just died.

internal import CLinux
internal import Glibc
internal import Installation
internal import UnixSocket

/// Ends what comes to this process as an orphan, and what comes after it.
@LoopActor
final class Orphans {
    private var dying: [Int32: Orphan] = [:]
    /// Told whenever the last of them is gone.
    var onEmpty: (@LoopActor () -> Void)?

    var isEmpty: Bool { dying.isEmpty }

    /// Takes the place of init; nil if the system refuses, or if this process has children already,
    /// which are somebody else's.
    init?() {
        guard Self.children.isEmpty, clx_adopt_orphans() == 0 else { return nil }
    }

    /// A process has died: kills every child that is not among those that were started here.
    func collect(except known: (Int32) -> Bool) {
        for pid in Self.children where dying[pid] == nil && !known(pid) {
            // A child keeps its number until it is reaped, which nobody else does.
            Glibc.kill(pid, SIGKILL)
            let handle = clx_pidfd_open(pid)
            guard handle >= 0 else { continue }
            dying[pid] = Orphan(OwnedDescriptor(owning: handle)) { [weak self] in
                self?.gone(pid)
            }
        }
        if dying.isEmpty { onEmpty?() }
    }

    /// Its own children come here when it has died: `look` finds them.
    var look: (@LoopActor () -> Void)?

    private func gone(_ pid: Int32) {
        guard dying.removeValue(forKey: pid)?.reap() != nil else { return }
        look?()
    }

    /// The children of this process's first thread, to which orphans come, too. Empty where the
    /// system does not list them.
    private static var children: [Int32] {
        let list = SystemFile.text("/proc/self/task/\(getpid())/children") ?? ""
        return list.split(separator: " ").compactMap { Int32($0) }
    }
}

/// An orphan that has been killed and is not yet dead.
@LoopActor
private final class Orphan: Watcher {
    private let handle: OwnedDescriptor
    private let died: @LoopActor () -> Void

    init(_ handle: consuming OwnedDescriptor, died: @escaping @LoopActor () -> Void) {
        self.handle = handle
        self.died = died
        EventLoop.shared.watch(self.handle.number, .read, self)
    }

    /// Called by the loop: it is dead.
    func ready(_ events: Interest) { died() }

    func reap() {
        EventLoop.shared.unwatch(handle.number)
        var result = clx_exit()
        clx_reap(handle.number, &result)
    }
}
