import Glibc

/// What a kernel that is being started says first. A kernel knows how long its start may take, says
/// so at once and gives up by itself; but one that is stopped does neither, so whoever waits has an
/// end of its own.
struct FirstLine: ~Copyable {
    let kernel: Int32
    private let pipe: Int32
    private var rest: [UInt8] = []
    /// Milliseconds that are left.
    private var left = (usual + slack) * 1_000

    /// Seconds for a kernel that has not said its own yet: it has manifests to read and locks to
    /// take.
    private static let usual = 10
    /// Seconds that a busy machine may take on top.
    private static let slack = 5
    /// A longer first line is cut.
    private static let lineBytes = 4_096
    /// A longer wait counts as this many milliseconds: this process was stopped, or the machine
    /// slept.
    private static let step: Int32 = 1_000

    init(of kernel: Int32, pipe: Int32) {
        self.kernel = kernel
        self.pipe = pipe
    }

    /// - Returns: the line, empty when the kernel has ended without one; nil when it is too late.
    mutating func wait() -> String? {
        while let line = next() {
            guard let seconds = Self.deadline(line) else { return line }
            left = (seconds + Self.slack) * 1_000
        }
        return nil
    }

    /// The seconds of `starting deadline=…`, which is not for people.
    static func deadline(_ line: String) -> Int? {
        let word = "starting deadline="
        guard line.hasPrefix(word), let seconds = Int(line.dropFirst(word.count)) else {
            return nil
        }
        return min(max(0, seconds), 100_000)
    }

    private mutating func next() -> String? {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                defer { rest.removeSubrange(...end) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            guard rest.count < Self.lineBytes, let count = take() else {
                return rest.count < Self.lineBytes ? nil : String(decoding: rest, as: UTF8.self)
            }
            if count == 0 { return String(decoding: rest, as: UTF8.self) }
        }
    }

    /// Reads on.
    /// - Returns: how much came, 0 at the end; nil when it is too late.
    private mutating func take() -> Int? {
        while true {
            var end = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let count = poll(&end, 1, Self.step)
            if count > 0 { break }
            if count == 0 { left -= Int(Self.step) }
            if left <= 0 { return nil }
        }
        var block = [UInt8](repeating: 0, count: Self.lineBytes)
        while true {
            let count = read(pipe, &block, block.count)
            if count < 0, errno == EINTR { continue }
            rest += block[..<max(0, count)]
            return max(0, count)
        }
    }
}
