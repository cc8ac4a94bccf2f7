import Control
import Kernel
import Values

/// A cable that remembers what the hub wrote.
final class TestCable: Cable {
    struct Visit {
        var number: UInt64
        var symbol: Int
        /// The question whose pipe it is a closure of.
        var asker: (visit: UInt64, tag: UInt64)?
        var path: String?
        var flow: UInt64
        var step: UInt32
        var attempt: UInt32
        var now: Int64
        var lowest: UInt64
        var replay: Bool
        var reads: [RegionRead]
        var value: [UInt8]

        var text: String { String(decoding: value, as: UTF8.self) }
    }

    struct Told {
        var visit: UInt64
        var tag: UInt64
        var answer: Answer
    }

    var visits: [Visit] = []
    var cancelled: [UInt64] = []
    var answers: [Told] = []
    /// The questions on whose recorded answers others were built.
    var builtOn: [UInt64] = []
    var replies: [(call: UInt64, result: Result<[UInt8], KernelError>)] = []
    var accepted: [UInt64] = []
    var channelAnswers: [(call: UInt64, answer: ChannelAnswer)] = []
    var isFull = false
    var snapshots: [(region: String, revision: Revision, value: Value)] = []
    var patches: [(revision: Revision, changes: [RegionChange])] = []
    var updates: [Update] = []
    /// How many whole values and changes each announcement said to be one.
    var together: [Int] = []

    func visit(_ order: borrowing VisitOrder) {
        visits.append(
            Visit(
                number: order.number, symbol: order.symbol, asker: order.asker, path: order.path,
                flow: order.flow,
                step: order.step, attempt: order.attempt, now: order.now, lowest: order.lowest,
                replay: order.replay, reads: order.reads, value: order.value))
    }

    func cancel(visit: UInt64) {
        cancelled.append(visit)
    }

    func answer(visit: UInt64, tag: UInt64, _ answer: Answer) {
        answers.append(Told(visit: visit, tag: tag, answer: answer))
    }

    func answer(
        visit: UInt64, tag: UInt64, revision: UInt64, values: [Value], since earlier: Answered
    ) {
        builtOn.append(earlier.tag)
        answer(visit: visit, tag: tag, .committed(revision: revision, values: values))
    }

    func reply(call: UInt64, _ result: Result<[UInt8], KernelError>) {
        replies.append((call, result))
    }

    func accepted(call: UInt64) {
        accepted.append(call)
    }

    func channel(call: UInt64, _ answer: ChannelAnswer) {
        channelAnswers.append((call, answer))
    }

    func snapshot(region: String, at revision: Revision, _ value: Value) {
        snapshots.append((region, revision, value))
    }

    func patch(_ update: Update) {
        patches.append((update.revision, update.changes))
        updates.append(update)
    }

    func together(_ count: Int) {
        together.append(count)
    }
}

extension Answer {
    /// The answer as a test writes it.
    var text: String {
        switch self {
        case .output(let bytes): String(decoding: bytes, as: UTF8.self)
        case .failure(let error): "! \(error.code.rawValue)"
        case .committed(_, nil): "committed"
        case .committed(_, let values?): "committed on \(values.map { "\($0.int ?? -1)" })"
        case .published(let sequence): "published \(sequence)"
        case .conflict: "conflict"
        }
    }
}
