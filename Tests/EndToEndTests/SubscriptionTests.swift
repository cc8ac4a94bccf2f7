import DeviceKit
import Glibc
import Testing

/// The ledger and who writes it.
struct Ledger {
    let instance: Instance

    private static let declared: [String: Value] = [
        "writes": ["ZooLeft", "ZooRight", "ZooState"],
        "regions": [
            ["name": "ZooLeft", "initial": ["n": 0]], ["name": "ZooRight", "initial": ["n": 0]],
            ["name": "ZooState", "initial": ["text": "", "count": 0]],
        ],
    ]

    static let zoo = [
        Animal(name: "zoo", answers: ["shift", "count", "fill"], more: declared)
    ]

    init(_ instance: Instance) {
        self.instance = instance
    }

    /// Several clients at once, each of which asks for so many changes, in pieces that a stage may
    /// record.
    func write(_ symbol: String, clients: Int, each: Int) throws {
        var left = [Int](repeating: each, count: clients)
        while left.contains(where: { $0 > 0 }) {
            let calls = try left.filter { $0 > 0 }.map { count in
                try instance.start(
                    ["call", symbol, "\(min(500, count))", "--deadline", "200000"])
            }
            for call in calls {
                let outcome = try call.finish()
                guard outcome.succeeded else { throw Failure("\(symbol): \(outcome)") }
            }
            left = left.map { max(0, $0 - 500) }
        }
    }

    func value(_ region: String) throws -> Value {
        try instance.json("buffer", region)["value"] ?? .null
    }
}

/// Clients in a process of their own; see the zoo's `Crowd`.
final class Crowd {
    let command: Command

    init(_ instance: Instance, _ words: String...) throws {
        let command = try instance.start(program: Programs.zoo, words)
        self.command = command
        try Wait.until("the followers are there") {
            command.printed.hasPrefix("ready\n")
        }
    }

    /// What it has seen.
    func end() throws -> [String: Int64] {
        command.send(SIGTERM)
        let outcome = try command.finish()
        guard outcome.succeeded, let line = outcome.out.split(separator: "\n").last,
            let map = try Value.parse(json: String(line)).map
        else { throw Failure("\(outcome)") }
        return Dictionary(uniqueKeysWithValues: map.map { ($0.key, $0.value.int ?? -1) })
    }
}

extension EndToEnd {
    /// Regions as their writers and followers see them. The full numbers are in `Endurance`.
    @Suite struct Subscriptions {
        @Test func `eight writers lose no increment and break no invariant`() throws {
            try writers(each: 500)
        }

        @Test func `processes that write one region at full speed all finish`() throws {
            try contest(processes: 4, each: 100)
        }

        @Test func `a stopped and a slow follower cost the others nothing`() throws {
            try crowd(100, commits: 100)
        }

        @Test func `who loses its connection goes on where it was`() throws {
            try stumble(falls: 100, kernels: 2)
        }

        @Test(arguments: ["cancel", "break"])
        func `an observer of a property ends at its last value, stopped meanwhile or not`(
            _ end: String
        ) throws {
            try Instance.with(zoo: Ledger.zoo, reference: false) { instance in
                func followers() throws -> Int64? {
                    try instance.json("buffer", "Kernel.Load")["value"]?["followers"]?["ZooState"]?
                        .int
                }
                let other = try Watch(instance, "ZooState")
                try other.next()
                let observers = try (0..<2).map { _ in
                    try instance.start(program: Programs.zoo, ["observe", end])
                }
                for observer in observers {
                    try Wait.until("the first value") { observer.printed.contains("count 0\n") }
                }
                // The device that writes it, the watch and the two.
                try Wait.until("all follow") { try followers() == 4 }
                observers[1].send(SIGSTOP)
                #expect(try instance.run("call", "Zoo.count", "101").out == "101\n")
                try other.wait(for: "each change") { $0["count"] == 101 }
                #expect(other.lines.count == 102)
                observers[1].send(SIGCONT)
                for observer in observers {
                    try Wait.until("the last value") { observer.printed.contains("count 101\n") }
                    if end == "cancel" { observer.send(SIGTERM) }
                    try Wait.until("the end of the loop") {
                        observer.printed.hasSuffix("dropped\n")
                    }
                    let counts = observer.printed.split(separator: "\n").dropLast().map {
                        Int($0.split(separator: " ").last ?? "") ?? -1
                    }
                    #expect(counts.first == 0 && counts.last == 101)
                    #expect(counts == Array(Set(counts)).sorted(), "it never goes back")
                }
                // Both are still connected.
                try Wait.until("the kernel sends it to two") { try followers() == 2 }
                #expect(try instance.run("call", "Zoo.count", "1").out == "102\n")
                for observer in observers {
                    observer.send(SIGTERM)
                    let outcome = try observer.finish()
                    #expect(outcome.succeeded && !outcome.out.contains("102"), "\(outcome)")
                }
            }
        }

