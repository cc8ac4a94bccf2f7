import DeviceKit
import Glibc
import Testing

/// A house with a channel: one animal publishes and one follows.
struct ChannelHouse {
    static let channel = "Zoo.said"

    let instance: Instance

    /// - Parameters:
    ///   - events: how many the channel keeps.
    ///   - late: milliseconds by which the follower starts later.
    static func with(
        says: [String] = ["say.sayer"], events: Int64? = nil, late: Int = 0,
        _ body: (ChannelHouse) throws -> Void
    ) throws {
        var channel: [String: Value] = ["name": .text(Self.channel)]
        if let events { channel["events"] = .int(events) }
        let zoo = [
            Animal(
                name: "sayer", answers: says,
                more: [
                    "channels": .array([.map(channel)]), "publishes": .array([.text(Self.channel)]),
                    "writes": .array([.text("ZooState")]),
                    "regions": .array([
                        .map([
                            "name": .text("ZooState"),
                            "initial": .map(["text": .text(""), "count": .int(0)]),
                        ])
                    ]),
                ]),
            Animal(
                name: "hearer", answers: ["heard.hearer"],
                behaviour: late > 0 ? ["slow", "\(late)"] : [],
                more: ["follows": follow("Zoo.heard.hearer")]),
        ]
        try Instance.with(zoo: zoo, reference: false) { try body(ChannelHouse(instance: $0)) }
    }

    static func follow(_ symbol: String) -> Value {
        .array([.map(["channel": .text(channel), "symbol": .text(symbol)])])
    }

    /// Publishes the numbers from one on in one visit.
    func say(_ first: Int, _ count: Int, word: String = "say") throws {
        let outcome = try instance.run("call", "Zoo.\(word).sayer", "[\(first), \(count)]")
        #expect(outcome.succeeded, "\(outcome)")
    }

    /// The numbers that the follower has noted.
    var heard: [Int] {
        Files.text("\(instance.data)/hearer.heard").split(separator: "\n").compactMap {
            Int($0.prefix { $0 != " " })
        }
    }

    /// The number in the last line of what the follower has noted, 0 before it.
    var lastHeard: Int {
        let file = open("\(instance.data)/hearer.heard", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        let end = lseek(file, 0, SEEK_END)
        var block = [UInt8](repeating: 0, count: 512)
        let count = pread(file, &block, block.count, max(0, end - off_t(block.count)))
        let text = String(decoding: block.prefix(max(0, count)), as: UTF8.self)
        return text.split(separator: "\n").last.flatMap { Int($0.prefix { $0 != " " }) } ?? 0
    }

    /// Waits until the follower has noted the last of the numbers, and looks at all.
    func hears(_ last: Int) throws {
        try Wait.until("the follower hears \(last)") { lastHeard == last }
        #expect(heard == Array(1...last))
        #expect(try instance.json("errors") == [])
    }

    /// `follow`, which prints to a file.
    func follow(after: Int? = nil, name: String = "main") throws -> Command {
        let words = after.map { ["--after", "\($0)"] } ?? []
        return try instance.start(
            ["follow", Self.channel, "--json", "--name", name] + words)
    }

    /// Kills the follower while the numbers are published and heard.
    func kills(_ kills: Int, among last: Int) throws {
        let watch = try Watch(instance, "Kernel.Devices")
        defer { watch.end() }
        let block = 500
        let feeder = try instance.start(
            program: "/bin/sh",
            [
                "-c",
                "for n in $(seq 1 \(block) \(last)); do "
                    + "\(Programs.shell) call Zoo.say.sayer \"[$n, \(block)]\" || exit 1; done",
            ])
        for number in 0..<kills {
            let row = try watch.device("hearer") { $0.state == "ready" }
            // The kills stand anywhere among the events, the last ones too.
            let share = last * number / kills
            try Wait.until("event \(share)") { lastHeard >= share }
            kill(row.pid, SIGKILL)
            _ = try watch.device("hearer") { $0.restarts > row.restarts }
        }
        #expect(try feeder.finish().succeeded)
        try hears(last)
        #expect(try instance.device("hearer").restarts == Int64(kills))
    }
}

extension Command {
    /// The lines of `follow --json` so far; a line that is being written is none yet.
    var followed: [Value] {
        var lines = printed.split(separator: "\n", omittingEmptySubsequences: false)
        lines.removeLast()
        return lines.compactMap { try? Value.parse(json: String($0)) }
    }

    /// The numbers of the events that it has printed.
    var sequences: [Int64] { followed.compactMap { $0["sequence"]?.int } }
}
