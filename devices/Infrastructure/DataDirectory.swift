import Glibc

/// The directory of the library file. Only the user may look into it: it holds paths of photos.
enum DataDirectory {
    /// Makes the directory and what is missing above it, each with mode 0700 (as the XDG base
    /// directory specification asks). What is there keeps its mode: it is the user's choice.
    static func make(_ path: String) throws(DatabaseError) {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw failure(path, EINVAL)
        }
        var prefix = ""
        for component in path.utf8.split(separator: UInt8(ascii: "/")) {
            prefix += "/" + String(Substring(component))
            if mkdir(prefix, 0o700) == 0 { continue }
            // An automounted or read-only parent may answer with another code than EEXIST.
            let reason = errno
            if !isDirectory(prefix) { throw failure(path, reason == EEXIST ? ENOTDIR : reason) }
        }
    }

    /// Makes the file, if it is missing, readable for the user only; SQLite, which would take the
    /// umask's word, gives the files beside it the same mode.
    static func touch(_ file: String) {
        // SQLite opens the file next and tells what is wrong with it in its own words.
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func failure(_ path: String, _ code: Int32) -> DatabaseError {
        DatabaseError(reason: .directory(errno: code), verb: "OPEN", path: path)
    }
}
