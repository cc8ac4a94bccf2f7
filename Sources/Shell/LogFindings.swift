import DeviceKit
import Glibc
import Installation

/// The logs: whether a kernel can write them. It writes plain files of its own folder alone.
enum LogFindings {
    static func all(_ folder: String, names: [String]) -> [Finding] {
        var status = stat()
        // Links are no news above the files, so the folder may be one.
        guard lstat(folder, &status) == 0 else { return [] }
        guard ManifestSearch.isDirectory(folder) else {
            return [
                .fail(
                    .paths, "the folder of the logs, \(folder), is \(kind(folder)), no folder",
                    "remove it")
            ]
        }
        guard access(folder, W_OK | X_OK) == 0 else {
            return [
                .fail(
                    .paths, "logs cannot be made in \(folder): \(String(cString: strerror(errno)))",
                    "chmod u+rwx \(folder)")
            ]
        }
        let bad = names.compactMap { file("\(folder)/\(SeatName.file(of: $0)).log") }
        return bad.isEmpty ? [.ok(.paths, "logs are kept in \(folder)")] : bad
    }

    /// What is wrong with a log; nil for one that is well or not there yet.
    private static func file(_ path: String) -> Finding? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return .fail(
                .paths, "the log \(path) cannot be written: it is \(kind(path)), no plain file",
                "remove it")
        }
        guard access(path, W_OK) == 0 else {
            return .fail(
                .paths, "the log \(path) cannot be written: \(String(cString: strerror(errno)))",
                "chmod u+rw \(path)")
        }
        return nil
    }

    private static func kind(_ path: String) -> String {
        var status = stat()
        lstat(path, &status)
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return "a folder"
        case S_IFLNK: return access(path, F_OK) == 0 ? "a link" : "a link to nothing"
        case S_IFIFO: return "a pipe"
        case S_IFSOCK: return "a socket"
        case S_IFREG: return "a file"
        default: return "a device file"
        }
    }
}
