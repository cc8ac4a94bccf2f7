package import Values

/// The channels as the running kernel shows them: who publishes and who follows in the region
/// `Kernel.Channels`, and how far they are for `Kernel.Load`.
extension Hub {
    /// Follows the last of the declarations.
    package func showChannels() {
        let rows = channelNames.compactMap { channels[$0] }.map { slot in
            Value.map([
                "name": .text(slot.name), "events": .int(Int64(slot.mostEvents)),
                "bytes": .int(Int64(slot.mostBytes)),
                "shapes": .array(Set(slot.shapes.values).sorted().map(Value.text)),
                "publishers": .array(
                    devices.values.filter { $0.publishes.contains(slot.name) }.map(\.name)
                        .sorted().map(Value.text)),
                "followers": .array(
                    slot.followers.map { follower in
                        .map([
                            "symbol": .text(follower.symbol.name),
                            "device": follower.symbol.device.map { .text($0.name) } ?? .null,
                        ])
                    }),
            ])
        }
        set(region: RegionSlot.channels, .array(rows))
    }

    /// The channels that a symbol follows.
    func followed(by symbol: SymbolSlot) -> [String] {
        channelNames.filter { name in
            channels[name]?.followers.contains { $0.symbol === symbol } == true
        }
    }

    /// How far each channel and its followers are.
    package var channelLoad: Value {
        .array(
            channelNames.compactMap { channels[$0] }.map { slot in
                .map([
                    "name": .text(slot.name), "last": .int(Int64(clamping: slot.last)),
                    "events": .int(Int64(slot.kept.events)),
                    "bytes": .int(Int64(slot.kept.bytes)),
                    "readers": .int(Int64(slot.readers.count)),
                    "followers": .array(
                        slot.followers.map { follower in
                            let next = follower.next - (follower.flow == nil ? 0 : 1)
                            return .map([
                                "symbol": .text(follower.symbol.name),
                                "behind": .int(Int64(clamping: slot.last + 1 - next)),
                            ])
                        }),
                ])
            })
    }
}
