import Control
import DeviceKit
import Glibc

/// The code behind each symbol of the zoo.
@LoopActor
enum Handlers {
    static let all: [String: @LoopActor (Bindings) -> Void] = [
        Zoo.echo.name: { $0.bind(Zoo.echo) { _, text in text } },
        Zoo.letters.name: {
            $0.bind(Zoo.letters) { _, count in String(repeating: "z", count: max(0, count)) }
        },
        Zoo.trap.name: { $0.bind(Zoo.trap) { _, text in trap(text) } },
        Zoo.spin.name: { $0.bind(Zoo.spin) { _, _ in spin() } },
        Zoo.hang.name: {
            $0.bind(Zoo.hang) { _, text in
                if text == "hang" { spin() }
                return text
            }
        },
        Zoo.dream.name: {
            $0.bind(Zoo.dream) { _, _ in try await Program.pause(milliseconds: 60_000) }
        },
        Zoo.gate.name: { $0.bind(Zoo.gate) { _, path in gate(path) } },
        Zoo.gateOnce.name: { $0.bind(Zoo.gateOnce) { _, path in gate(path) } },
        Zoo.helpers.name: { $0.bind(Zoo.helpers) { _, count in try helpers(count) } },
        Zoo.shout.name: { $0.bind(Zoo.shout) { _, count in shout(count) } },
        Zoo.fill.name: {
            $0.bind(Zoo.fill) { kernel, size in
                try await kernel.buffer.mutate(ZooState.self) { state in
                    state.count += 1
                    let letter = UInt8(ascii: "a") + UInt8(state.count % 26)
                    state.text = String(
                        decoding: [UInt8](repeating: letter, count: max(0, size)), as: UTF8.self)
                    return state.count
                }
            }
        },
        Zoo.fail.name: {
            $0.bind(Zoo.fail) { _, text in
                throw KernelError(KernelError.Code(rawValue: "zooFailed"), text)
            }
        },
        Zoo.leave.name: { $0.bind(Zoo.leave) { _, code in exit(code) } },
    ]

    nonisolated private static func trap(_ text: String) -> String {
        // The payload of a test asks for it.
        if text == "trap" { fatalError("the payload asked for it") }
        return text
    }

    nonisolated private static func spin() {
        var count: UInt64 = 0
        while true { count &+= 1 }
    }

    /// - Returns: the process that answers.
    nonisolated private static func gate(_ path: String) -> Int {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let line = "\(getpid())\n"
        _ = line.withCString { write(file, $0, strlen($0)) }
        close(file)
        while access(path + ".go", F_OK) != 0 { usleep(5_000) }
        return Int(getpid())
    }

    nonisolated private static func helpers(_ count: Int) throws -> [Int32] {
        try (0..<count).map { _ in
            var pid: pid_t = 0
            let words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("1000"), nil]
            defer { for word in words { free(word) } }
            let all: [UnsafeMutablePointer<CChar>?] = Environment.all.map { strdup($0) } + [nil]
            defer { for entry in all { free(entry) } }
            let error = posix_spawnp(&pid, "sleep", nil, nil, words, all)
            guard error == 0 else {
                throw KernelError(.failed, "no helper: \(String(cString: strerror(error)))")
            }
            return pid
        }
    }

    nonisolated private static func shout(_ count: Int) {
        let block = [UInt8](repeating: UInt8(ascii: "z"), count: 64 << 10)
        var left = max(0, count)
        while left > 0 {
            let size = min(left, block.count)
            for stream: Int32 in [1, 2] {
                var done = 0
                while done < size {
                    let written = block.withUnsafeBytes {
                        write(stream, $0.baseAddress! + done, size - done)
                    }
                    guard written > 0 else { return }
                    done += written
                }
            }
            left -= size
        }
    }
}
