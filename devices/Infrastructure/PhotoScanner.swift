import Contract
import Glibc

/// Finds the image files under some paths, a page at a time.
///
/// The order is that of a walk that looks at each folder's entries sorted by the bytes of their
/// names and goes into a folder when it meets it. That makes a position in the walk a path, so a
/// cursor is all that a page needs to go on: nothing is kept between pages, any process can give
/// the next one, and the same page can be asked for again. A page reads the folders on the way to
/// its position once each.
///
/// Found: regular files with the extension of an image, links to such files. Not found: hidden
/// files and folders, links to folders. A path that is named directly is taken even if it is hidden
/// or a link. A path that lies under another one is walked in its own turn only, so that no file
/// is given twice. What vanishes while the scan runs is skipped.
struct PhotoScanner {
    /// The photos of a page.
    static let pageSize = 256
    /// After so many listed entries a page ends, even if it is empty: it keeps a page of folders
    /// full of other files well under the attempt limit.
    static let listedAtMost = 32_768

    private let pageSize: Int
    private let listedAtMost: Int
    private let keptAtMost: Int
    private let paths: [String]
    /// The other paths, where the walk does not go in.
    private let others: Set<[UInt8]>
    private var levels: [Level] = []
    private var photos: [String] = []
    /// What lies before the position and was left out.
    private var leftOut: LeftOut?
    /// What was left out behind it: it belongs to the page that goes on there.
    private var passed: LeftOut?
    /// The last entry that was looked at.
    private var position: ScanCursor?
    private var listed = 0
    private var hasAdvanced = false

    /// A folder of the walk. It is listed when the walk comes to it: a page that resumes deep in a
    /// tree and fills up there never lists the folders above.
    private struct Level {
        let path: String
        /// The names below the path of the scan.
        let names: [String]
        var after: [UInt8]?
        var listing: FolderListing?
        var next = 0
    }

    /// The page behind the cursor, or the first one.
    ///
    /// - Throws: `invalidPath`, `invalidCursor`; `notFound` for a path that does not exist when the
    ///   scan starts; `unreadable` for a folder that may not be read. Each names the path.
    static func scan(
        _ request: ScanPhotos, pageSize: Int = pageSize, listedAtMost: Int = listedAtMost,
        keptAtMost: Int = FolderListing.keptAtMost
    ) throws(ApplicationError) -> PhotoPage {
        var scanner = try PhotoScanner(request.paths, pageSize, listedAtMost, keptAtMost)
        var root = 0
        if let text = request.cursor {
            let cursor = try ScanCursor(text, pathCount: scanner.paths.count)
            root = scanner.resume(behind: cursor)
        } else {
            // All paths are tried before the first photo is given, so that a typing error is told
            // before half of an import has happened.
            for path in scanner.paths { try check(path) }
        }
        return try scanner.page(from: root)
    }

    private init(_ paths: [String], _ pageSize: Int, _ listedAtMost: Int, _ keptAtMost: Int)
        throws(ApplicationError)
    {
        self.pageSize = pageSize
        self.listedAtMost = listedAtMost
        self.keptAtMost = keptAtMost
        var normal: [String] = []
        var seen: Set<[UInt8]> = []
        for path in paths {
            let path = try Self.normalised(path)
            if seen.insert(Array(path.utf8)).inserted { normal.append(path) }
        }
        self.paths = normal
        others = normal.count > 1 ? seen : []
    }

    /// Walks until the page is full.
    private mutating func page(from firstRoot: Int) throws(ApplicationError) -> PhotoPage {
        var root = firstRoot
        while true {
            while !levels.isEmpty {
                if levels[levels.count - 1].listing == nil {
                    if isSpent { return endedPage }
                    try list()
                } else {
                    try visitNext(in: root)
                    if photos.count == pageSize { return endedPage }
                }
            }
            if root == paths.count {
                countPassed()
                return PhotoPage(photos: photos, cursor: nil, leftOut: leftOut)
            }
            if isSpent { return endedPage }
            try enter(root)
            root += 1
            if photos.count == pageSize { return endedPage }
        }
    }

    private var endedPage: PhotoPage {
        PhotoPage(photos: photos, cursor: position?.text, leftOut: leftOut)
    }

    /// Whether this page has listed enough. It must have come to a new entry first, or the next
    /// page would stand where this one does.
    private var isSpent: Bool { listed >= listedAtMost && hasAdvanced }

    private mutating func advance(to cursor: ScanCursor) {
        countPassed()
        position = cursor
        hasAdvanced = true
        listed += 1
    }

