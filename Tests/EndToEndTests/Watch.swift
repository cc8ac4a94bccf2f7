import CLinux
import DeviceKit
import Glibc

/// `concentric buffer REGION --watch --json`: the lines as they come, and the value that they make.
final class Watch {
    let command: Command
    /// Every line so far.
    private(set) var lines: [Value] = []
    /// The region, as the lines tell it; nil before the first.
    private(set) var value: Value?
    private(set) var revision = ""
    private let pipe: Int32
    private var rest: [UInt8] = []

    init(_ instance: Instance, _ region: String) throws {
        var ends: [Int32] = [0, 0]
        guard clx_pipe(&ends, 0) == 0 else { throw Failure("no pipe") }
        pipe = ends[0]
        defer { close(ends[1]) }
        command = try instance.start(
            ["buffer", region, "--watch", "--json"], output: ends[1])
    }

    deinit { close(pipe) }

    /// Ends the command that watches.
    func end() {
        command.send(SIGKILL)
        _ = try? command.finish()
    }

    /// Reads lines until the value is as wanted.
    func wait(
        for what: String, until deadline: Double = Clock.now + Wait.patience,
        _ condition: (Value) throws -> Bool
    ) throws {
        while true {
            if let value, try condition(value) { return }
            guard try next(until: deadline) else {
                let last = (value?.json() ?? "none").prefix(2_000)
                throw Failure("\(what): it does not come; it is \(last)")
            }
        }
    }

    /// Reads one line and applies it.
    /// - Returns: false when none came in time.
    @discardableResult
    func next(until deadline: Double = Clock.now + Wait.patience) throws -> Bool {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                try take(Value.parse(json: line))
                return true
            }
            guard Wait.readable(pipe, until: deadline) else { return false }
            var block = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(pipe, &block, block.count)
            guard count > 0 else { throw Failure("the watch has ended: \(lines.count) lines") }
            rest += block[..<count]
        }
    }

    /// Reads what is there already.
    func drain() throws {
        while try next(until: Clock.now) {}
    }

    private func take(_ line: Value) throws {
        guard let map = line.map, map.count == 3, map["region"]?.text != nil,
            let revision = map["revision"]?.text
        else { throw Failure("not a line of a watch: \(line.json())") }
        self.revision = revision
        lines.append(line)
        if let value = map["value"] {
            self.value = value
        } else if let patch = map["patch"], let old = value {
            value = try Patch(value: patch).apply(to: old)
        } else {
            throw Failure("not a line of a watch: \(line.json())")
        }
    }
}

extension Watch {
    /// Waits until a device is as wanted.
    func device(
        _ device: String, until deadline: Double = Clock.now + Wait.patience,
        _ condition: (DeviceRow) -> Bool
    ) throws -> DeviceRow {
        var found: DeviceRow?
        try wait(for: device, until: deadline) { value in
            for row in try (value.array ?? []).map(DeviceRow.init) where row.name == device {
                guard condition(row) else { continue }
                found = row
                return true
            }
            return false
        }
        guard let found else { throw Failure("no \(device)") }
        return found
    }
}
