import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The region `Kernel.Load`.
    @Suite struct Load {
        @Test func `the load is told once a second while somebody follows it`() throws {
            let zoo = [Animal(name: "zoo", answers: ["echo", "gate"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let watch = try Watch(instance, "Kernel.Load")
                func member(_ name: String) -> Int64 { watch.value?[name]?.int ?? -1 }
                try watch.wait(for: "the first look") { !$0.isNull }
                let members = watch.value?.map.map { Set($0.keys) }
                #expect(
                    members == [
                        "at", "visits", "visitsPerSecond", "flows", "replays", "waiting",
                        "staleReplies", "residentBytes", "flowBytes", "cells", "channels", "held",
                        "snapshots", "followers", "unreadBytes", "trims",
                    ])
                #expect(watch.value?["visitsPerSecond"]?.isNull == true, "no second has passed")
                #expect(member("residentBytes") > 1 << 20)
                let before = member("visits")
                for _ in 1...3 {
                    #expect(try instance.run("call", "Zoo.echo", "\"x\"").succeeded)
                }
                try watch.wait(for: "three visits") { $0["visits"]?.int == before + 3 }
                #expect(member("visitsPerSecond") >= 1)

                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
                try Wait.until("the visit") { access(mark, F_OK) == 0 }
                kill(try instance.device("zoo").pid, SIGKILL)
                try watch.wait(for: "the replay") { $0["replays"]?.int == 1 }
                #expect(member("flows") == 1 && member("visits") == before + 5)
                try Files.write("", to: "\(mark).go")
                #expect(try call.finish().succeeded)
                try watch.wait(for: "the end of the flow") { $0["flows"]?.int == 0 }

                // A look that came late does not put off the next.
                let looks = try dates(watch)
                let span = try #require(looks.last) - looks[0]
                #expect(looks.count > 3)
                #expect(
                    looks.count - 1 <= span / 1_000 + 1, "it is told more often than once a second")
                watch.end()
                // Who comes after the end of its timer is the first again.
                try Wait.until("the timer ends with its last follower") {
                    let load = try instance.json("buffer", "Kernel.Load")["value"]
                    return load?["visitsPerSecond"]?.isNull == true
                }
            }
        }

        /// When each look was taken, in milliseconds.
        private func dates(_ watch: Watch) throws -> [Int64] {
            var value = Value.null
            return try watch.lines.compactMap { line in
                if let whole = line["value"] { value = whole }
                if let patch = line["patch"] { value = try Patch(value: patch).apply(to: value) }
                return value["at"]?.date ?? value["at"]?.text.flatMap(DateText.parse)
            }
        }
    }
}
