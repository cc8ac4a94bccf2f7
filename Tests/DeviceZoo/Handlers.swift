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
        Zoo.ponder.name: {
            $0.bind(Zoo.ponder) { kernel, path in
                let read = try await kernel.buffer.read(ZooStock.self).bytes
                let met = try await kernel.buffer.mutate(ZooStock.self) { stock in
                    stock.count += 1
                    return stock.bytes
                }
                return [read, met, gate(path)]
            }
        },
        Zoo.stock.name: {
            $0.bind(Zoo.stock) { kernel, size in
                try await kernel.buffer.mutate(ZooStock.self) { stock in
                    stock.texts.append(String(repeating: "s", count: max(0, size)))
                    return stock.bytes
                }
            }
        },
        Zoo.shift.name: {
            $0.bind(Zoo.shift) { kernel, count in
                for _ in 0..<count {
                    try await kernel.buffer.mutate(ZooLeft.self, ZooRight.self) { left, right in
                        left.n += 1
                        right.n -= 1
                    }
                }
                return count
            }
        },
        Zoo.count.name: {
            $0.bind(Zoo.count) { kernel, count in
                for _ in 0..<count {
                    try await kernel.buffer.mutate(ZooState.self) { $0.count += 1 }
                }
                // Its own writes are seen, and others' perhaps.
                return try await kernel.buffer.read(ZooState.self).count
            }
        },
        Zoo.fail.name: {
            $0.bind(Zoo.fail) { _, text in
                throw KernelError(KernelError.Code(rawValue: "zooFailed"), text)
            }
        },
        Zoo.leave.name: { $0.bind(Zoo.leave) { _, code in exit(code) } },
    ]

    /// The code behind a name: of those above, or `Zoo.WORD.NAME`.
    static func named(_ name: String) -> (@LoopActor (Bindings) -> Void)? {
        if let bind = all[name] ?? limits[name] { return bind }
        let parts = name.split(separator: ".", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return nil }
        let own = parts[2]
        switch parts[1] {
        case "echo": return { $0.bind(Zoo.echo(of: own), pure: { $0 }) }
        case "act":
            return {
                $0.bind(Zoo.act(of: own)) { _, text in
                    Program.spawn {
                        try? await Program.pause(milliseconds: 20)
                        try? await Deed.perform(text)
                    }
                    return text
                }
            }
        case "dare":
            return {
                $0.bind(Zoo.dare(of: own)) { _, text in
                    if unlink(Place.file("dare")) == 0 { try await Deed.perform(text) }
                    return text
                }
            }
        case "obey":
            return {
                $0.bind(Zoo.obey(of: own)) { _, text in
                    try await Deed.perform(text)
                    return text
                }
            }
        case "drift":
            return {
                $0.bind(Zoo.drift(of: own)) { _, text in
                    try await Program.pause(milliseconds: 5)
                    try await Deed.perform(text)
                    return text
                }
            }
        case "diary": return { Diary.bind(Zoo.diary(of: own), $0) }
        case "entry": return { Diary.bind(Zoo.entry(of: own), $0) }
        case "slip": return { $0.bind(Zoo.slip(of: own), pure: { try Diary.keep($0) }) }
        case "stamp": return { $0.bind(Zoo.stamp(of: own), pure: { try Diary.keep($0) }) }
        case "tally":
            return { $0.bind(Zoo.tally(of: own)) { kernel, text in try tally(kernel.key, text) } }
        default: return channels(parts[1], own)
        }
    }

    /// The effect is the file's being there: it is made whole under another name first.
    nonisolated static func tally(_ key: String, _ text: String) throws -> String {
        let folder = Place.file("tally")
        mkdir(folder, 0o700)
        let name = String(key.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        let draft = "\(folder)/.\(name).\(getpid())"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw KernelError(.failed, "\(draft) cannot be made") }
        _ = text.withCString { write(file, $0, strlen($0)) }
        close(file)
        defer { unlink(draft) }
        guard link(draft, "\(folder)/\(name)") == 0 || errno == EEXIST else {
            throw KernelError(.failed, "\(name): \(String(cString: strerror(errno)))")
        }
        return text
    }

    nonisolated private static func trap(_ text: String) -> String {
        if text == "trap" { Deed.trap() }
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
            let (pid, error) = Spawn.start(["sleep", "1000"])
            guard error == 0 else {
                throw KernelError(.failed, "no helper: \(String(cString: strerror(error)))")
            }
            return pid
        }
    }

    nonisolated static func shout(_ count: Int) {
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
