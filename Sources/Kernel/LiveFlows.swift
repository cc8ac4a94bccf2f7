internal import Control

/// The flows that have not ended, in the order of their numbers.
extension Hub {
    /// A copy of the list, so that flows may end while it is walked.
    var flows: [Flow] {
        var all: [Flow] = []
        var flow = first
        while let here = flow {
            all.append(here)
            flow = here.next
        }
        return all
    }

    /// Flows below it have ended.
    package var lowestLiveFlow: UInt64 { first?.number ?? numbers + 1 }

    func start(
        _ origin: Flow.Origin, _ symbol: SymbolSlot, _ payload: [UInt8], path: String?,
        bound: UInt64
    ) -> Flow {
        numbers += 1
        let own = seen + UInt64(symbol.traits.deadline) * 1_000_000
        let flow = Flow(
            number: numbers, origin: origin, symbol: symbol, path: path, value: payload,
            deadline: min(own, bound), bound: bound)
        switch origin {
        case .operation(let parent, _):
            flow.root = parent.root
            flow.depth = parent.depth + 1
        case .branch(let parent, _):
            flow.root = parent.root
            flow.depth = parent.depth
        case .call, .command, .event: flow.valueBytes = payload.count
        }
        hold(flow, Flow.ownBytes + flow.valueBytes + (path?.utf8.count ?? 0))
        if let newest {
            newest.next = flow
            flow.previous = newest
        } else {
            first = flow
        }
        newest = flow
        liveFlows += 1
        return flow
    }

    func unlink(_ flow: Flow) {
        if let next = flow.next { next.previous = flow.previous } else { newest = flow.previous }
        if let previous = flow.previous { previous.next = flow.next } else { first = flow.next }
        flow.next = nil
        flow.previous = nil
        liveFlows -= 1
    }
}
