import CLinux
import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// What scripts rely on: formats and exit codes.
    @Suite struct Shell {
        @Test func `a watch prints the value, then one patch for each change`() throws {
            try Instance.with { instance in
                let photos = try instance.photos()
                let watch = try Watch(instance, "LibraryState")
                try watch.wait(for: "the first line") { _ in true }
                try watch.wait(for: "the library is read") { _ in
                    watch.revision.hasSuffix("-2")
                }
                try watch.drain()
                let before = watch.lines.count
                #expect(watch.lines[0]["value"] != nil)
                for number in 1...5 {
                    let payload = Instance.create(
                        Instance.id(number), name: "S\(number)", photos: photos)
                    #expect(
                        try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                    try watch.wait(for: "change \(number)") {
                        Instance.ids(in: $0).count == number
                    }
                    #expect(watch.lines.count == before + number)
                }
                #expect(watch.lines.dropFirst().allSatisfy { $0["patch"]?.array != nil })
                #expect(Set(watch.lines.compactMap { $0["revision"]?.text }).count == before + 5)
                let now = try instance.json("buffer", "LibraryState")
                #expect(now["region"] == "LibraryState")
                #expect(now["revision"]?.text == watch.revision)
                #expect(now["value"] == watch.value)
                #expect(now.map?.count == 3)
            }
        }

        @Test func `up can say in JSON that it is ready`() throws {
            try Instance.with { instance in
                let up = try instance.run(
                    "up", "--detach", "--json", "--name", "other", "--data",
                    "\(instance.folder)/other")
                let said = try Value.parse(json: up.out)
                #expect((said["pid"]?.int ?? 0) > 1)
                #expect(said["socket"]?.text?.hasSuffix("/other.sock") == true)
                #expect(try instance.run("down", "--name", "other").succeeded)
            }
        }

        @Test func `a command that fails is told by errors`() throws {
            try Instance.with { instance in
                #expect(try instance.json("errors") == [])
                let watch = try Watch(instance, "Kernel.Errors")
                let payload = Instance.create(Instance.id(1), name: "A", photos: "/no/where")
                let dispatch = try instance.run(
                    "dispatch", "Circuit.Slideshow.create", payload, "--json")
                #expect(dispatch.out == "{\"accepted\":true}\n")
                try watch.wait(for: "the error") { $0.array?.isEmpty == false }
                let rows = try instance.json("errors").array ?? []
                #expect(rows.count == 1)
                let row = rows.first?.map ?? [:]
                #expect(Set(row.keys) == ["symbol", "code", "message", "flow", "at"])
                #expect(row["symbol"] == "Circuit.Slideshow.create")
                #expect(row["code"]?.text?.isEmpty == false)
                #expect(row["message"]?.text?.contains("/no/where") == true)
                #expect(row["flow"]?.isNull == false)
                #expect(row["at"]?.date != nil, "\(row)")
                let table = try instance.run("errors").out
                #expect(table.contains("Circuit.Slideshow.create"))
                #expect(try instance.run("call", "Kernel.Errors.dismiss").succeeded)
                #expect(try instance.json("errors") == [])
            }
        }

        @Test func `output that nobody can take is told, and a reader that leaves is no error`()
            throws
        {
            try Instance.with { instance in
                let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
                defer { close(full) }
                let lost = try instance.start(["ps"], output: full).finish()
                #expect(lost.status == 74, "\(lost)")
                #expect(lost.err.contains("No space left on device"))
                #expect(lost.err.split(separator: "\n").count == 1)
                var ends: [Int32] = [0, 0]
                #expect(clx_pipe(&ends, 0) == 0)
                close(ends[0])
                defer { close(ends[1]) }
                let left = try instance.start(["ps"], output: ends[1]).finish()
                #expect(left.status == 0 && left.err == "", "\(left)")
                // An error keeps its code when standard error takes nothing.
                for end in ["/dev/full", "&-"] {
                    let words = "exec \(Programs.shell) call No.Such.symbol 2>\(end)"
                    let outcome = try instance.start(program: "/bin/sh", ["-c", words]).finish()
                    #expect(outcome.status == 69, "\(outcome)")
                }
            }
        }

        /// A call that fails: its words, its exit code, and what it says.
        struct Refusal: Sendable {
            var words: [String]
            var status: Int32
            var says: String
        }

        static let refusals = [
            Refusal(words: ["call", "No.Such.symbol"], status: 69, says: "unbound"),
            Refusal(words: ["call", "Compute.Photos.select", "{"], status: 65, says: "JSON"),
            Refusal(words: ["call", "Compute.Photos.select", "7"], status: 65, says: "malformed"),
            Refusal(
                words: ["call", "Compute.Photos.select", #"{"present": []}"#], status: 65,
                says: "candidates"),
            Refusal(words: ["call"], status: 64, says: "usage"),
            Refusal(words: ["call", "A", "1", "2"], status: 64, says: "usage"),
            Refusal(words: ["call", "A", "--deadline", "soon"], status: 64, says: "--deadline"),
            Refusal(words: ["call", "A", "--deadline"], status: 64, says: "--deadline"),
            Refusal(words: ["call", "Kernel.Device.swap"], status: 65, says: "device"),
            Refusal(words: ["call", "Kernel.History.preview"], status: 65, says: "steps"),
            Refusal(words: ["call", "Kernel.History.read"], status: 65, says: "region"),
            Refusal(words: ["call", "Kernel.Trace.capture"], status: 65, says: "on"),
            Refusal(words: ["trace", "7"], status: 64, says: "usage"),
            Refusal(words: ["trace", "--chrome"], status: 64, says: "--chrome"),
            Refusal(
                words: ["trace", "--chrome", "/no/where/t.json"], status: 74, says: "/no/where"),
            Refusal(words: ["graph", "--format", "svg"], status: 64, says: "mermaid"),
            Refusal(words: ["describe"], status: 64, says: "usage"),
            Refusal(words: ["describe", "No.Such"], status: 69, says: "No.Such"),
            Refusal(words: ["dispatch", "No.Such.symbol"], status: 69, says: "unbound"),
            Refusal(words: ["dispatch", "A", "nope"], status: 65, says: "JSON"),
            Refusal(words: ["buffer", "NoRegion"], status: 69, says: "NoRegion"),
            Refusal(words: ["buffer"], status: 64, says: "REGION is missing"),
            Refusal(
                words: ["buffer", "LibraryState", "--at", "1-1"], status: 69,
                says: "another start"),
            Refusal(words: ["buffer", "LibraryState", "--at", "x"], status: 64, says: "EPOCH"),
            Refusal(
                words: ["buffer", "LibraryState", "--at", "99999"], status: 69, says: "latest"),
            Refusal(words: ["buffer", "Kernel.Devices", "--at", "0"], status: 77, says: "Kernel."),
            Refusal(words: ["buffer", "NoRegion", "--at", "0"], status: 69, says: "NoRegion"),
            Refusal(words: ["up", "--detach", "--name", "../up"], status: 64, says: "../up"),
            Refusal(words: ["ps", "more"], status: 64, says: "usage"),
            Refusal(words: ["ps", "--wide"], status: 64, says: "--wide"),
            Refusal(words: ["kill"], status: 64, says: "usage"),
            Refusal(words: ["kill", "nobody"], status: 69, says: "nobody"),
            Refusal(words: ["kill", "compute", "--signal", "LOUD"], status: 65, says: "LOUD"),
            Refusal(words: ["restart", "nobody"], status: 69, says: "nobody"),
            Refusal(words: ["restart", "nobody", "--swap"], status: 69, says: "nobody"),
            Refusal(words: ["history"], status: 64, says: "usage"),
            Refusal(words: ["history", "NoRegion"], status: 69, says: "NoRegion"),
            Refusal(words: ["history", "Kernel.Devices"], status: 77, says: "Kernel.Devices"),
            Refusal(
                words: ["history", "LibraryState", "--limit", "0"], status: 64, says: "--limit"),
            Refusal(words: ["log", "nobody"], status: 69, says: "circuit, compute"),
            Refusal(words: ["log", "-x"], status: 64, says: "no option -x"),
            Refusal(words: ["log", "a", "b"], status: 64, says: "usage"),
            Refusal(words: ["log", "--lines", "few"], status: 64, says: "--lines"),
            Refusal(words: ["log", "--lines", "-1"], status: 64, says: "--lines"),
            Refusal(words: ["doctor", "who"], status: 64, says: "usage"),
            Refusal(words: ["dance"], status: 64, says: "dance"),
            Refusal(words: [], status: 64, says: ""),
        ]

        @Test func `what cannot be done is said in one line, with the code of its kind`() throws {
            try Instance.with { instance in
                for refusal in Self.refusals {
                    let outcome = try instance.start(refusal.words).finish()
                    #expect(outcome.status == refusal.status, "\(refusal.words): \(outcome)")
                    #expect(outcome.err.contains(refusal.says), "\(refusal.words): \(outcome)")
                    guard !refusal.words.isEmpty else { continue }
                    #expect(outcome.out == "", "\(refusal.words)")
                    #expect(
                        outcome.err.split(separator: "\n").count == 1,
                        "\(refusal.words): \(outcome)")
                }
                #expect(try instance.devices().allSatisfy { $0.restarts == 0 })
            }
        }

        @Test(arguments: [
            ["ps"], ["ps", "--json"], ["down"], ["kill", "compute"], ["restart", "compute"],
            ["call", "A"], ["dispatch", "A"], ["buffer", "LibraryState"],
            ["buffer", "LibraryState", "--watch"], ["errors"],
            ["trace"], ["trace", "--follow"], ["graph"], ["symbols"], ["describe", "A"],
        ])
        func `without a kernel every verb says so`(words: [String]) throws {
            let instance = try Instance()
            defer { instance.end() }
            let outcome = try instance.start(words).finish()
            #expect(outcome.status == 69)
            #expect(outcome.out == "")
            let advice = words == ["down"] ? "there is nothing to end" : "concentric up"
            #expect(outcome.err.contains(advice), "\(outcome.err)")
            #expect(outcome.err.split(separator: "\n").count == 1)
        }

        @Test func `every verb has its help`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let all = try instance.run("--help")
            #expect(all.succeeded)
            let verbs = [
                "up", "down", "attach", "ps", "kill", "restart", "stop", "start", "call",
                "dispatch", "buffer", "trace", "graph", "symbols", "describe", "errors", "log",
                "doctor",
            ]
            for verb in verbs {
                #expect(all.out.contains("  \(verb) "), "\(verb)")
                let help = try instance.run(verb, "--help")
                #expect(help.succeeded, "\(verb): \(help)")
                #expect(help.out.hasPrefix("usage: concentric \(verb)"), "\(verb)")
                #expect(help.err == "")
            }
            let version = try instance.run("--version")
            #expect(version.succeeded && version.out.hasPrefix("concentric "), "\(version)")
            let kernel = try instance.start(program: Programs.kernel, ["--help"]).finish()
            #expect(kernel.succeeded)
            #expect(kernel.out.hasPrefix("usage:"))
        }

        @Test func `an error of a handler keeps its code`() throws {
            let zoo = [Animal(name: "zoo", answers: ["fail"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let outcome = try instance.run("call", "Zoo.fail", "\"because\"")
                #expect(outcome.status == 70)
                #expect(outcome.err == "concentric: call: zooFailed: because\n")
            }
        }

        @Test func `two instances do not know each other`() throws {
            try Instance.with { first in
                try Instance.with { second in
                    let photos = try first.photos()
                    let payload = Instance.create(Instance.id(1), name: "A", photos: photos)
                    #expect(try first.run("call", "Circuit.Slideshow.create", payload).succeeded)
                    #expect(try first.regionIDs() == [Instance.id(1)])
                    #expect(try second.regionIDs() == [])
                    let named = try first.run("ps", "--name", "other")
                    #expect(named.status == 69)
                    #expect(named.err.contains("other"))
                }
            }
        }
    }
}