        @Test func `who watches and takes nothing is cut off, and who takes little is not`() throws
        {
            let instance = try Instance(zoo: Ledger.zoo, reference: false)
            defer { instance.end() }
            try instance.up(variables: ["CONCENTRIC_PATIENCE": "10000"])
            let frozen = try Watch(instance, "ZooState")
            let idle = try Watch(instance, "ZooLeft")
            let reader = try Watch(instance, "ZooState")
            for watch in [frozen, idle, reader] { try watch.next() }
            let slow = try Sipper(instance, "ZooState")
            frozen.command.send(SIGSTOP)
            func isCut(_ pid: Int32) -> Bool {
                instance.kernelLog.split(separator: "\n").contains {
                    $0.contains("(process \(pid)) was cut off: ")
                        && $0.contains("none was taken for 10000 ms")
                }
            }
            for round in 1...3 {
                #expect(try instance.run("call", "Zoo.fill", "1000000").out == "\(round)\n")
                slow.sip()
                try reader.wait(for: "each fill") { $0["count"]?.int == Int64(round) }
                slow.sip()
            }
            try Wait.until("the cut") {
                slow.sip()
                return isCut(frozen.command.pid)
            }
            frozen.command.send(SIGCONT)
            let outcome = try frozen.command.finish()
            #expect(!outcome.succeeded, "\(outcome.status)")
            #expect(try instance.run("call", "Zoo.shift", "1").succeeded)
            try idle.wait(for: "its change") { $0["n"] == 1 }
            try reader.drain()
            let cuts = instance.kernelLog.split(separator: "\n").filter {
                $0.contains("none was taken")
            }
            #expect(cuts.count == 1, "\(cuts)")
            #expect(!slow.isCutOff)
        }

        @Test func `clients that together leave too much are cut off one by one, the oldest first`()
            throws
        {
            let instance = try Instance(zoo: Ledger.zoo, reference: false)
            defer { instance.end() }
            try instance.up(variables: ["CONCENTRIC_UNREAD": "16"])
            let reader = try Watch(instance, "ZooState")
            try reader.next()
            var frozen: [Watch] = []
            for round in 1...9 {
                if round <= 6 {
                    let watch = try Watch(instance, "ZooState")
                    try watch.next()
                    watch.command.send(SIGSTOP)
                    frozen.append(watch)
                }
                // Another length each time, so that all of it is a change.
                let size = "\(1_000_000 + round)"
                #expect(try instance.run("call", "Zoo.fill", size).out == "\(round)\n")
                try reader.wait(for: "each fill") { $0["count"]?.int == Int64(round) }
            }
            try Wait.until("the first cut") {
                instance.kernelLog.contains(
                    "(process \(frozen[0].command.pid)) was cut off: all clients have left ")
            }
            try Wait.until("the others fit") {
                let load = try instance.json("buffer", "Kernel.Load")["value"]
                return (load?["unreadBytes"]?.int ?? .max) <= 16 << 20
            }
            let isLeft = frozen.map { watch in
                watch.command.send(SIGCONT)
                return (try? watch.wait(for: "the last fill") { $0["count"] == 9 }) != nil
            }
            #expect(isLeft == isLeft.sorted { !$0 && $1 }, "the oldest are gone: \(isLeft)")
            #expect(!isLeft[1] && isLeft[5], "\(isLeft)")
            for watch in frozen { watch.end() }
            try reader.drain()
        }

        @Test func `a part of a region is watched, and a commit that changes nothing is not seen`()
            throws
        {
            try Instance.with(zoo: Ledger.zoo, reference: false) { instance in
                let watch = try Watch(instance, "ZooState#/count")
                try watch.wait(for: "the part") { $0 == [0] }
                #expect(try instance.run("call", "Zoo.count", "3").out == "3\n")
                try watch.wait(for: "its changes") { $0 == [3] }
                #expect(watch.lines.count == 4)
                #expect(try instance.run("call", "Zoo.shift", "5").succeeded)
                #expect(try instance.run("call", "Zoo.count", "1").succeeded)
                try watch.wait(for: "its own change alone") { $0 == [4] }
                #expect(watch.lines.count == 5)
                let refused = try instance.run("buffer", "ZooState#count")
                #expect(refused.status != 0 && refused.err.contains("pointer"), "\(refused)")
            }
        }
    }
}

extension EndToEnd.Subscriptions {
    func writers(each: Int) throws {
        try Instance.with(zoo: Ledger.zoo, reference: false) { instance in
            let ledger = Ledger(instance)
            let crowd = try Crowd(instance, "crowd", "3")
            try ledger.write("Zoo.count", clients: 8, each: each)
            try ledger.write("Zoo.shift", clients: 8, each: each)
            let total = Int64(8 * each)
            #expect(try ledger.value("ZooState")["count"]?.int == total)
            #expect(try ledger.value("ZooLeft")["n"]?.int == total)
            #expect(try ledger.value("ZooRight")["n"]?.int == -total)
            let seen = try crowd.end()
            #expect(seen["broken"] == 0 && seen["differing"] == 0, "\(seen)")
            #expect(seen["revisions"] == 1, "\(seen)")
        }
    }

