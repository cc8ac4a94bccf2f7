internal import Control
package import Values

/// The last things that took time, in a ring: what is kept is bounded whatever happens, and who
/// reads too slowly is told how much is gone. Nobody is sent anything; readers come and ask.
struct Trace {
    /// Holds `count` entries from `head` on.
    private var ring: [TraceEntry] = []
    private var head = 0
    private var bytes = 0
    /// Entries so far: the number of the newest one.
    private(set) var last: UInt64 = 0
    var wantsPayloads = false
    /// Seen time until which somebody wants it; `UInt64.max` until it is told otherwise.
    var until: UInt64 = 0
    /// A pair of readings of both clocks, so that times are as fine as seen time, and those of one
    /// flow fit into each other.
    private var anchor: (wall: Int64, seen: UInt64)?

    /// The number of the oldest entry that is kept.
    var first: UInt64 { last - UInt64(ring.count - head) + 1 }

    mutating func add(_ entry: TraceEntry, _ limits: HubLimits) {
        ring.append(entry)
        bytes += entry.weight
        last += 1
        while ring.count - head > limits.traceEntries || bytes > limits.traceBytes {
            bytes -= ring[head].weight
            ring[head] = TraceEntry.gone
            head += 1
        }
        // The empty places are let go of in large pieces, so that entries are seldom moved.
        if head > Self.emptyPlaces, head * 4 > ring.count {
            ring.removeFirst(head)
            head = 0
        }
    }

    private static let emptyPlaces = 64

    /// The places that it has, and the bytes of what stands in them, whether it is kept or gone.
    var inMemory: (places: Int, bytes: Int) {
        (ring.count, ring.reduce(0) { $0 + $1.weight - TraceEntry.gone.weight })
    }

    subscript(number: UInt64) -> TraceEntry { ring[head + Int(number - first)] }

    /// Seen time as microseconds since 1970.
    ///
    /// - Parameters:
    ///   - now: seen time now.
    ///   - wall: milliseconds since 1970 now.
    mutating func moment(_ seen: UInt64, now: UInt64, wall: Int64) -> Int64 {
        let told = anchor.map { $0.wall &+ Self.micros(now, since: $0.seen) } ?? .min
        // Whoever sets the clock, or lets the machine sleep, moves one of the two.
        if anchor == nil || abs(told / 1_000 - wall) > Self.drift {
            anchor = (wall &* 1_000, now)
        }
        guard let anchor else { return 0 }
        return anchor.wall &+ Self.micros(seen, since: anchor.seen)
    }

    /// Milliseconds by which the two clocks may differ.
    private static let drift: Int64 = 100

    private static func micros(_ moment: UInt64, since start: UInt64) -> Int64 {
        moment >= start
            ? Int64(clamping: (moment - start) / 1_000)
            : -Int64(clamping: (start - moment) / 1_000)
    }
}

extension Hub {
    /// Switches the trace on or off for good; with payloads, the first bytes of each are kept.
    package func capture(on: Bool, payloads: Bool) {
        tracing = on
        trace.wantsPayloads = on && payloads
        trace.until = on ? .max : 0
    }

    /// Keeps the trace on for a time, for somebody who looks at it; who goes away leaves nothing
    /// behind that is on for ever.
    package func holdTrace(_ nanoseconds: UInt64, payloads: Bool) {
        guard nanoseconds > 0 else { return }
        let until = seen &+ min(nanoseconds, limits.traceHold)
        trace.until = isTracing ? max(trace.until, until) : until
        tracing = true
        trace.wantsPayloads = trace.wantsPayloads || payloads
    }

    /// Whether what happens now is kept.
    package var isTracing: Bool {
        if tracing && seen >= trace.until { capture(on: false, payloads: false) }
        return tracing
    }

    /// A page of the trace.
    ///
    /// - Parameters:
    ///   - after: the last number that the reader has; nil: what is kept already does not count.
    ///   - running: whether to tell of what has not ended, too.
    ///   - notation: how the first bytes of a payload are written for people.
    package func readTrace(
        after: UInt64?, running: Bool, notation: (([UInt8]) -> String)?
    ) -> Value {
        // A number from another start of the kernel says nothing here.
        let after = after.map { $0 > trace.last ? 0 : $0 } ?? trace.last
        let begin = max(after + 1, trace.first)
        let end = min(trace.last, begin - 1 + UInt64(limits.tracePage))
        var entries: [Value] = []
        if begin <= end {
            entries = (begin...end).map {
                trace[$0].value(epoch: epoch, number: $0, notation: notation)
            }
        }
        var map: [String: Value] = [
            "entries": .array(entries), "next": .int(Int64(clamping: end)),
            "lost": .int(Int64(clamping: begin - 1 - after)), "last": .int(Int64(trace.last)),
            "on": .bool(isTracing), "payloads": .bool(trace.wantsPayloads),
        ]
        if running {
            let open = open().prefix(limits.tracePage)
            map["running"] = .array(
                open.map { $0.value(epoch: epoch, number: nil, notation: notation) })
        }
        return .map(map)
    }

