import DeviceKit
import Glibc

/// `follow` and `publish`: the channels from the command line.
@LoopActor
enum ChannelVerbs {
    /// Prints a channel's events until somebody stops it.
    static func follow(_ arguments: Arguments) async throws {
        let words = arguments.words
        var after: UInt64?
        if let text = arguments.option("--after") {
            guard let number = UInt64(text) else {
                throw UsageError(
                    message: "--after wants the number of an event, 0 for all that is kept, not "
                        + text)
            }
            after = number
        }
        let kernel = try await Verbs.connect(arguments)
        defer { kernel.close() }
        Readers.watch()
        let epoch = kernel.epoch
        while true {
            do {
                // A number from the command line is one of this start of the kernel.
                for try await event in kernel.events(of: words[0], after: after, epoch: epoch) {
                    after = event.sequence
                    show(event, of: words[0], arguments.isJSON)
                }
                return
            } catch let gap as ChannelGap {
                after = gap.missed.upperBound
                tell(gap, arguments.isJSON)
            }
        }
    }

    private static func show(_ event: ChannelEvent<Value>, of channel: String, _ asJSON: Bool) {
        let symbol = event.symbol ?? ""
        guard asJSON else {
            let words = [
                "\(event.sequence)", DateText.print(event.at) ?? "-",
                symbol.isEmpty ? "-" : Output.plain(symbol), event.event.json(),
            ]
            return Output.line(words.joined(separator: "  "))
        }
        Output.line(
            Value.map([
                "channel": .text(channel), "sequence": .int(Int64(clamping: event.sequence)),
                "at": .date(event.at), "flow": event.flow.map(Value.text) ?? .null,
                "symbol": event.symbol.map(Value.text) ?? .null, "event": event.event,
            ]).json())
    }

    private static func tell(_ gap: ChannelGap, _ asJSON: Bool) {
        guard asJSON else { return Output.complain("follow: \(gap)") }
        Output.line(
            Value.map([
                "channel": .text(gap.channel),
                "gap": .map([
                    "from": .int(Int64(clamping: gap.missed.lowerBound)),
                    "to": .int(Int64(clamping: gap.missed.upperBound)),
                ]),
            ]).json())
    }

    static func publish(_ arguments: Arguments) async throws {
        let words = arguments.words
        let event = try Verbs.payload(words)
        let kernel = try await Verbs.connect(arguments)
        let sequence = try await kernel.publish(words[0], event, key: arguments.option("--key"))
        let number = Value.int(Int64(clamping: sequence))
        Output.line(arguments.isJSON ? Value.map(["sequence": number]).json() : "\(sequence)")
    }
}
