import DeviceKit

/// A line of a log: `TIME #INCARNATION STREAM TEXT`, as the kernel writes it.
struct LogEntry: Equatable {
    /// Milliseconds since 1970.
    var at: Int64
    var device: String
    /// The process of the device, counted from 1; 0 for the kernel itself.
    var incarnation: Int
    /// `out`, `err`, or `kernel` for what is said about the device.
    var stream: String
    var text: String

    /// A line of another form is what a program printed past the log; it is as old as the line
    /// before it.
    init(_ line: String, device: String, before: Int64) {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        self.device = device
        guard parts.count == 4, parts[0].utf8.count == 24, let at = DateText.parse(parts[0]),
            parts[1].hasPrefix("#"), let incarnation = Int(parts[1].dropFirst()),
            ["out", "err", "kernel"].contains(parts[2])
        else {
            (at, incarnation, stream, text) = (before, 0, "err", line)
            return
        }
        self.at = at
        self.incarnation = incarnation
        stream = String(parts[2])
        text = String(parts[3])
    }

    var json: String {
        Value.map([
            "at": .date(at), "device": .text(device), "incarnation": .int(Int64(incarnation)),
            "stream": .text(stream), "text": .text(text),
        ]).json()
    }

    /// One line that cannot steer a terminal.
    var line: String {
        let who = incarnation > 0 ? "\(device)#\(incarnation)" : device
        let name = Output.coloured(Output.plain(who), Self.colour(of: device))
        let body = Output.plain(String(text.map { $0 == "\t" ? " " : $0 }))
        let time = Output.coloured(DateText.print(at) ?? "-", .grey)
        // What the kernel says of itself has no stream.
        let source = incarnation == 0 && stream == "kernel" ? "" : "\(stream) "
        return "\(time) \(name) \(source)"
            + (stream == "err" ? Output.coloured(body, .yellow) : body)
    }

    /// The same device has the same colour in every run.
    private static func colour(of device: String) -> Output.Colour {
        let palette: [Output.Colour] = [.cyan, .green, .magenta, .blue]
        let sum = device.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        return palette[sum % palette.count]
    }

    /// The entries of several logs by time. Entries of one log keep their order, even when the
    /// clock was put back between them.
    static func merged(_ logs: [[LogEntry]]) -> [LogEntry] {
        var all: [(at: Int64, log: Int, entry: LogEntry)] = []
        for (index, entries) in logs.enumerated() {
            var latest = Int64.min
            for entry in entries {
                latest = max(latest, entry.at)
                all.append((latest, index, entry))
            }
        }
        // The sort of the standard library is stable, which its documentation does not promise.
        return all.enumerated().sorted { left, right in
            (left.element.at, left.element.log, left.offset)
                < (right.element.at, right.element.log, right.offset)
        }.map(\.element.entry)
    }
}
