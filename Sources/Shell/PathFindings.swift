import DeviceKit
import Glibc
import Installation

/// The folders of an instance.
enum PathFindings {
    static func all(name: String, folders: InstanceFolders) -> [Finding] {
        [socketFolder(name), dataFolder(folders.data)].compactMap { $0 }
            + [space(folders.data)].compactMap { $0 } + databases(folders.data)
    }

    private static func octal(_ mode: mode_t) -> String { "0" + String(mode & 0o7777, radix: 8) }

    private static func socketFolder(_ name: String) -> Finding? {
        guard let path = try? SocketPath(name: name).directory else { return nil }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            return nearest(path).map { parent in
                .check(
                    access(parent, W_OK) == 0,
                    ok: .ok(.paths, "\(path) is made when a kernel starts"),
                    otherwise: .fail(
                        .paths, "\(path) cannot be made: \(parent) is not writable",
                        "set XDG_RUNTIME_DIR to a folder of yours"))
            }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return .fail(.paths, "\(path) is no folder", "remove it")
        }
        guard status.st_uid == geteuid() else {
            return .fail(
                .paths, "\(path) belongs to user \(status.st_uid), not to \(geteuid())",
                "set XDG_RUNTIME_DIR to a folder of yours")
        }
        return .check(
            status.st_mode & 0o077 == 0,
            ok: .ok(.paths, "\(path) is yours alone (\(octal(status.st_mode)))"),
            otherwise: .fail(
                .paths, "\(path) is open to others (\(octal(status.st_mode)))", "chmod 700 \(path)")
        )
    }

    private static func dataFolder(_ path: String) -> Finding {
        guard ManifestSearch.isDirectory(path) else {
            if access(path, F_OK) == 0 {
                return .fail(.paths, "\(path) is no folder", "say --data with another one")
            }
            let parent = nearest(path) ?? "/"
            let isFolder = ManifestSearch.isDirectory(parent)
            return .check(
                isFolder && access(parent, W_OK) == 0,
                ok: .ok(.paths, "\(path) is made when a kernel starts"),
                otherwise: .fail(
                    .paths,
                    "\(path) cannot be made: \(parent) is "
                        + (isFolder ? "not writable" : "no folder"),
                    "say --data, or set XDG_DATA_HOME"))
        }
        return .check(
            access(path, W_OK) == 0, ok: .ok(.paths, "data is kept in \(path)"),
            otherwise: .fail(
                .paths, "\(path) is not writable: \(String(cString: strerror(errno)))",
                "chmod u+w \(path), or say --data"))
    }

    /// Below it logs and data run out of room soon.
    private static let littleSpace: UInt64 = 100 << 20

    private static func space(_ path: String) -> Finding? {
        var status = statvfs()
        guard let place = nearest(path), statvfs(place, &status) == 0 else { return nil }
        let free = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
        let what = "\(free >> 20) MiB are free at \(place)"
        if free < 1 << 20 { return .fail(.paths, what, "make room") }
        return .check(
            free >= littleSpace, ok: .ok(.paths, what), otherwise: .warn(.paths, what, "make room"))
    }

    /// The databases among the data: the shell knows no application, but the form of a file.
    private static func databases(_ folder: String) -> [Finding] {
        let magic = Array("SQLite format 3\0".utf8)
        let names = FolderEntries.names(in: folder).sorted().filter { name in
            SystemFile.bytes("\(folder)/\(name)", limit: magic.count) == magic
        }
        guard !names.isEmpty else { return [.ok(.paths, "there is no database yet")] }
        return names.map { name in
            let path = "\(folder)/\(name)"
            var status = stat()
            stat(path, &status)
            return .check(
                access(path, R_OK | W_OK) == 0,
                ok: .ok(.paths, "the database \(path) has \(status.st_size) bytes"),
                otherwise: .fail(
                    .paths, "the database \(path) may not be read and written",
                    "chmod u+rw \(path)"))
        }
    }

    /// The path, or its nearest ancestor that is there.
    private static func nearest(_ path: String) -> String? {
        var path = path
        while access(path, F_OK) != 0 {
            let parent = ManifestSearch.parent(of: path)
            guard parent != path, parent != "." else { return nil }
            path = parent
        }
        return path
    }
}
