import Glibc
import Installation
import UnixSocket

/// The number of the last start of a kernel, kept among its data: the number of a start is the time
/// of it, and clocks are set back.
struct EpochFile {
    private let path: String

    init(_ folders: InstanceFolders) {
        path = folders.epoch
    }

    /// A number that is larger than that of each start before.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - tell: is told when it cannot be kept, which stops nobody.
    func next(now: Int64, tell: (String) -> Void) -> UInt64 {
        let text = SystemFile.text(path, limit: 64)?.prefix { $0 != "\n" }
        let last = text.flatMap { UInt64($0) } ?? 0
        // What is no number of a start is none that this writes.
        let epoch = max(UInt64(max(1, now)), last < Self.end ? last + 1 : 1)
        if let error = keep(epoch) {
            tell(
                "the number of this start is not kept, so that one after the clock was set back "
                    + "may have a smaller one: \(path): \(SocketError.text(of: error))")
        }
        return epoch
    }

    private static let end: UInt64 = 1 << 62

    /// Writes another file and puts it in the place of the old one.
    /// - Returns: the number of the error.
    private func keep(_ epoch: UInt64) -> Int32? {
        let fresh = "\(path).new"
        unlink(fresh)
        let number = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return errno }
        let text = "\(epoch)\n"
        let written = text.withCString { write(number, $0, strlen($0)) }
        var error = written == text.utf8.count ? nil : written < 0 ? errno : EIO
        if close(number) != 0, error == nil { error = errno }
        if error == nil, rename(fresh, path) != 0 { error = errno }
        if error != nil { unlink(fresh) }
        return error
    }
}
