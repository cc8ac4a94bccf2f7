internal import Values

/// A channel that a manifest declares.
package struct DeclaredChannel: Equatable, Sendable {
    package var name: String
    /// The most that it keeps; nil: as much as any may.
    package var events: Int?
    package var bytes: Int?
}

/// A channel that a symbol of the manifest follows.
package struct FollowedChannel: Equatable, Sendable {
    package var channel: String
    package var symbol: String
}

extension ManifestReader {
    func channels(_ value: Value?) throws(ManifestError) -> [DeclaredChannel] {
        var channels: [DeclaredChannel] = []
        for (place, map) in try objects(value, "channels").enumerated() {
            try only(["name", "events", "bytes"], in: map, of: "a channel")
            let name = try channelName(map["name"], "channels/\(place)/name")
            guard !channels.contains(where: { $0.name == name }) else {
                throw ManifestError(file: file, what: "channels: \(name) is declared twice")
            }
            channels.append(
                DeclaredChannel(
                    name: name,
                    events: try most(map["events"], "channels/\(name)/events"),
                    bytes: try most(map["bytes"], "channels/\(name)/bytes")))
        }
        return channels
    }

    func publishes(_ value: Value?) throws(ManifestError) -> [String] {
        var names: [String] = []
        for name in try texts(value, "publishes") {
            guard !names.contains(name) else {
                throw ManifestError(file: file, what: "publishes: \(name) is named twice")
            }
            names.append(try channelName(.text(name), "publishes"))
        }
        return names
    }

    func follows(_ value: Value?, provides: [String]) throws(ManifestError) -> [FollowedChannel] {
        var all: [FollowedChannel] = []
        for (place, map) in try objects(value, "follows").enumerated() {
            try only(["channel", "symbol"], in: map, of: "follows")
            let channel = try channelName(map["channel"], "follows/\(place)/channel")
            let symbol = try text(map["symbol"], "follows/\(place)/symbol") ?? ""
            guard provides.contains(symbol) else {
                throw wrong(
                    "follows/\(place)/symbol", "a symbol that this manifest provides",
                    "“\(symbol)”")
            }
            let follow = FollowedChannel(channel: channel, symbol: symbol)
            guard !all.contains(follow) else {
                throw ManifestError(
                    file: file, what: "follows: \(symbol) follows \(channel) twice")
            }
            all.append(follow)
        }
        return all
    }

    private func objects(
        _ value: Value?, _ key: String
    ) throws(ManifestError) -> [Value.Members] {
        guard let value else { return [] }
        guard let array = value.array else {
            throw wrong(key, "a list of objects", value.json())
        }
        var maps: [Value.Members] = []
        for item in array {
            guard let map = item.map else { throw wrong(key, "a list of objects", item.json()) }
            maps.append(map)
        }
        return maps
    }

    /// Words with dots between them, like the name of a symbol.
    private func channelName(_ value: Value?, _ key: String) throws(ManifestError) -> String {
        let name = try text(value, key) ?? ""
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        let isGood = words.allSatisfy { word in
            !word.isEmpty
                && word.utf8.allSatisfy { byte in
                    (byte >= 0x61 && byte <= 0x7A) || (byte >= 0x41 && byte <= 0x5A)
                        || (byte >= 0x30 && byte <= 0x39) || byte == 0x2D || byte == 0x5F
                }
        }
        guard isGood, name.utf8.count <= 128, !name.hasPrefix("Kernel.") else {
            throw wrong(
                key, "1 to 128 letters, digits, - or _ with dots between, not of Kernel",
                "“\(name)”")
        }
        return name
    }

    private func most(_ value: Value?, _ key: String) throws(ManifestError) -> Int? {
        guard let value else { return nil }
        guard let number = value.int, number > 0 else {
            throw wrong(key, "a whole number from 1", value.json())
        }
        return Int(number)
    }
}
