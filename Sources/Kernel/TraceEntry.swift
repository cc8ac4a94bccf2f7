package import Control
internal import Values

/// What the trace keeps of something that took time: a visit, or a whole flow.
package struct TraceEntry: Sendable {
    /// What differs between the two.
    package enum Subject: Sendable {
        case flow(Flow)
        case visit(Visit)
    }

    /// One run of a route.
    package struct Flow: Sendable {
        package enum Origin: String, Sendable {
            case call
            case dispatch
            /// Asked for by a visit of another flow.
            case operation
            /// Of a fork.
            case branch
            /// No flow: a follower had another value of a region than the kernel.
            case mirror
            /// Of a channel.
            case event
        }

        package var origin: Origin
        /// The client that called, or the event as `channel:number`; empty for every other origin.
        package var client: String
        /// The place among the branches of its fork.
        package var branch: Int?
        /// The flow above, and the step of it that asked.
        package var parent: UInt64?
        package var under: UInt32
    }

    /// One delivery of a stage to a process.
    package struct Visit: Sendable {
        package var device: String
        package var incarnation: Int
        package var isCell: Bool
        package var attempt: UInt32
        package var payload: [UInt8]?
        /// Bytes of the whole payload.
        package var size: Int
    }

    /// How it ended.
    package enum End: String, Sendable {
        /// A flow has its output.
        case ok
        case next
        case abort
        case divert
        case fail
        /// The process died.
        case lost
        /// The flow did not want the visit's answer any more.
        case cancelled
        /// It has not ended.
        case running
    }

    package var subject: Subject
    package var flow: UInt64
    /// The flow that nobody above has asked for.
    package var root: UInt64
    /// The step of a visit; of a flow, the steps that it has entered.
    package var step: UInt32
    package var symbol: String
    package var end: End
    /// Where a divert went.
    package var target: String?
    package var error: KernelError?
    /// Microseconds since 1970, and how many it took.
    package var begin: Int64
    package var duration: Int64

    /// Stands where an entry was.
    static let gone = TraceEntry(
        subject: .flow(Flow(origin: .call, client: "", under: 0)), flow: 0, root: 0, step: 0,
        symbol: "", end: .lost, target: nil, error: nil, begin: 0, duration: 0)

    /// About how many bytes it holds.
    var weight: Int {
        var sum = 256 + (target?.utf8.count ?? 0)
        if let error { sum += error.message.utf8.count + error.code.rawValue.utf8.count }
        switch subject {
        case .flow(let flow): sum += flow.client.utf8.count
        case .visit(let visit): sum += visit.payload?.count ?? 0
        }
        return sum
    }
}

extension TraceEntry {
    /// As `Kernel.Trace.read` tells it.
    ///
    /// - Parameters:
    ///   - number: among all entries; nil for what still runs.
    ///   - notation: how the first bytes of a payload are written for people.
    func value(
        epoch: UInt64, number: UInt64?, notation: (([UInt8]) -> String)?
    ) -> Value {
        func name(_ flow: UInt64) -> Value { .text("\(epoch)-\(flow)") }
        var map: [String: Value] = [
            "flow": name(flow), "root": name(root), "step": .int(Int64(step)),
            "symbol": .text(symbol), "verb": .text(end.rawValue), "at": .date(begin / 1_000),
            "begin": .int(begin), "duration": .int(duration),
        ]
        if let number { map["number"] = .int(Int64(clamping: number)) }
        if let target { map["target"] = .text(target) }
        if let error {
            map["code"] = .text(error.code.rawValue)
            map["message"] = .text(error.message)
        }
        switch subject {
        case .flow(let flow):
            map["kind"] = "flow"
            if let error { map["outcome"] = .text("\(error.outcome)") }
            map["origin"] = .text(flow.origin.rawValue)
            map["parent"] = flow.parent.map(name) ?? .null
            if flow.parent != nil { map["under"] = .int(Int64(flow.under)) }
            if let branch = flow.branch { map["branch"] = .int(Int64(branch)) }
            if !flow.client.isEmpty {
                map[flow.origin == .event ? "event" : "client"] = .text(flow.client)
            }
        case .visit(let visit):
            map["kind"] = "visit"
            map["device"] = .text(visit.device)
            map["incarnation"] = .int(Int64(visit.incarnation))
            map["attempt"] = .int(Int64(visit.attempt))
            map["cell"] = .bool(visit.isCell)
            map["bytes"] = .int(Int64(visit.size))
            if let payload = visit.payload {
                let text = notation.map { Value.text($0(payload)) }
                map["payload"] = text ?? .bytes(payload)
            }
        }
        return .map(map)
    }
}
