package import Control
package import Kernel
package import Values
import Wire

/// What the hub says, as bytes.
extension CableDriver: Cable {
    package func visit(_ order: borrowing VisitOrder) {
        let output = ordered
        let start = output.count
        output.visit(
            of: order.asker.map { KernelMessage.Asker(visit: $0.visit, tag: $0.tag) },
            number: order.number, symbol: UInt64(order.symbol), flow: order.flow,
            path: order.path, step: order.step, attempt: order.attempt, now: order.now,
            lowest: order.lowest, replay: order.replay, reads: order.reads,
            payload: order.value)
        if !order.reads.isEmpty { output.cut(from: start) }
        tell()
    }

    package func cancel(visit: UInt64) {
        ordered.cancelVisit(visit)
        tell()
    }

    package func answer(visit: UInt64, tag: UInt64, _ answer: Answer) {
        let output = ordered
        switch answer {
        case .output(let bytes): output.output(answer: visit, tag, bytes)
        case .failure(let error): output.failure(answer: visit, tag, error)
        case .committed(let revision, let values):
            let start = output.count
            output.committed(answer: visit, tag, revision: revision, values: values)
            if values != nil { output.cut(from: start) }
        case .conflict: output.conflict(answer: visit, tag)
        case .published(let sequence): output.published(answer: visit, tag, sequence)
        }
        tell()
    }

    /// A handler may have made a thousand commits on a region of a million rows. The values share
    /// what has not changed between them, so that to tell the difference costs what has.
    package func answer(
        visit: UInt64, tag: UInt64, revision: UInt64, values: [Value], since earlier: Answered
    ) {
        ordered.repeated(
            answer: visit, tag, revision: revision, since: earlier.tag,
            zip(earlier.values, values).map { Patch.difference(from: $0, to: $1) })
        tell()
    }

    package func reply(call: UInt64, _ result: Result<[UInt8], KernelError>) {
        if case .success(let bytes) = result, let refusal = unread(beside: bytes.count) {
            return reply(call: call, .failure(refusal))
        }
        let output = ordered
        switch result {
        case .success(let bytes): output.output(reply: call, bytes)
        case .failure(let error): output.failure(reply: call, error)
        }
        tell()
    }

    package func reply(call: UInt64, output bytes: UnsafeRawBufferPointer) {
        if let refusal = unread(beside: bytes.count) {
            return reply(call: call, .failure(refusal))
        }
        ordered.output(reply: call, bytes)
        tell()
    }

    /// Why a client is not given a large answer: what it asks for is bounded by its credits, and
    /// what it is answered would not be.
    @inline(__always)
    private func unread(beside bytes: Int) -> KernelError? {
        guard bytes > DriverLimits.smallAnswer, let peer, peer.device == nil else { return nil }
        let waiting = output.count + held.count + (owner?.backlog(self) ?? 0)
        guard waiting > DriverLimits.unread else { return nil }
        return KernelError(
            .overloaded,
            "an answer of \(bytes) bytes is dropped, for \(peer.name) has left \(waiting) bytes "
                + "unread: read faster, or ask for less at a time")
    }

    package func accepted(call: UInt64) {
        ordered.accepted(id: call)
        tell()
    }
}
