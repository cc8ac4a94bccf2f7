import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Channels, with real processes: what is published arrives once and in order.
    @Suite struct Channels {
        @Test func `a follower that cannot read the events is named when it starts`() throws {
            let said: Value = .array([.text(ChannelHouse.channel)])
            let zoo = [
                Animal(
                    name: "sayer", answers: ["say.sayer"],
                    more: [
                        "channels": .array([.map(["name": .text(ChannelHouse.channel)])]),
                        "publishes": said,
                    ]),
                Animal(
                    name: "hearer", answers: ["misheard.hearer"],
                    more: ["follows": ChannelHouse.follow("Zoo.misheard.hearer")]),
            ]
            let instance = try Instance(zoo: zoo, reference: false)
            defer { instance.end() }
            let outcome = try instance.start(instance.upWords).finish()
            #expect(!outcome.succeeded)
            for word in ["sayer publishes int to Zoo.said", "Zoo.misheard.hearer", "takes [text]"] {
                #expect(outcome.err.contains(word), "\(outcome.err)")
            }
        }

        @Test func `one channel delivers 101 of 101 in order, where a region converges`() throws {
            try ChannelHouse.with(says: ["tell.sayer"]) { house in
                let region = try Watch(house.instance, "ZooState")
                let reader = try house.follow(after: 0)
                try house.say(1, 101, word: "tell")
                try house.hears(101)
                try region.wait(for: "the last value") { $0["text"]?.text == "101" }
                try Wait.until("the reader has all") { reader.sequences.count >= 101 }
                #expect(reader.sequences == Array(1...101))
                #expect(reader.followed.compactMap { $0["event"]?.int } == Array(1...101))
                let first = try #require(reader.followed.first)
                #expect(first["symbol"] == "Zoo.tell.sayer")
                #expect(first["flow"]?.text?.contains("-") == true)
            }
        }

        @Test func `a flood right after the start loses nothing`() throws {
            try ChannelHouse.with(says: ["flood.sayer"], late: 700) { house in
                let reader = try house.follow(after: 0)
                try house.hears(5_000)
                try Wait.until("the reader has all") { reader.sequences.count >= 5_000 }
                #expect(reader.sequences == Array(1...5_000))
            }
        }

        @Test func `a follower that is killed again and again handles each event once, in order`()
            throws
        {
            try ChannelHouse.with { try $0.kills(25, among: 2_500) }
        }

        @Test func `events wait for a follower that is stopped, and their time stands`() throws {
            try ChannelHouse.with { house in
                try house.say(1, 10)
                try house.hears(10)
                #expect(try house.instance.run("stop", "hearer").succeeded)
                try house.say(11, 300)
                #expect(try house.instance.run("start", "hearer").succeeded)
                try house.hears(310)
            }
        }

        @Test func `a publisher that is killed in its visit publishes each event once`() throws {
            try ChannelHouse.with { house in
                let call = try house.instance.start(["call", "Zoo.say.sayer", "[1, 900]"])
                for share in [50, 300, 600] {
                    try Wait.until("event \(share)") { house.lastHeard >= share }
                    let row = try house.instance.device("sayer")
                    if row.pid != 0 { kill(row.pid, SIGKILL) }
                }
                #expect(try call.finish().succeeded)
                try house.hears(900)
            }
        }

        @Test func `an event that fails is told, and the next one is handled`() throws {
            try ChannelHouse.with { house in
                for event in ["1", "-5", "2"] {
                    #expect(try house.instance.run("publish", "Zoo.said", event).succeeded)
                }
                try Wait.until("the last is heard") { house.heard == [1, 2] }
                let errors = try house.instance.json("errors").array ?? []
                #expect(errors.count == 1)
                #expect(errors.first?["symbol"] == "Zoo.heard.hearer")
                let message = errors.first?["message"]?.text ?? ""
                #expect(message.hasPrefix("event 2 of Zoo.said: "), "\(message)")
            }
        }

        @Test func `a client reconnecting at random loses nothing`() throws {
            let seed = UInt64.random(in: 1 ... .max)
            try ChannelHouse.with { house in
                var random = Xorshift(state: seed)
                let socket = "\(house.instance.folder)/concentric/proxy.sock"
                func pass() throws -> Command {
                    let proxy = try house.instance.start(
                        program: Programs.zoo, ["proxy", socket, house.instance.socket])
                    try Wait.until("the proxy passes") { proxy.printed.contains("passing\n") }
                    return proxy
                }
                var proxy = try pass()
                let reader = try house.follow(after: 0, name: "proxy")
                for round in 0..<20 {
                    try house.say(1 + round * 200, 200)
                    let wanted = round * 200 + Int(random.next() % 200)
                    try Wait.until("event \(wanted) (seed \(seed))") {
                        reader.sequences.count >= wanted
                    }
                    proxy.send(SIGKILL)
                    _ = try proxy.finish()
                    proxy = try pass()
                }
                try Wait.until("the reader has all (seed \(seed))") {
                    reader.sequences.count >= 4_000
                }
                #expect(reader.sequences == Array(1...4_000), "seed \(seed)")
            }
        }

        @Test func `a gap is told to readers, and reading goes on`() throws {
            try ChannelHouse.with(events: 3) { house in
                for number in 1...10 {
                    let outcome = try house.instance.run("publish", "Zoo.said", "\(number)")
                    #expect(outcome.out == "\(number)\n")
                }
                let reader = try house.follow(after: 2)
                try Wait.until("the gap and the rest") { reader.followed.count >= 4 }
                #expect(reader.followed.first?["gap"] == ["from": 3, "to": 7])
                #expect(reader.sequences == [8, 9, 10])
                let late = try house.instance.start(["follow", "Zoo.said", "--after", "11"])
                let outcome = try late.finish()
                #expect(outcome.status == 65, "\(outcome)")
                #expect(outcome.err.contains("nothing comes after event 11"), "\(outcome)")
            }
        }

        @Test func `a reader that stood still holds nobody up and is told its gap`() throws {
            try ChannelHouse.with(events: 1_000) { house in
                let reader = try house.follow(after: 0)
                try house.say(1, 10)
                try Wait.until("the reader reads") { reader.sequences.count == 10 }
                reader.send(SIGSTOP)
                for first in stride(from: 11, to: 5_000, by: 500) {
                    try house.say(first, 500)
                    try Wait.until("all is heard") {
                        house.lastHeard == first + 499
                    }
                }
                reader.send(SIGCONT)
                try Wait.until("the reader has the last") {
                    reader.sequences.last == 5_010
                }
                var next: Int64 = 1
                for line in reader.followed {
                    if let gap = line["gap"] {
                        #expect(gap["from"]?.int == next)
                        next = (gap["to"]?.int ?? 0) + 1
                    } else {
                        #expect(line["sequence"]?.int == next)
                        next += 1
                    }
                }
                #expect(next == 5_011)
                #expect(reader.followed.contains { $0["gap"] != nil })
            }
        }

        @Test func `a reader that ends is forgotten, and so is one whose kernel ends`() throws {
            try ChannelHouse.with { house in
                let load = try Watch(house.instance, "Kernel.Load")
                let reader = try house.follow()
                let other = try house.follow()
                func readers(_ count: Int64) throws {
                    try load.wait(for: "\(count) readers") {
                        $0["channels"]?.array?.first?["readers"]?.int == count
                    }
                }
                try readers(2)
                reader.send(SIGKILL)
                try readers(1)
                load.end()
                #expect(try house.instance.run("down").succeeded)
                let outcome = try other.finish()
                #expect(outcome.status == 69, "\(outcome)")
                #expect(outcome.err.contains("kernelLost"), "\(outcome)")
            }
        }

        @Test(arguments: [("break", "and broke"), ("cancel", "and CancellationError()")])
        func `an iteration that ends is over in the kernel, too`(
            _ way: String, _ words: String
        ) throws {
            try ChannelHouse.with { house in
                let load = try Watch(house.instance, "Kernel.Load")
                func readers(_ count: Int64) throws {
                    try load.wait(for: "\(count) readers") {
                        $0["channels"]?.array?.first?["readers"]?.int == count
                    }
                }
                let listener = try house.instance.start(
                    program: Programs.zoo, ["listen", "5", way])
                try readers(1)
                try house.say(1, 5)
                try Wait.until("it has read") { listener.printed.contains("seen") }
                #expect(listener.printed == "seen [1, 2, 3, 4, 5] \(words)\n")
                try readers(0)
                #expect(Proc.isAlive(listener.pid), "its connection is open")
                listener.send(SIGKILL)
            }
        }

        @Test(arguments: [
            (#"{"publishes": ["Zoo.none"]}"#, "publishes: no manifest declares the channel"),
            (
                #"{"follows": [{"channel": "Zoo.none", "symbol": "Zoo.echo"}]}"#,
                "follows: no manifest declares the channel Zoo.none; there are Zoo.other"
            ),
            (
                #"{"channels": [{"name": "Zoo.other"}]}"#,
                "channels: the channel Zoo.other is declared"
            ),
            (
                #"{"channels": [{"name": "Zoo.x", "events": 65537}]}"#,
                "channels: the channel Zoo.x keeps"
            ),
        ])
        func `a manifest with a wrong channel is refused by its file and key`(
            _ more: String, _ why: String
        ) throws {
            let members = try #require(Value.parse(json: more).map).map { ($0.key, $0.value) }
            let other: Value = .array([.map(["name": .text("Zoo.other")])])
            let instance = try Instance(
                zoo: [
                    Animal(name: "a", more: ["channels": other]),
                    Animal(name: "zoo", answers: ["echo"], more: Dictionary(members) { $1 }),
                ], reference: false)
            defer { instance.end() }
            let outcome = try instance.start(instance.upWords).finish()
            #expect(!outcome.succeeded)
            #expect(outcome.err.contains("zoo/device.json: \(why)"), "\(outcome)")
            let doctor = try instance.run("doctor", "--devices", "\(instance.folder)/devices")
            if !more.contains("65537") { #expect(doctor.out.contains("channel"), "\(doctor)") }
        }

        @Test func `symbols, describe and graph name the channel`() throws {
            try ChannelHouse.with { house in
                let symbol = try house.instance.run("describe", "Zoo.heard.hearer").out
                #expect(symbol.contains("  follows the channel Zoo.said\n"))
                let channel = try house.instance.run("describe", "Zoo.said").out
                #expect(channel.contains("  published by sayer\n"))
                #expect(channel.contains("  followed by Zoo.heard.hearer (hearer)\n"))
                #expect(channel.contains("  keeps 65536 events and 16777216 bytes\n"))
                for format in ["mermaid", "dot"] {
                    let graph = try house.instance.run("graph", "--format", format).out
                    #expect(graph.contains("channel Zoo.said"))
                    #expect(graph.contains("Zoo.heard.hearer"))
                }
            }
        }
    }
}