    // MARK: - What is kept

    /// A visit is over.
    func keep(_ flow: Flow, _ visit: Visit, _ verb: EncodedVerb?) {
        guard isTracing else { return }
        var end = TraceEntry.End.lost
        var target: String?
        var failure: KernelError?
        switch verb {
        case .next: end = .next
        case .abort: end = .abort
        case .divert(let name, _, _): (end, target) = (.divert, name)
        case .fail(let error): (end, failure) = (.fail, error)
        case nil: break
        }
        if visit.cancelled != nil { end = .cancelled }
        let payload = trace.wantsPayloads ? Array(flow.value.prefix(limits.tracePayload)) : nil
        trace.add(
            entry(flow, visit, end, payload, target: target, failure?.cut(to: limits.tracePayload)),
            limits)
    }

    /// A visit whose answer nobody waits for any longer.
    func keep(forgotten visit: Visit, of flow: Flow) {
        visit.cancelled = visit.cancelled ?? seen
        keep(flow, visit, nil)
    }

    /// A flow has ended.
    func keep(_ flow: Flow, _ result: Result<[UInt8], KernelError>) {
        guard isTracing else { return }
        switch result {
        case .success: trace.add(entry(flow, .ok, nil), limits)
        case .failure(let error):
            trace.add(entry(flow, .fail, error.cut(to: limits.tracePayload)), limits)
        }
    }

    /// A follower had another value of a region than the kernel.
    func keep(mismatch region: String, of peer: Peer, at revision: Revision) {
        guard isTracing else { return }
        let error = KernelError(.failed, "it had another value at \(revision)", outcome: .none)
        trace.add(
            TraceEntry(
                subject: .flow(
                    TraceEntry.Flow(origin: .mirror, client: peer.name, under: 0)),
                flow: 0, root: 0, step: 0, symbol: region, end: .fail, target: nil, error: error,
                begin: trace.moment(seen, now: seen, wall: wall), duration: 0), limits)
    }

    private func entry(
        _ flow: Flow, _ visit: Visit, _ end: TraceEntry.End, _ payload: [UInt8]?,
        target: String? = nil, _ error: KernelError? = nil
    ) -> TraceEntry {
        TraceEntry(
            subject: .visit(
                TraceEntry.Visit(
                    device: visit.peer.name, incarnation: visit.peer.incarnation,
                    isCell: visit.peer.isCell, attempt: flow.attempt, payload: payload,
                    size: flow.value.count)),
            flow: flow.number, root: root(of: flow), step: flow.step, symbol: visit.symbol.name,
            end: end, target: target, error: error,
            begin: trace.moment(visit.begun, now: seen, wall: wall),
            duration: Int64(clamping: (seen - min(seen, visit.begun)) / 1_000))
    }

    private func entry(
        _ flow: Flow, _ end: TraceEntry.End, _ error: KernelError?
    ) -> TraceEntry {
        var origin: TraceEntry.Flow
        switch flow.origin {
        case .call(let peer, _):
            origin = TraceEntry.Flow(origin: .call, client: peer.name, under: 0)
        case .event(let follower, let number):
            origin = TraceEntry.Flow(
                origin: .event, client: "\(follower.channel.name):\(number)", under: 0)
        case .command: origin = TraceEntry.Flow(origin: .dispatch, client: "", under: 0)
        case .operation(let parent, _):
            origin = TraceEntry.Flow(
                origin: .operation, client: "", parent: parent.number, under: parent.step)
        case .branch(let parent, let index):
            origin = TraceEntry.Flow(
                origin: .branch, client: "", branch: index, parent: parent.number,
                under: parent.step)
        }
        let began = flow.running ? flow.began : seen
        return TraceEntry(
            subject: .flow(origin), flow: flow.number, root: root(of: flow), step: flow.step,
            symbol: flow.symbol.name, end: end, target: nil, error: error,
            begin: trace.moment(began, now: seen, wall: wall),
            duration: Int64(clamping: (seen - min(seen, began)) / 1_000))
    }

    private func root(of flow: Flow) -> UInt64 {
        var flow = flow
        while true {
            switch flow.origin {
            case .operation(let parent, _), .branch(let parent, _): flow = parent
            case .call, .command, .event: return flow.number
            }
        }
    }

    /// The flows and visits that have begun and not ended.
    private func open() -> [TraceEntry] {
        flows.filter(\.running).flatMap { flow in
            [entry(flow, .running, nil)]
                + (flow.visit.map { [entry(flow, $0, .running, nil)] } ?? [])
        }
    }
}
