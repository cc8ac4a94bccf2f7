import Glibc

/// The tree that this test file belongs to.
enum Repository {
    /// The nearest ancestor of this file that holds a manifest, with a slash at its end.
    static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        while !parts.isEmpty {
            let folder = parts.joined(separator: "/") + "/"
            if access(folder + "Package.swift", R_OK) == 0 { return folder }
            parts = parts.dropLast()
        }
        return "./"
    }()

    /// Every file that git tracks or would add, relative to the root, sorted.
    static let files: [String] = {
        // Continuous integration may clone as one user and test as another.
        let command =
            "git -c safe.directory='*' -C '\(root)' "
            + "ls-files -z --cached --others --exclude-standard --deduplicate"
        guard let pipe = popen(command, "r") else { return [] }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, pipe)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        guard pclose(pipe) == 0 else { return [] }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .filter { access(root + $0, F_OK) == 0 }.sorted()
    }()

    static func isExecutable(_ path: String) -> Bool { access(root + path, X_OK) == 0 }

    /// The text of a file; nil where it is not text.
    static func text(of path: String) -> String? {
        guard let file = fopen(root + path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// All Swift files of the tree but the manifest, lexed once for all tests.
    static let sources: [SwiftSource] =
        files
        .filter { $0.hasSuffix(".swift") && $0 != "Package.swift" }
        .compactMap { path in text(of: path).map { SwiftSource(path: path, text: $0) } }

    static let manifest = Manifest(text: text(of: "Package.swift") ?? "")
}
