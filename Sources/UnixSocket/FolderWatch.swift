internal import CLinux
internal import Glibc

/// Tells that something may have happened to a folder: in it, to it, or to one that it stands in.
/// Nothing runs in between. The loop holds it until it is closed.
///
/// Who is told looks anew and calls `arm()` first, so that a change between the look and the watch
/// is not missed.
@LoopActor
final class FolderWatch: Watcher {
    private let folder: String
    private var watch: OwnedDescriptor?
    private var watched: Set<Int32> = []
    private var changed: (@LoopActor () -> Void)?

    init(
        _ folder: String, changed: @escaping @LoopActor () -> Void
    ) throws(SocketError) {
        self.folder = folder
        self.changed = changed
        let number = clx_watch_create()
        watch = try OwnedDescriptor(checking: number, "cannot watch a folder", path: folder)
        EventLoop.shared.watch(number, .read, self)
        arm()
    }

    func close() {
        guard let number = watch?.number else { return }
        EventLoop.shared.unwatch(number)
        watch = nil
        changed = nil
    }

    /// Called by the loop.
    func ready(_ events: Interest) {
        guard let number = watch?.number else { return }
        clx_watch_drain(number)
        changed?()
    }

    /// Watches what stands at the path now: the folder's contents and the place of each folder
    /// above it; if it is not there, the nearest one above in which it can appear.
    func arm() {
        guard let number = watch?.number else { return }
        var now: Set<Int32> = []
        var path = Substring(folder)
        var what = clx_watch_contents
        while !path.isEmpty {
            let id = clx_watch_folder(number, String(path), what)
            if id >= 0 {
                now.insert(id)
                what = clx_watch_place
            } else if what != clx_watch_place {
                what = clx_watch_arrivals
            }
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        }
        if what == clx_watch_arrivals {
            let id = clx_watch_folder(number, "/", what)
            if id >= 0 { now.insert(id) }
        }
        for id in watched.subtracting(now) { clx_watch_forget(number, id) }
        watched = now
    }
}
