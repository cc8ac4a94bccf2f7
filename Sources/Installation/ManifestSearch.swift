internal import Glibc
internal import Values

/// Finds manifests and the programs that they name.
package struct ManifestSearch {
    /// The folder in which each folder of a device holds a `device.json`.
    package let directory: String
    /// The folder of this program.
    package let beside: String

    /// A manifest, where it stands, and the program that it names.
    package struct Found: Sendable {
        package var manifest: Manifest
        package var file: String
        package var executable: String
        /// Tells whether the file is as it was read; see `digest(of:)`.
        package var digest: String

        package init(
            manifest: Manifest, file: String, executable: String, digest: String = ""
        ) {
            self.manifest = manifest
            self.file = file
            self.executable = executable
            self.digest = digest
        }
    }

    /// The first that there is: `--devices`, `$CONCENTRIC_DEVICES`, `devices/` in the ancestors of
    /// this program.
    /// - Throws: `ManifestError` saying where was looked.
    package init(given: String?, environment: String?, executable: String) throws(ManifestError) {
        beside = Self.parent(of: executable)
        if let path = given ?? environment, !path.isEmpty {
            guard Self.isDirectory(path) else {
                throw ManifestError(file: path, what: "there is no such folder of devices")
            }
            directory = path
            return
        }
        var folder = beside
        while true {
            let candidate = folder == "/" ? "/devices" : folder + "/devices"
            if Self.isDirectory(candidate) {
                directory = candidate
                return
            }
            guard folder != "/", !folder.isEmpty else { break }
            folder = Self.parent(of: folder)
        }
        throw ManifestError(
            file: "devices",
            what: "no such folder in the ancestors of \(executable); say --devices DIR or set "
                + "CONCENTRIC_DEVICES")
    }

    /// Every manifest of the folder, in the order of their folders' names.
    /// - Throws: `ManifestError` for the first that cannot be read; an empty folder is one, too.
    package func manifests() throws(ManifestError) -> [Found] {
        var found: [Found] = []
        for result in scan() { found.append(try result.get()) }
        guard found.contains(where: { $0.manifest.role == .device }) else {
            throw ManifestError(
                file: directory, what: "no folder in it holds the device.json of a device")
        }
        return found
    }

    /// Every manifest of the folder, good or not, in the order of their folders' names.
    package func scan() -> [Result<Found, ManifestError>] {
        var names: Set<String> = []
        var results: [Result<Found, ManifestError>] = []
        for folder in FolderEntries.names(in: directory).sorted() {
            let path = "\(directory)/\(folder)/device.json"
            guard access(path, F_OK) == 0 else { continue }
            do throws(ManifestError) {
                let text = try Self.read(path)
                let manifest = try Manifest(json: text, file: path)
                guard names.insert(manifest.name).inserted else {
                    throw ManifestError(
                        file: path, what: "another device is named \(manifest.name) already")
                }
                let program = executable(of: manifest, in: "\(directory)/\(folder)")
                results.append(
                    .success(
                        Found(
                            manifest: manifest, file: path, executable: program,
                            digest: Digest.of(text).hexadecimal)))
            } catch {
                results.append(.failure(error))
            }
        }
        return results
    }

    /// Beside the manifest, then beside the kernel; where it is nowhere, the launch will say so.
    private func executable(of manifest: Manifest, in folder: String) -> String {
        if manifest.executable.hasPrefix("/") { return manifest.executable }
        let own = "\(folder)/\(manifest.executable)"
        // A path leads from the manifest; a mere name may be that of a program of the house.
        if manifest.executable.utf8.contains(UInt8(ascii: "/")) { return own }
        let other = "\(beside)/\(manifest.executable)"
        if access(own, X_OK) == 0, !Self.isDirectory(own) { return own }
        // One that cannot be executed is named as it is, unless the house has it.
        return access(own, F_OK) == 0 && access(other, F_OK) != 0 ? own : other
    }

    // MARK: - Files

    /// A short text that is another one when the text of the manifest is; nil for a file that
    /// cannot be read.
    package static func digest(of path: String) -> String? {
        (try? read(path)).map { Digest.of($0).hexadecimal }
    }

    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The text of a file of at most 1 MiB.
    private static func read(_ path: String) throws(ManifestError) -> String {
        // A pipe in the file's place would block the opening.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ManifestError(file: path, what: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ManifestError(file: path, what: "it is no plain file")
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else {
                throw ManifestError(file: path, what: String(cString: strerror(errno)))
            }
            if got == 0 { break }
            count += got
        }
        guard count < bytes.count else {
            throw ManifestError(file: path, what: "a manifest has at most 1 MiB")
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw ManifestError(file: path, what: "not UTF-8")
        }
        return text
    }
}
