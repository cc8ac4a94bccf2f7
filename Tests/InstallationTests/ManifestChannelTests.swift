import Testing

@testable import Installation

/// The channels of a manifest.
@Suite struct ManifestChannelTests {
    private func parse(_ json: String) throws -> Manifest {
        let head = #"{"name": "d", "provides": ["D.heard", "D.other"], "#
        return try Manifest(json: head + json + "}", file: "f")
    }

    @Test func `channels, publishers and followers are read`() throws {
        let manifest = try parse(
            """
            "channels": [{"name": "D.said", "events": 10, "bytes": 100}, {"name": "x"}],
            "publishes": ["D.said", "E.other"],
            "follows": [{"channel": "D.said", "symbol": "D.heard"},
                        {"channel": "D.said", "symbol": "D.other"},
                        {"channel": "E.other", "symbol": "D.heard"}]
            """)
        #expect(
            manifest.channels == [
                DeclaredChannel(name: "D.said", events: 10, bytes: 100),
                DeclaredChannel(name: "x", events: nil, bytes: nil),
            ])
        #expect(manifest.publishes == ["D.said", "E.other"])
        #expect(manifest.follows.map(\.symbol) == ["D.heard", "D.other", "D.heard"])
        #expect(manifest.follows.map(\.channel) == ["D.said", "D.said", "E.other"])
    }

    static let wrong: [(json: String, named: [String])] = [
        (#""channels": {}"#, ["channels", "a list of objects"]),
        (#""channels": ["c"]"#, ["channels", "a list of objects"]),
        (#""channels": [{}]"#, ["channels/0/name", "1 to 128 letters"]),
        (#""channels": [{"name": "a b"}]"#, ["channels/0/name", "“a b”"]),
        (#""channels": [{"name": "a..b"}]"#, ["channels/0/name"]),
        (#""channels": [{"name": "Kernel.Trace"}]"#, ["channels/0/name", "not of Kernel"]),
        (#""channels": [{"name": "c", "retention": 1}]"#, ["a channel has no “retention”"]),
        (#""channels": [{"name": "c", "events": 0}]"#, ["channels/c/events", "from 1"]),
        (#""channels": [{"name": "c", "bytes": "1"}]"#, ["channels/c/bytes", "from 1"]),
        (#""channels": [{"name": "c"}, {"name": "c"}]"#, ["channels", "c is declared twice"]),
        (#""publishes": "c""#, ["publishes", "a list of texts"]),
        (#""publishes": ["c", "c"]"#, ["publishes", "c is named twice"]),
        (#""publishes": [""]"#, ["publishes", "1 to 128"]),
        (#""follows": [{"channel": "c"}]"#, ["follows/0/symbol", "that this manifest provides"]),
        (
            #""follows": [{"channel": "c", "symbol": "E.x"}]"#,
            ["follows/0/symbol", "that this manifest provides", "“E.x”"]
        ),
        (#""follows": [{"symbol": "D.heard"}]"#, ["follows/0/channel"]),
        (
            #""follows": [{"channel": "c", "symbol": "D.heard", "after": 1}]"#,
            ["follows has no “after”"]
        ),
        (
            #""follows": ["#
                + #"{"channel": "c", "symbol": "D.heard"}, {"channel": "c", "symbol": "D.heard"}]"#,
            ["follows", "D.heard follows c twice"]
        ),
    ]

    @Test(arguments: 0..<wrong.count)
    func `what is wrong with a channel is named with its file and key`(_ index: Int) {
        let (json, named) = Self.wrong[index]
        let error = #expect(throws: ManifestError.self) { _ = try parse(json) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("f: "))
        for part in named { #expect(text.contains(part), "\(part) in: \(text)") }
    }
}
