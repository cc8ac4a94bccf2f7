internal import Glibc

/// Small files of the system, under /proc and /sys.
package enum SystemFile {
    /// The beginning of a file, at most `limit` bytes; nil if it cannot be read.
    package static func text(_ path: String, limit: Int = 64 << 10) -> String? {
        bytes(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// As `text`, for what is no text.
    package static func bytes(_ path: String, limit: Int = 64 << 10) -> [UInt8]? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return nil }
        defer { close(number) }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            while filled < buffer.count {
                let count = read(number, buffer.baseAddress! + filled, buffer.count - filled)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                filled += count
            }
        }
    }
}
