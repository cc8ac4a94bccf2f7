import CLinux
import DeviceKit
import Glibc

/// The lines of a command that goes on, as they come.
final class Lines {
    let command: Command
    private(set) var lines: [String] = []
    private let pipe: Int32
    private var rest: [UInt8] = []

    init(_ instance: Instance, _ words: String...) throws {
        var ends: [Int32] = [0, 0]
        guard clx_pipe(&ends, 0) == 0 else { throw Failure("no pipe") }
        pipe = ends[0]
        defer { close(ends[1]) }
        // Whoever runs the tests in the background ignores the interrupt.
        command = try instance.start(
            program: "/usr/bin/env", ["--default-signal=INT", Programs.shell] + words,
            output: ends[1])
    }

    deinit { close(pipe) }

    /// Reads until a line is as wanted; those that were read before do not count.
    @discardableResult
    func next(
        _ what: String, _ condition: (String) -> Bool
    ) throws -> String {
        let deadline = Clock.now + Wait.patience
        while true {
            while let end = rest.firstIndex(of: 0x0A) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                lines.append(line)
                if condition(line) { return line }
            }
            guard Wait.readable(pipe, until: deadline) else {
                let last = lines.last?.prefix(2_000) ?? "-"
                throw Failure("\(what): not within \(Wait.patience) s; the last is \(last)")
            }
            var block = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(pipe, &block, block.count)
            guard count > 0 else { throw Failure("\(what): the command has ended") }
            rest += block[..<count]
        }
    }
}