    /// Every commit meets those of all others, and none is given up.
    func contest(processes: Int, each: Int) throws {
        var animal = Ledger.zoo[0]
        animal.more["instances"] = .int(Int64(processes))
        try Instance.with(zoo: [animal], reference: false) { instance in
            let calls = try (0..<processes).map { _ in
                try instance.start(["call", "Zoo.count", "\(each)", "--deadline", "200000"])
            }
            for call in calls {
                let outcome = try call.finish()
                #expect(outcome.succeeded, "\(outcome)")
            }
            let count = try instance.json("buffer", "ZooState#/count")["value"]
            #expect(count == [.int(Int64(processes * each))])
            let rows = try instance.devices()
            #expect(rows.count == processes && rows.allSatisfy { $0.restarts == 0 })
        }
    }

    func crowd(_ count: Int, commits: Int) throws {
        try Instance.with(zoo: Ledger.zoo, reference: false) { instance in
            let ledger = Ledger(instance)
            let limits = try instance.json("buffer", "Kernel.Host")["value"]?["limits"]
            func limit(_ name: String) throws -> Int { Int(try #require(limits?[name]?.int)) }
            let empty = Proc.resident(instance.kernel)
            let crowd = try Crowd(instance, "crowd", "\(count)")
            let perFollower = (Proc.resident(instance.kernel) - empty) << 10 / count
            let most = try limit("connectionBytes")
            #expect(perFollower <= most)
            let frozen = try Watch(instance, "ZooState")
            try frozen.next()
            let slow = try Sipper(instance, "ZooState")
            let reader = try Watch(instance, "ZooState")
            try reader.next()
            frozen.command.send(SIGSTOP)
            let resident = Proc.resident(instance.kernel)
            // 20 MB go by, more than what waits for a follower at most.
            let size = 1_000_000
            for round in 1...20 {
                #expect(try instance.run("call", "Zoo.fill", "\(size)").out == "\(round)\n")
                slow.sip()
                try reader.wait(for: "each fill") { $0["count"]?.int == Int64(round) }
            }
            try ledger.write("Zoo.shift", clients: 1, each: commits)
            let grown = (Proc.resident(instance.kernel) - resident) << 10
            // What may wait for each of the two, with the message that filled it up; the past of
            // the region, of which each change holds two values; the value, once as it is, once as
            // it is sent; and what the others are about to be sent.
            let budget =
                try 2 * (limit("backlog") + size) + limit("pastBytes") + 2 * size + 2 * size
                + count * most / 8
            print("\(perFollower) bytes a follower, grown by \(grown), budget \(budget)")
            #expect(grown < budget)
            #expect(reader.lines.count == 21, "who reads is sent each change")
            frozen.command.send(SIGCONT)
            try frozen.wait(for: "the newest") { $0["count"]?.int == 20 }
            #expect(frozen.value == reader.value)
            let seen = try crowd.end()
            #expect(seen["broken"] == 0 && seen["differing"] == 0, "\(seen)")
            #expect(seen["resynced"] == 0 && seen["revisions"] == 1, "\(seen)")
            #expect(seen["least"] == seen["most"], "\(seen)")
            #expect(seen["least"] == Int64(2 + 2 * commits), "\(seen)")
        }
    }

    func stumble(falls: Int, kernels: Int) throws {
        try Instance.with(zoo: Ledger.zoo, reference: false) { instance in
            let stumbler = try Crowd(instance, "stumble", "3")
            let step = max(10, falls / (kernels + 1) / 10 * 10)
            for life in 0...kernels {
                let goal = life == kernels ? falls : step * (life + 1)
                while !stumbler.command.printed.contains("fell \(goal)\n") {
                    try Ledger(instance).write("Zoo.shift", clients: 4, each: 50)
                }
                guard life < kernels else { break }
                kill(instance.kernel, SIGKILL)
                try instance.up()
            }
            let seen = try stumbler.end()
            #expect(seen["broken"] == 0 && seen["differing"] == 0, "\(seen)")
            #expect(seen["epochs"] == Int64(kernels + 1), "\(seen)")
            #expect(seen["falls"] ?? 0 >= Int64(falls), "\(seen)")
            // Two at first and two for each new kernel; most of the rest is resumed by changes.
            #expect(seen["wholes"] ?? .max < Int64(falls), "\(seen)")
        }
    }
}

/// A follower that reads a few bytes now and then.
private final class Sipper {
    private let stranger: Stranger

    init(_ instance: Instance, _ region: String) throws {
        stranger = try Stranger(instance)
        // hello of a client, and follow.
        let name = Array(region.utf8)
        let hello: [UInt8] =
            [0x83, 0x01, 0x00, 0xA3, 0x64] + Array("name".utf8) + [0x63] + Array("sip".utf8)
            + [0x64] + Array("wire".utf8) + [0x01, 0x65] + Array("build".utf8) + [0x61, 0x30]
        let follow: [UInt8] = [0x84, 0x0D, 0x00, 0x01, 0x60 + UInt8(name.count)] + name
        for body in [hello, follow] { stranger.send([0, 0, 0, UInt8(body.count)] + body) }
    }

    func sip() {
        _ = stranger.heard(within: 0.01)
    }

    /// Reads what there is, and says whether the connection ends behind it.
    var isCutOff: Bool { stranger.isCutOff(within: 1) }
}
