import Contract
import Glibc

/// The folders and image files of one folder, sorted by the bytes of their names. Hidden entries,
/// links to folders and everything that is neither a folder nor an image file are left out. A name
/// that is not UTF-8 is listed as one that no payload could carry.
///
/// Only the first names are kept: a page needs a few hundred, and sorting all of a folder of
/// 100,000 entries for each of its pages would cost more than reading it. All names lie in one
/// buffer.
struct FolderListing {
    struct Entry {
        fileprivate var start: Int
        fileprivate var count: Int
        fileprivate(set) var isFolder: Bool
        /// Its name is text.
        fileprivate(set) var isNamed: Bool
    }

    /// How many entries are kept; the reading holds up to twice as many.
    static let keptAtMost = 1_024

    private let keptAtMost: Int
    private var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []
    /// How many entries the folder had, whether they are listed or not.
    private(set) var examined = 0
    /// Whether there are entries behind the last one that is kept.
    private(set) var isTruncated = false

    /// Reads the folder; nothing if it is not there (any more).
    ///
    /// - Parameters:
    ///   - name: only entries behind this name are listed.
    ///   - followsLink: whether the path itself may be a link; the user who names one means it.
    init?(
        path: String, after name: [UInt8]?, followsLink: Bool, keptAtMost: Int = keptAtMost
    ) throws(ApplicationError) {
        self.keptAtMost = keptAtMost
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags)
        guard descriptor >= 0 else {
            if Self.meansVanished(errno) { return nil }
            throw .unreadable(path, errno)
        }
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw .unreadable(path, code)
        }
        let failure = read(stream, descriptor, after: name ?? [])
        closedir(stream)
        if failure != 0 {
            if Self.meansVanished(failure) { return nil }
            throw .unreadable(path, failure)
        }
        keepFirst()
    }

    func bytes(of entry: Entry) -> ArraySlice<UInt8> {
        bytes[entry.start..<entry.start + entry.count]
    }

    /// Of one that is not text, for people.
    func name(of entry: Entry) -> String { String(decoding: bytes(of: entry), as: UTF8.self) }

    /// Whether the code says that a path no longer leads to a folder.
    static func meansVanished(_ code: Int32) -> Bool {
        code == ENOENT || code == ENOTDIR || code == ELOOP
    }

    /// Gives 0, or the error with which reading ended.
    private mutating func read(_ stream: OpaquePointer, _ descriptor: Int32, after: [UInt8])
        -> Int32
    {
        after.withUnsafeBufferPointer { after in
            while true {
                errno = 0
                guard let entry = readdir(stream) else { return errno }
                examined += 1
                // In place: the record is as long as its name, shorter than Swift's struct.
                let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
                let name = UnsafeRawPointer(entry).advanced(by: offset)
                    .assumingMemoryBound(to: CChar.self)
                let type = Int32(
                    UnsafeRawPointer(entry).load(
                        fromByteOffset: MemoryLayout<dirent>.offset(of: \.d_type) ?? 0,
                        as: UInt8.self))
                add(name, type, descriptor, after)
            }
        }
    }

    private mutating func add(
        _ name: UnsafePointer<CChar>, _ type: Int32, _ descriptor: Int32,
        _ after: UnsafeBufferPointer<UInt8>
    ) {
        let count = strlen(name)
        name.withMemoryRebound(to: UInt8.self, capacity: count) { start in
            let name = UnsafeBufferPointer(start: start, count: count)
            guard count > 0, name[0] != UInt8(ascii: "."),
                after.isEmpty || Self.compare(name[...], after[...]) > 0, !isBehindKept(name)
            else { return }
            let isPhoto = PhotoFormat(nameBytes: name) != nil
            // Most entries are told by their type alone, without a system call.
            guard isPhoto || Self.mayBeFolder(type) else { return }
            let kind = Self.kind(of: start, type, descriptor)
            guard kind == .folder || kind == .file && isPhoto else { return }
            entries.append(
                Entry(
                    start: bytes.count, count: count, isFolder: kind == .folder,
                    isNamed: String(validating: name, as: UTF8.self) != nil))
            bytes.append(contentsOf: name)
            if entries.count == 2 * keptAtMost { keepFirst() }
        }
    }

    private func isBehindKept(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isTruncated else { return false }
        let last = entries[keptAtMost - 1]
        return bytes.withUnsafeBufferPointer { bytes in
            Self.compare(name[...], bytes[last.start..<last.start + last.count]) > 0
        }
    }

    /// Sorts the entries and drops those behind the ones to keep.
    private mutating func keepFirst() {
        bytes.withUnsafeBufferPointer { bytes in
            entries.sort { left, right in
                Self.compare(
                    bytes[left.start..<left.start + left.count],
                    bytes[right.start..<right.start + right.count]) < 0
            }
        }
        guard entries.count > keptAtMost else { return }
        isTruncated = true
        entries.removeLast(entries.count - keptAtMost)
        var kept: [UInt8] = []
        for index in entries.indices {
            let entry = entries[index]
            entries[index].start = kept.count
            kept.append(contentsOf: bytes[entry.start..<entry.start + entry.count])
        }
        bytes = kept
    }

    private enum Kind {
        case file
        case folder
        case other
    }

    private static func mayBeFolder(_ type: Int32) -> Bool {
        type == Int32(DT_DIR) || type == Int32(DT_UNKNOWN)
    }

    private static func kind(of name: UnsafePointer<UInt8>, _ type: Int32, _ descriptor: Int32)
        -> Kind
    {
        if type == Int32(DT_REG) { return .file }
        if type == Int32(DT_DIR) { return .folder }
        guard type == Int32(DT_LNK) || type == Int32(DT_UNKNOWN) else { return .other }
        return name.withMemoryRebound(to: CChar.self, capacity: 1) { name in
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                return .other
            }
            if status.st_mode & S_IFMT == S_IFDIR { return .folder }
            // A link counts as what it leads to, but for folders: those could lead in a circle.
            guard fstatat(descriptor, name, &status, 0) == 0 else { return .other }
            return status.st_mode & S_IFMT == S_IFREG ? .file : .other
        }
    }

    private static func compare(
        _ left: Slice<UnsafeBufferPointer<UInt8>>, _ right: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Int {
        let left = UnsafeBufferPointer(rebasing: left)
        let right = UnsafeBufferPointer(rebasing: right)
        guard let first = left.baseAddress, let second = right.baseAddress else {
            return left.count - right.count
        }
        let order = memcmp(first, second, min(left.count, right.count))
        return order != 0 ? Int(order) : left.count - right.count
    }
}

extension ApplicationError {
    /// The path cannot be read; only a lack of descriptors or memory passes by itself.
    static func unreadable(_ path: String, _ code: Int32) -> ApplicationError {
        let passes = [EMFILE, ENFILE, ENOMEM, EINTR].contains(code)
        return ApplicationError(
            code: Code.unreadable,
            message: "\(path) cannot be read: \(String(cString: strerror(code))).", retry: passes)
    }
}
