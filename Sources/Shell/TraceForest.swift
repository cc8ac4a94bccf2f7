import DeviceKit

/// Trees of flows: a flow, its visits, and below each visit what it has asked for. A tree is whole
/// when the flow at its root has ended, for that ends last.
struct TraceForest {
    private var waiting: [String: [TraceEntry]] = [:]
    /// The roots in the order of their first entry.
    private var order: [String] = []
    private var count = 0

    /// Entries of trees that are not whole; a root whose end was missed would be waited for for
    /// ever.
    static let mostWaiting = 65_536

    /// - Returns: the lines of the trees that are whole now.
    mutating func add(_ entry: TraceEntry) -> [String] {
        if waiting[entry.root] == nil { order.append(entry.root) }
        waiting[entry.root, default: []].append(entry)
        count += 1
        if entry.isRoot && !entry.isRunning { return take(entry.root) }
        guard count > Self.mostWaiting, let oldest = order.first else { return [] }
        return take(oldest)
    }

    /// - Returns: the lines of all that is left, the oldest first.
    mutating func rest() -> [String] {
        let roots = order
        order = []
        return roots.flatMap { take($0) }
    }

    private mutating func take(_ root: String) -> [String] {
        guard let entries = waiting.removeValue(forKey: root) else { return [] }
        if let place = order.firstIndex(of: root) { order.remove(at: place) }
        count -= entries.count
        return TraceTree(entries).lines
    }
}

/// One tree, from all of its entries.
private struct TraceTree {
    private let flows: [TraceEntry]
    private let visits: [String: [TraceEntry]]
    private let children: [String: [TraceEntry]]
    /// Visits of flows whose own entry is missing.
    private let strays: [TraceEntry]

    init(_ entries: [TraceEntry]) {
        flows = entries.filter { !$0.isVisit }
        let known = Set(flows.map(\.flow))
        visits = Dictionary(grouping: entries.filter(\.isVisit), by: \.flow)
        children = Dictionary(grouping: flows.filter { $0.parent != nil }) { $0.parent ?? "" }
        strays = entries.filter { $0.isVisit && !known.contains($0.flow) }
    }

    var lines: [String] {
        let known = Set(flows.map(\.flow))
        let tops = flows.filter { $0.parent.map { !known.contains($0) } ?? true } + strays
        return tops.sorted { $0.begin < $1.begin }.flatMap { lines(of: $0, depth: 0) }
    }

    private func lines(of entry: TraceEntry, depth: Int) -> [String] {
        guard !entry.isVisit else { return [line(entry, depth)] }
        let own = (visits[entry.flow] ?? []).sorted { $0.begin < $1.begin }
        let below = (children[entry.flow] ?? []).sorted { $0.begin < $1.begin }
        // A flow of one stage and one attempt is its visit.
        if let only = own.first, own.count == 1, only.symbol == entry.symbol, only.step == 0 {
            return [line(entry, depth, visit: only)]
                + below.flatMap { lines(of: $0, depth: depth + 1) }
        }
        var all = [line(entry, depth)]
        var left = below
        for (index, visit) in own.enumerated() {
            let next = own.indices.contains(index + 1) ? own[index + 1] : nil
            // What a branch of a fork does stands between the visits.
            let before = left.filter { $0.under < visit.step }
            all += before.flatMap { lines(of: $0, depth: depth + 1) }
            let asked = left.filter { child in
                child.under == visit.step
                    && (next?.step != visit.step || child.begin < (next?.begin ?? .max))
            }
            all.append(line(visit, depth + 1))
            all += asked.flatMap { lines(of: $0, depth: depth + 2) }
            let taken = Set((before + asked).map(\.flow))
            left.removeAll { taken.contains($0.flow) }
        }
        return all + left.flatMap { lines(of: $0, depth: depth + 1) }
    }

    // MARK: - One line

    private func line(_ entry: TraceEntry, _ depth: Int, visit: TraceEntry? = nil) -> String {
        let at = entry.value["at"]?.date.flatMap(DateText.print)?.suffix(13) ?? ""
        let indent = String(repeating: "  ", count: depth)
        var words = [
            Output.coloured(String(at), .grey) + "  \(indent)\(Output.plain(entry.symbol))"
        ]
        if let process = visit ?? (entry.isVisit ? entry : nil) { words += place(process) }
        words.append(end(entry))
        words.append(Self.time(entry.duration))
        if !entry.isVisit { words.append(Output.coloured(origin(entry), .grey)) }
        if let payload = (visit ?? entry).value["payload"]?.text {
            words.append(Output.plain(payload))
        }
        return words.joined(separator: "  ")
    }

    private func place(_ visit: TraceEntry) -> [String] {
        var words = ["\(Output.plain(visit.device))#\(visit.incarnation)"]
        if visit.value["cell"]?.bool == true { words.append("in a cell") }
        if let attempt = visit.value["attempt"]?.int, attempt > 1 {
            words.append("attempt \(attempt)")
        }
        return words
    }

    private func end(_ entry: TraceEntry) -> String {
        let text = ([entry.verb] + (entry.detail.map { [Output.plain($0)] } ?? []))
            .joined(separator: " ")
        switch entry.verb {
        case "fail", "lost": return Output.coloured(text, .red)
        case "cancelled", "running": return Output.coloured(text, .yellow)
        default: return text
        }
    }

    private func origin(_ entry: TraceEntry) -> String {
        // `cancel` takes the whole of it.
        let number = entry.isRunning ? entry.flow : TraceEntry.short(entry.flow)
        switch entry.value["origin"]?.text {
        case "call":
            return "\(number) called by \(Output.plain(entry.value["client"]?.text ?? "?"))"
        case "dispatch": return "\(number) dispatched"
        case "event":
            return "\(number) follows \(Output.plain(entry.value["event"]?.text ?? "?"))"
        case "branch": return "\(number) branch \(entry.value["branch"]?.int ?? 0)"
        case "mirror":
            return "in the mirror of \(Output.plain(entry.value["client"]?.text ?? "?"))"
        default: return number
        }
    }

    /// Microseconds in a unit that fits.
    static func time(_ micros: Int64) -> String {
        func tenths(_ unit: Int64, _ name: String) -> String {
            "\(micros / unit).\(micros % unit * 10 / unit) \(name)"
        }
        switch micros {
        case ..<1_000: return "\(micros) µs"
        case ..<1_000_000: return tenths(1_000, "ms")
        default: return tenths(1_000_000, "s")
        }
    }
}
