import Glibc
import Installation
import UnixSocket

/// The number of the last start of a kernel, kept among its data: the number of a start is the time
/// of it, and clocks are set back.
///
/// It outlasts a power cut: devices keep keys with the number in them among the same data, and a
/// later start with a number that these know would have its first effects taken for repeats.
struct EpochFile {
    private let path: String
    private let folder: String
    /// That of this start; nil before `next`.
    private(set) var number: UInt64?
    /// It could not be kept: to try again tells whoever watches the folder, who would try again.
    var isHopeless = false

    init(_ folders: InstanceFolders) {
        path = folders.epoch
        folder = folders.data
    }

    /// Takes a number that is larger than that of each start before.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - tell: is told when it cannot be kept, which stops nobody.
    mutating func next(now: Int64, tell: (String) -> Void) -> UInt64 {
        // What is no number of a start is none that this writes.
        let last = kept ?? 0
        let epoch = max(UInt64(max(1, now)), last < Self.end ? last + 1 : 1)
        number = epoch
        if let error = keep(epoch, waits: true) { tell(complaint(error)) }
        return epoch
    }

    /// Puts the number of this start back where it, or a larger one, is kept no more: somebody has
    /// removed it, or put back what stood there long ago.
    ///
    /// It is not waited for the disk, for a kernel at work never waits for one: what a power cut
    /// takes back now is the removal, too, or both.
    ///
    /// - Returns: why it cannot.
    mutating func putBack() -> String? {
        guard let number, !isHopeless, !(number..<Self.end).contains(kept ?? 0) else { return nil }
        return keep(number, waits: false).map { complaint($0) }
    }

    private mutating func complaint(_ error: Int32) -> String {
        isHopeless = true
        return
            "the number of this start is not kept, so that one after the clock was set back may "
            + "have a smaller one: \(path): \(SocketError.text(of: error))"
    }

    private static let end: UInt64 = 1 << 62

    private var kept: UInt64? {
        SystemFile.text(path, limit: 64).flatMap { UInt64($0.prefix { $0 != "\n" }) }
    }

    /// Writes another file and puts it in the place of the old one.
    /// - Parameter waits: until both the file and its name are on the disk.
    /// - Returns: the number of the error.
    private func keep(_ epoch: UInt64, waits: Bool) -> Int32? {
        let fresh = "\(path).new"
        unlink(fresh)
        let number = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return errno }
        let text = "\(epoch)\n"
        let written = text.withCString { write(number, $0, strlen($0)) }
        var error = written == text.utf8.count ? nil : written < 0 ? errno : EIO
        if error == nil, waits { error = Self.sync(number) }
        if close(number) != 0, error == nil { error = errno }
        if error == nil, rename(fresh, path) != 0 { error = errno }
        if error != nil { unlink(fresh) }
        return error ?? (waits ? syncFolder() : nil)
    }

    private func syncFolder() -> Int32? {
        let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return errno }
        defer { close(number) }
        return Self.sync(number)
    }

    /// A file system that knows no syncing has told all that there is to tell.
    private static func sync(_ number: Int32) -> Int32? {
        while fsync(number) != 0 {
            if errno == EINTR { continue }
            return errno == EINVAL || errno == EROFS ? nil : errno
        }
        return nil
    }
}
