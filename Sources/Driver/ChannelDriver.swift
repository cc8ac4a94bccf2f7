package import Kernel
import Wire

/// What a channel says to who publishes to it or reads it.
extension CableDriver {
    /// Whether it gets no events now; it gets them when it has caught up.
    package var isFull: Bool {
        guard output.count + (owner?.backlog(self) ?? 0) > DriverLimits.backlog else {
            return false
        }
        owesEvents = true
        return true
    }

    package func channel(call: UInt64, _ answer: ChannelAnswer) {
        switch answer {
        case .published(let sequence): output.published(reply: call, sequence)
        case .gap(let from, let to): output.gap(reply: call, from: from, to: to)
        case .events(let after, let events):
            output.events(reply: call, after: after, count: events.count) { writer in
                for event in events {
                    writer.event(
                        sequence: event.sequence, at: event.at, flow: event.flow,
                        symbol: event.symbol, event.payload)
                }
            }
        }
        tell()
    }
}
