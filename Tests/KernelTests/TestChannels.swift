import Control
import Kernel

extension TestProcess {
    /// A visit publishes to the channel of the tests.
    func publish(_ visit: TestCable.Visit, _ tag: UInt64, _ text: String) {
        house.hub.askPublish(
            peer, visit: visit.number, tag: tag, channel: "news", Array(text.utf8))
    }
}

extension TestClient {
    func publish(_ text: String, key: String? = nil, channel: String = "news") {
        house.hub.publish(peer, nextID(), channel: channel, Array(text.utf8), key: key)
    }

    /// Reads the channel of the tests.
    @discardableResult
    func read(
        after: UInt64?, epoch: UInt64? = nil, channel: String = "news"
    ) -> UInt64 {
        let id = nextID()
        house.hub.read(peer, id, channel: channel, epoch: epoch, after: after)
        return id
    }

    /// The numbers of the events that it has published.
    var published: [UInt64] {
        cable.channelAnswers.compactMap {
            if case .published(let sequence) = $0.answer { sequence } else { nil }
        }
    }

    /// What a read was answered: the texts of a page and its end, a gap, or an error; nil while it
    /// waits.
    func answer(to id: UInt64) -> String? {
        for (call, answer) in cable.channelAnswers where call == id {
            switch answer {
            case .published(let sequence): return "published \(sequence)"
            case .gap(let from, let to): return "gap \(from)...\(to)"
            case .events(let after, let events):
                let texts = events.map { String(decoding: $0.payload, as: UTF8.self) }
                return (texts + ["@\(after)"]).joined(separator: " ")
            }
        }
        for (call, result) in cable.replies where call == id {
            if case .failure(let error) = result { return "! \(error.code.rawValue)" }
        }
        return nil
    }
}
