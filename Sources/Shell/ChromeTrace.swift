import DeviceKit

/// Chrome trace events, as Perfetto and chrome://tracing open them: a process for each device, a
/// thread for each of its incarnations, a complete event for each visit. Flows are asynchronous
/// events of the kernel.
///
/// Visits of one process that overlap would be drawn as if one had asked for the other: each stands
/// in the first row of its incarnation that is free.
///
/// Source: the Trace Event Format of the Chromium project.
struct ChromeTrace {
    private var processes: [String: Int64] = [:]
    /// For each incarnation of a device, where the last event of each of its rows ends.
    private var rows: [String: [Int64]] = [:]
    /// Rows beside the first have numbers above those of all incarnations.
    private static let rowStep: Int64 = 1_000_000

    static let head = "{\"traceEvents\":[\n"
    static let tail = "\n]}\n"

    /// The events of an entry, and the names that it is the first to use.
    mutating func events(of entry: TraceEntry) -> [Value] {
        entry.isVisit ? visit(entry) : flow(entry)
    }

    private mutating func visit(_ entry: TraceEntry) -> [Value] {
        var events: [Value] = []
        let pid = process(entry.device, &events)
        let key = "\(entry.device)#\(entry.incarnation)"
        var ends = rows[key] ?? []
        let row = ends.firstIndex { $0 <= entry.begin } ?? ends.count
        let tid = entry.incarnation + Int64(row) * Self.rowStep
        if row == ends.count {
            ends.append(entry.end)
            let name = row == 0 ? key : "\(key) (\(row + 1))"
            events.append(Self.name("thread_name", pid: pid, tid: tid, name))
        } else {
            ends[row] = entry.end
        }
        rows[key] = ends
        var event = Self.event("X", entry, pid: pid, tid: tid)
        event["dur"] = .int(entry.duration)
        return events + [.map(event)]
    }

    private mutating func flow(_ entry: TraceEntry) -> [Value] {
        var events: [Value] = []
        let pid = process("flows", &events)
        var begin = Self.event("b", entry, pid: pid, tid: 0)
        begin["id"] = .text(entry.flow)
        var end = begin
        end["ph"] = "e"
        end["ts"] = .int(entry.end)
        end["args"] = nil
        return events + [.map(begin), .map(end)]
    }

    private mutating func process(_ name: String, _ events: inout [Value]) -> Int64 {
        if let pid = processes[name] { return pid }
        let pid = Int64(processes.count + 1)
        processes[name] = pid
        events.append(Self.name("process_name", pid: pid, tid: 0, name))
        return pid
    }

    private static func event(
        _ phase: String, _ entry: TraceEntry, pid: Int64, tid: Int64
    ) -> [String: Value] {
        var arguments = entry.value.map ?? [:]
        for key in ["kind", "symbol", "at", "begin", "duration"] { arguments[key] = nil }
        return [
            "ph": .text(phase), "name": .text(entry.symbol),
            "cat": .text(entry.isVisit ? "visit" : "flow"), "ts": .int(entry.begin),
            "pid": .int(pid), "tid": .int(tid), "args": .map(arguments),
        ]
    }

    private static func name(_ kind: String, pid: Int64, tid: Int64, _ name: String) -> Value {
        .map([
            "ph": "M", "name": .text(kind), "pid": .int(pid), "tid": .int(tid),
            "args": .map(["name": .text(name)]),
        ])
    }
}