    private mutating func countPassed() {
        guard let passed else { return }
        leftOut = leftOut.map { LeftOut(count: $0.count + passed.count, first: $0.first) } ?? passed
        self.passed = nil
    }

    /// Begins one of the paths of the request.
    private mutating func enter(_ root: Int) throws(ApplicationError) {
        let path = paths[root]
        var status = stat()
        guard stat(path, &status) == 0 else {
            if FolderListing.meansVanished(errno) { return }
            throw .unreadable(path, errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            advance(to: ScanCursor(root: root, kind: .folder, names: []))
            levels = [Level(path: path, names: [], after: nil)]
        case S_IFREG where PhotoFormat(path: path) != nil:
            advance(to: ScanCursor(root: root, kind: .file, names: []))
            photos.append(path)
        default:
            advance(to: ScanCursor(root: root, kind: .file, names: []))
        }
    }

    /// Reads the folder of the last level; one that has vanished is left.
    private mutating func list() throws(ApplicationError) {
        let level = levels[levels.count - 1]
        let listing = try FolderListing(
            path: level.path, after: level.after, followsLink: level.names.isEmpty,
            keptAtMost: keptAtMost)
        guard let listing else {
            levels.removeLast()
            return
        }
        listed += listing.examined
        levels[levels.count - 1].listing = listing
    }

    /// Looks at the next entry of the last level, or leaves it.
    private mutating func visitNext(in root: Int) throws(ApplicationError) {
        let last = levels.count - 1
        guard let listing = levels[last].listing, levels[last].next < listing.entries.count else {
            leaveListing()
            return
        }
        let entry = listing.entries[levels[last].next]
        levels[last].next += 1
        let name = listing.name(of: entry)
        let path = Self.path(levels[last].path, name)
        guard entry.isNamed else {
            passed = LeftOut(count: (passed?.count ?? 0) + 1, first: passed?.first ?? path)
            return
        }
        let names = levels[last].names + [name]
        advance(
            to: ScanCursor(root: root - 1, kind: entry.isFolder ? .folder : .file, names: names))
        if !others.isEmpty, others.contains(Array(path.utf8)) { return }
        if entry.isFolder {
            levels.append(Level(path: path, names: names, after: nil))
        } else {
            photos.append(path)
        }
    }

    /// Leaves the last level, or goes on with the names behind those that were kept of it.
    private mutating func leaveListing() {
        let last = levels.count - 1
        guard let listing = levels[last].listing, listing.isTruncated,
            let entry = listing.entries.last
        else {
            levels.removeLast()
            return
        }
        levels[last].after = Array(listing.bytes(of: entry))
        levels[last].listing = nil
        levels[last].next = 0
    }

    /// Rebuilds the way to the cursor and gives the path of the request that comes after it.
    private mutating func resume(behind cursor: ScanCursor) -> Int {
        position = cursor
        if cursor.names.isEmpty, cursor.kind == .file { return cursor.root + 1 }
        var path = paths[cursor.root]
        for (depth, name) in cursor.names.enumerated() {
            let names = Array(cursor.names.prefix(depth))
            // A folder that was replaced by a link is no way any more.
            if depth > 0, !Self.isFolder(path) { return cursor.root + 1 }
            levels.append(Level(path: path, names: names, after: Array(name.utf8)))
            path = Self.path(path, name)
        }
        let isWalked = cursor.names.isEmpty || !others.contains(Array(path.utf8))
        if cursor.kind == .folder, isWalked {
            levels.append(Level(path: path, names: cursor.names, after: nil))
        }
        return cursor.root + 1
    }

    // MARK: Paths

    /// The path without doubled slashes, `.` and a slash at its end. `..` stays, for behind a link
    /// it is not the folder that the text says.
    private static func normalised(_ path: String) throws(ApplicationError) -> String {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw ApplicationError(
                code: ApplicationError.Code.invalidPath,
                message: "\"\(path)\" is no absolute path; give one that begins with a slash.")
        }
        // By bytes: to text a slash is another character when an accent follows it.
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        return "/" + names.filter { $0 != "." }.joined(separator: "/")
    }

    private static func check(_ path: String) throws(ApplicationError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            guard FolderListing.meansVanished(code) else { throw .unreadable(path, code) }
            throw ApplicationError(
                code: ApplicationError.Code.notFound,
                message: "\(path) does not exist"
                    + (code == ENOENT ? "." : ": \(String(cString: strerror(code)))."))
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder, access(path, R_OK | X_OK) != 0 { throw .unreadable(path, errno) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func path(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }
}
