package import Control
package import Kernel
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
            lowest: order.lowest, replay: order.replay,
            reads: order.reads.isEmpty
                ? []
                : order.reads.map {
                    KernelMessage.Read(
                        region: $0.region, number: $0.number, revision: $0.revision,
                        value: $0.value)
                }, payload: order.value)
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

    package func reply(call: UInt64, _ result: Result<[UInt8], KernelError>) {
        let output = ordered
        switch result {
        case .success(let bytes): output.output(reply: call, bytes)
        case .failure(let error): output.failure(reply: call, error)
        }
        tell()
    }

    package func reply(call: UInt64, output bytes: UnsafeRawBufferPointer) {
        output.output(reply: call, bytes)
        tell()
    }

    package func accepted(call: UInt64) {
        ordered.accepted(id: call)
        tell()
    }
}
