import DeviceKit
import Glibc

/// Follows the logs of a folder: files that come, files that are put aside, and the folder itself
/// when it is made or made again. The system tells of changes; nothing is asked again and again.
@LoopActor
final class LogFollower {
    private let folder: String
    private let wants: (String) -> Bool
    private let print: ([LogEntry]) -> Void
    private var tails: [String: LogTail]
    private var watch: FolderWatch?

    /// - Parameters:
    ///   - tails: the logs that were read so far.
    ///   - wants: whether the log of a device is followed.
    /// - Throws: `KernelError` when the system cannot watch the folder.
    init(
        folder: String, tails: [LogTail], wants: @escaping (String) -> Bool,
        print: @escaping ([LogEntry]) -> Void
    ) throws(KernelError) {
        self.folder = folder
        self.wants = wants
        self.print = print
        self.tails = Dictionary(tails.map { ($0.device, $0) }) { $1 }
        do throws(SocketError) {
            let watch = try FolderWatch(folder, writes: true) { [weak self] in self?.changed() }
            self.watch = watch
            try watch.arm()
        } catch {
            end()
            throw Self.failure(error)
        }
        look()
    }

    /// Follows no more.
    func end() {
        watch?.close()
        watch = nil
    }

    private static func failure(_ error: SocketError) -> KernelError {
        KernelError(.unavailable, error.description, outcome: .none)
    }

    private func changed() {
        do throws(SocketError) {
            try watch?.arm()
        } catch {
            Output.complain("log: \(Self.failure(error))")
            exit(69)
        }
        look()
    }

    private func look() {
        for device in LogFolder.devices(in: folder) where tails[device] == nil && wants(device) {
            tails[device] = LogTail(device: device, folder: folder)
        }
        print(LogEntry.merged(tails.keys.sorted().map { tails[$0]?.readOn() ?? [] }))
    }
}
