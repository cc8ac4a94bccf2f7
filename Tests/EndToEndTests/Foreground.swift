import CLinux
import DeviceKit
import Glibc

/// A kernel that was started without `--detach`, by `exec` from a shell that prepares it.
final class Foreground {
    let command: Command
    /// Every line on standard output so far.
    private(set) var lines: [String] = []
    private let pipe: Int32
    private var rest: [UInt8] = []

    /// - Parameter before: what the shell does before it becomes the kernel.
    init(_ instance: Instance, before: String = ":") throws {
        var ends: [Int32] = [0, 0]
        guard clx_pipe(&ends, 0) == 0 else { throw Failure("no pipe") }
        pipe = ends[0]
        defer { close(ends[1]) }
        command = try instance.start(
            program: "/bin/sh", ["-c", "\(before)\nexec \(instance.foreground)"], output: ends[1])
    }

    deinit { close(pipe) }

    /// Waits for the line that says that every device is ready.
    func ready() throws {
        let deadline = Clock.now + Wait.patience
        while !lines.contains(where: { Ready($0)?.pid == command.pid }) {
            guard Wait.readable(pipe, until: deadline), take() else {
                throw Failure("not ready: \(try command.finish(within: 1))")
            }
        }
    }

    private func take() -> Bool {
        var block = [UInt8](repeating: 0, count: 4_096)
        let count = read(pipe, &block, block.count)
        guard count > 0 else { return false }
        rest += block[..<count]
        while let end = rest.firstIndex(of: 0x0A) {
            lines.append(String(decoding: rest[..<end], as: UTF8.self))
            rest.removeSubrange(...end)
        }
        return true
    }
}

extension Instance {
    /// The words of `up` in the foreground, for a shell.
    var foreground: String {
        ([Programs.shell] + upWords.filter { $0 != "--detach" }).joined(separator: " ")
    }

    var kernelLog: String { Files.text("\(data)/log/kernel.log") }

    /// The last words of each process of a device, as its log has them.
    func ends(of device: String) -> [String] {
        Files.text("\(data)/log/\(device).log").split(separator: "\n").compactMap { line in
            guard let range = line.firstRange(of: " kernel ended: ") else { return nil }
            return String(line[range.upperBound...])
        }
    }
}
