import DeviceKit
import Glibc

/// Follows the logs of a folder for ever: files that come, files that are put aside, and the folder
/// itself when it is made or made again. The system tells of changes (inotify(7)); nothing is asked
/// again and again.
@LoopActor
final class LogFollower {
    private let folder: String
    private let wants: (String) -> Bool
    private let print: ([LogEntry]) -> Void
    private var tails: [String: LogTail]
    private let queue: Int32
    private var mark: Int32 = -1
    private var watch: DescriptorWatch?

    /// - Parameters:
    ///   - tails: the logs that were read so far.
    ///   - wants: whether the log of a device is followed.
    /// - Throws: `KernelError` when the system cannot watch files.
    init(
        folder: String, tails: [LogTail], wants: @escaping (String) -> Bool,
        print: @escaping ([LogEntry]) -> Void
    ) throws {
        self.folder = folder
        self.wants = wants
        self.print = print
        self.tails = Dictionary(tails.map { ($0.device, $0) }) { $1 }
        queue = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard queue >= 0 else {
            throw KernelError(
                .unavailable,
                "no file can be watched: \(String(cString: strerror(errno))); raise "
                    + "fs.inotify.max_user_instances", outcome: .none)
        }
        try arm()
        watch = DescriptorWatch(queue, onReadable: { [unowned self] in changed() })
        look()
    }

    private func changed() {
        var block = [UInt8](repeating: 0, count: 16 << 10)
        // What has changed is looked for anyhow; the events only say that it is time.
        while read(queue, &block, block.count) > 0 {}
        do {
            try arm()
        } catch {
            Output.complain("log: \(KernelError(error))")
            exit(69)
        }
        look()
    }

    /// Watches the folder, or while there is none its nearest ancestor. To watch it a second time
    /// changes nothing; another folder of its name is another one to watch.
    private func arm() throws {
        while true {
            let place = Self.nearest(to: folder)
            let old = mark
            mark = place.withCString { inotify_add_watch(queue, $0, Self.events) }
            guard mark >= 0 else {
                // It went away meanwhile: the next ancestor.
                if errno == ENOENT || errno == ENOTDIR { continue }
                throw KernelError(
                    .unavailable, "\(place) cannot be watched: \(String(cString: strerror(errno)))",
                    outcome: .none)
            }
            if old >= 0, old != mark { inotify_rm_watch(queue, old) }
            // What was made before the watch stood would tell nobody.
            if Self.nearest(to: folder) == place { return }
        }
    }

    private static let events = UInt32(
        IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_MODIFY | IN_DELETE | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ATTRIB)

    private static func nearest(to folder: String) -> String {
        var path = Substring(folder)
        while !path.isEmpty {
            var status = stat()
            if stat(String(path), &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                return String(path)
            }
            guard let slash = path.lastIndex(of: "/") else { return "." }
            path = path[..<slash]
        }
        return "/"
    }

    private func look() {
        for device in LogFolder.devices(in: folder) where tails[device] == nil && wants(device) {
            tails[device] = LogTail(device: device, folder: folder)
        }
        print(LogEntry.merged(tails.keys.sorted().map { tails[$0]?.readOn() ?? [] }))
    }
}
