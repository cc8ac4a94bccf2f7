internal import CLinux
internal import Glibc

/// Tells that something may have happened to a folder: in it, to it, or to one that it stands in.
/// Nothing runs in between. The loop holds it until it is closed.
///
/// Who is told looks anew and calls `arm()` first, so that a change between the look and the watch
/// is not missed. Nothing is watched before the first.
@LoopActor
package final class FolderWatch: Watcher {
    private let folder: String
    private let wanted: clx_watch
    private var watch: OwnedDescriptor?
    private var watched: Set<Int32> = []
    private var changed: (@LoopActor () -> Void)?

    /// - Parameters:
    ///   - folder: an absolute path; nothing needs to stand there.
    ///   - writes: whether to be told also of what is written into the folder's files.
    /// - Throws: `system`.
    package init(
        _ folder: String, writes: Bool = false, changed: @escaping @LoopActor () -> Void
    ) throws(SocketError) {
        self.folder = folder
        wanted = writes ? clx_watch_writes : clx_watch_contents
        self.changed = changed
        let number = clx_watch_create()
        watch = try OwnedDescriptor(checking: number, "cannot watch a folder", path: folder)
        EventLoop.shared.watch(number, .read, self)
    }

    package func close() {
        guard let number = watch?.number else { return }
        EventLoop.shared.unwatch(number)
        watch = nil
        changed = nil
    }

    /// Called by the loop.
    package func ready(_ events: Interest) {
        guard let number = watch?.number else { return }
        clx_watch_drain(number, SocketLimits.watchReadsPerTurn)
        changed?()
    }

    /// Watches what stands at the path now: the folder's contents and the place of each folder
    /// above it; if it is not there, the nearest one above in which it can appear.
    /// - Throws: `system` when the system does not watch what stands there.
    package func arm() throws(SocketError) {
        var last: String?
        while let missing = armOnce() {
            // What appeared before the folder above it was watched has told nobody.
            var status = stat()
            let isThere =
                stat(missing.path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            guard isThere || watched.isEmpty else { return }
            guard isThere, missing.path != last else {
                throw SocketError(
                    .system, "cannot watch a folder", path: missing.path, errno: missing.errno,
                    advice: "make it readable, or raise fs.inotify.max_user_watches")
            }
            last = missing.path
        }
    }

    /// - Returns: the topmost folder that is not watched for itself, and why.
    private func armOnce() -> (path: String, errno: Int32)? {
        guard let number = watch?.number else { return nil }
        var now: Set<Int32> = []
        var path = Substring(folder)
        var what = wanted
        var missing: (path: String, errno: Int32)?
        while !path.isEmpty {
            let id = clx_watch_folder(number, String(path), what)
            let error = errno
            if id >= 0 {
                now.insert(id)
                what = clx_watch_place
            } else if what != clx_watch_place {
                missing = (String(path), error)
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
        return missing
    }
}
