internal import Control

/// The account of flow bytes, counted from what there is: what its changes must have come to. It is
/// slow, and for tests.
extension Hub {
    /// What `flowBytes` must be, counted from what there is.
    var countedFlowBytes: Int {
        var pins: [String: [UInt64: Pin]] = [:]
        var sum = 0
        for flow in flows {
            sum += Flow.ownBytes + (flow.path?.utf8.count ?? 0) + flow.countedValues
            guard let record = flow.record else { continue }
            sum += record.entries.reduce(0) { $0 + $1.size + ($1.answer?.held ?? 0) }
            sum += record.reads.reduce(0) { $0 + $1.ownBytes }
            for (entry, operation) in flow.visit?.held ?? [] {
                sum += (entry.isRecorded ? 0 : entry.size) + operation.patchBytes
            }
            for pin in record.pins { pins[pin.slot.name, default: [:]][pin.revision] = pin }
        }
        return pins.values.reduce(sum) { $0 + Pins(Array($1.values)).bytes }
    }
}

extension Flow {
    /// The value that it was given, if that belongs to the flow that asked.
    private var lent: [UInt8]? {
        guard borrows else { return nil }
        switch origin {
        case .branch(let parent, _): return parent.value
        case .operation(_, let entry): return entry.payload
        case .call, .command, .event: return nil
        }
    }

    fileprivate var countedValues: Int {
        var known: [[UInt8]] = lent.map { [$0] } ?? []
        var all = [value, request] + results.compactMap { $0 }
        switch reply {
        case .next(let bytes), .abort(let bytes, _), .divert(_, let bytes, _): all.append(bytes)
        case .fail(let error): all.append(Array(error.message.utf8))
        case nil: break
        }
        switch ending {
        case .success(let bytes), .divert(_, let bytes): all.append(bytes)
        case .failure(let error): all.append(Array(error.message.utf8))
        case nil: break
        }
        var sum = 0
        for bytes in all where !known.contains(where: { $0.isSame(as: bytes) }) {
            sum += bytes.count
            known.append(bytes)
        }
        return sum
    }
}

extension Entry {
    /// What it was asked with.
    fileprivate var payload: [UInt8]? {
        switch name {
        case .call(_, let payload), .run(_, let payload), .dispatch(_, let payload),
            .publish(_, let payload):
            payload
        case .commit, .refused: nil
        }
    }
}
