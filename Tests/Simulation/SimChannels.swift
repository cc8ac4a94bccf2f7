import Control
import Supervisor
import Values

@testable import Kernel

/// Channels in the simulation: programs that publish, and two symbols that follow.
extension Program {
    static let channels: [String: Program] = [
        "announce": Program(
            symbol: "Circuit.announce",
            effects: { x, _ in ["first": .int(2 * x), "saved": .int(2 * x)] }),
        "tell": Program(
            symbol: "Circuit.tell",
            effects: { x, _ in ["left": .int(x), "right": .int(x), "last": .int(x)] }),
    ]
}

extension Handlers {
    /// A device publishes what it has done, and repeats nothing of it.
    static func channel(_ name: String, _ value: Value) -> Step? {
        switch name {
        case "Circuit.announce#1": publish("first", value) { .done(value) }
        case "Circuit.tell":
            .together(
                [
                    publish("left", value) { .done(.null) },
                    publish("right", value) { .done(.null) },
                    .only(.call("Compute.double", value)),
                ], hashed: true
            ) { _ in publish("last", value) { .done(value) } }
        case "Store.heard":
            .asking(.transaction(World.mark(of: value, "heard"))) { _ in .done(.null) }
        case "Circuit.heard":
            .asking(
                .commit(
                    ["heard"], { old in ([.array((old[0].array ?? []) + [value])], .null) },
                    World.mark(of: value, "noted"))
            ) { _ in .done(.null) }
        default: nil
        }
    }

    private static func publish(
        _ name: String, _ value: Value, then next: @escaping () -> Step
    ) -> Step {
        let mark = Mark(who: value.who, name: name, value: value[1])
        return .asking(.publish(mark)) { _ in next() }
    }
}

extension Mark {
    /// An effect of this kind is an event of the channel.
    var event: Value { .array([who, .text(name), value]) }
}

extension World {
    static let news = "news"
    /// The followers, by the effect that each makes of an event.
    static let followers = ["heard": "Store.heard", "noted": "Circuit.heard"]

    func declareChannel() throws {
        hub.declare(region: "heard", initial: .array([]))
        // Now and then the channel lets go of events that nobody has handled yet.
        try hub.declare(channel: Self.news, events: seed % 8 == 3 ? 1 : nil)
        for symbol in Self.followers.values.sorted() { try hub.attach(symbol, to: Self.news) }
    }

    /// The effect that a follower makes of an event: its name is the follower's.
    static func mark(of event: Value, _ name: String) -> Mark {
        Mark(who: .array([.text("event"), event[0], event[1]]), name: name, value: event[2])
    }

    /// A visit was told the number of its event: a new one is an effect.
    func published(_ sequence: UInt64) {
        guard sequence > UInt64(events.count) else { return }
        guard sequence == UInt64(events.count) + 1,
            let kept = try? hub.channel(Self.news)[sequence]
        else { return breach("the event \(sequence) follows \(events.count)") }
        let event = Value(encoded: kept.payload)
        events.append(event)
        effect(Mark(who: event[0], name: event[1].text ?? "", value: event[2]))
    }

    /// A follower has handled an event: each after those before it.
    func handled(_ mark: Mark) {
        guard Self.followers[mark.name] != nil else { return }
        guard
            let index = events.firstIndex(where: { Self.mark(of: $0, mark.name).who == mark.who })
        else { return breach("what was never published was \(mark.name)") }
        if let last = heard[mark.name]?.last, last >= index {
            breach("event \(index + 1) was \(mark.name) after event \(last + 1)")
        }
        heard[mark.name, default: []].append(index)
    }

    /// Every event was handled by every follower, or an error says why not.
    func checkChannel() {
        guard let channel = try? hub.channel(Self.news) else { return breach("no channel") }
        if channel.last != UInt64(events.count) { breach("events that nobody was told of") }
        for follower in channel.followers
        where follower.flow != nil || follower.next != channel.last + 1 {
            breach("\(follower.symbol.name) has stopped before event \(follower.next)")
        }
        for (name, symbol) in Self.followers {
            let mine = hub.errors.filter { $0["symbol"]?.text == symbol }
            for error in mine { judge(event: error) }
            for index in events.indices where heard[name]?.contains(index) != true {
                if !mine.contains(where: { $0.speaks(of: Int64(index + 1)) }) {
                    breach("event \(index + 1) was never \(name)")
                }
            }
        }
    }

    private func judge(event error: Value) {
        let reasons = [
            "deadline": excuses.delays, "attempt": excuses.spins,
            "poisoned": excuses.strikes >= PolicyNumbers.strikes, "gap": seed % 8 == 3,
        ]
        if reasons[error["code"]?.text ?? ""] != true { breach("an event failed: \(error)") }
    }
}

extension Value {
    /// An entry of `Kernel.Errors` that tells what became of an event.
    fileprivate func speaks(of event: Int64) -> Bool {
        if let from = self["from"]?.int, let to = self["to"]?.int {
            return (from...to).contains(event)
        }
        return self["message"]?.text?.hasPrefix("event \(event) of ") == true
    }
}
