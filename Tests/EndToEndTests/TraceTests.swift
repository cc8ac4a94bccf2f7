import Contract
import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// What runs and what is wired, as the running kernel tells it.
    @Suite struct Traces {
        private func create(_ instance: Instance, _ number: Int, _ photos: String) throws {
            let payload = Instance.create(Instance.id(number), name: "S", photos: photos)
            #expect(try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
        }

        private static let visits = [
            "Circuit.Slideshow.create#0", "Compute.Photos.select", "Circuit.Slideshow.create#3",
            "Compute.Slideshow.create", "Infrastructure.Slideshow.insert",
            "Circuit.Slideshow.create#6",
        ]

        private static let circuit: Set<String> = [
            CircuitPort.fetchAll.name, CircuitPort.createSlideshow.name,
            CircuitPort.updateSlideshow.name, CircuitPort.updateConfig.name,
            CircuitPort.deleteSlideshow.name, CircuitPort.openSlideshow.name,
            CircuitPort.closeSlideshow.name, CircuitPort.addPhotos.name,
            CircuitPort.saveConfig.name,
        ]

        @Test func `trace prints the tree of a pipe, and JSON of the same`() throws {
            try Instance.with { instance in
                let photos = try instance.photos()
                let first = try instance.run("trace")
                #expect(first.succeeded)
                #expect(first.err.contains("--follow"), "\(first.err)")
                try create(instance, 1, photos)
                let second = try instance.run("trace")
                #expect(second.err == "")
                // The circuit reads the library when it starts.
                let all = second.out.split(separator: "\n").map { $0.dropFirst(15) }
                let lines = all.drop { !$0.hasPrefix("Circuit.Slideshow.create ") }
                #expect(
                    lines.first?.hasPrefix("Circuit.Slideshow.create  ok  ") == true, "\(second)")
                #expect(lines.first?.hasSuffix("called by concentric call") == true)
                let stages = lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
                #expect(
                    stages.map { $0.split(separator: " ").first.map(String.init) } == Self.visits)
                #expect(
                    lines.contains { $0.hasPrefix("    Infrastructure.Slideshow.fetch  infra") })
                #expect(!second.out.contains("\u{1B}"))
                #expect(!second.out.contains(photos), "payloads are asked for")

                _ = try instance.run("trace", "--payloads")
                try create(instance, 2, photos)
                #expect(try instance.run("trace").out.contains("\"photos\": [\"\(photos)\"]"))
                let rows = try instance.run("trace", "--json").out.split(separator: "\n").map {
                    try Value.parse(json: String($0))
                }
                let visits = rows.filter { $0["kind"] == "visit" }
                #expect(
                    visits.compactMap { $0["symbol"]?.text }.filter(Self.visits.contains)
                        == Self.visits + Self.visits)
                #expect(visits.allSatisfy { $0["incarnation"] == 1 && $0["attempt"] == 1 })
                #expect(rows.allSatisfy { $0["at"]?.date ?? 0 > 1_700_000_000_000 })
            }
        }

        /// A visit is two messages, and so are the call and its reply: ten, and a commit.
        @Test func `an update costs four visits, one commit and nothing else`() throws {
            try Instance.with { instance in
                try create(instance, 1, try instance.photos())
                _ = try instance.run("trace")
                func revision() throws -> String {
                    try instance.json("buffer", "LibraryState")["revision"]?.text ?? ""
                }
                let before = try revision()
                let update = "{\"id\":\"\(Instance.id(1))\",\"name\":\"New\"}"
                let outcome = try instance.run("call", "Circuit.Slideshow.update", update)
                #expect(outcome.succeeded, "\(outcome.err)")
                let spans = try instance.run("trace", "--json").out.split(separator: "\n").map {
                    try Value.parse(json: String($0))
                }
                let visits = spans.filter { $0["kind"] == "visit" }.compactMap {
                    $0["symbol"]?.text
                }
                #expect(
                    visits.suffix(4) == [
                        "Infrastructure.Slideshow.fetchForUpdate", "Compute.Slideshow.update",
                        "Infrastructure.Slideshow.replace", "Circuit.Slideshow.update#4",
                    ])
                let flows = spans.filter { $0["kind"] == "flow" }
                #expect(flows.last?["symbol"] == "Circuit.Slideshow.update")
                #expect(visits.count == 4 && flows.count == 1, "\(spans)")
                #expect(try Self.counter(revision()) == Self.counter(before) + 1)
            }
        }

        private static func counter(_ revision: String) -> Int {
            Int(revision.split(separator: "-").last ?? "") ?? -9
        }

        @Test func `a device that dies is seen in the trace as a second attempt`() throws {
            let zoo = [Animal(name: "zoo", answers: ["gate"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let chrome = "\(instance.folder)/trace.json"
                let trace = try Lines(instance, "trace", "--follow", "--json", "--chrome", chrome)
                try Wait.until("the trace is on") {
                    try instance.json("call", "Kernel.Trace.read")["on"]?.bool == true
                }
                let mark = "\(instance.folder)/mark"
                let call = try instance.start(["call", "Zoo.gate", Value.text(mark).json()])
                try Wait.until("the visit runs") { !Files.text(mark).isEmpty }
                let running = try instance.run("trace")
                #expect(running.out.contains("Zoo.gate  zoo#1  running"), "\(running)")
                kill(try instance.device("zoo").pid, SIGKILL)
                try Files.write("", to: mark + ".go")
                #expect(try call.finish().succeeded)
                try trace.next("the first attempt") {
                    $0.contains("\"verb\":\"lost\"") && $0.contains("\"attempt\":1")
                }
                try trace.next("the second") {
                    $0.contains("\"verb\":\"next\"") && $0.contains("\"attempt\":2")
                        && $0.contains("\"incarnation\":2")
                }
                try trace.next("the flow") { $0.contains("\"kind\":\"flow\"") }
                trace.command.send(SIGINT)
                #expect(try trace.command.finish().succeeded)
                let events = try Value.parse(json: Files.text(chrome))["traceEvents"]?.array ?? []
                let complete = events.filter { $0["ph"] == "X" }
                #expect(complete.map { $0["tid"]?.int } == [1, 2])
                #expect(complete.allSatisfy { ($0["dur"]?.int ?? -1) >= 0 })
                #expect(events.contains { $0["args"]?["name"] == "zoo" && $0["ph"] == "M" })
            }
        }

        @Test func `a follower that is killed leaves nothing on, and a whole file`() throws {
            try Instance.with { instance in
                let chrome = "\(instance.folder)/trace.json"
                let trace = try Lines(instance, "trace", "--follow", "--chrome", chrome)
                try Wait.until("the trace is on") {
                    try instance.json("call", "Kernel.Trace.read")["on"]?.bool == true
                }
                try create(instance, 1, try instance.photos())
                try trace.next("the last visit") { $0.contains("Circuit.Slideshow.create#6") }
                trace.command.send(SIGKILL)
                _ = try trace.command.finish()
                let value = try Value.parse(json: Files.text(chrome))
                #expect((value["traceEvents"]?.array?.count ?? 0) >= Self.visits.count)
                try Wait.until("the trace is off") {
                    try instance.json("call", "Kernel.Trace.read")["on"]?.bool == false
                }
            }
        }

        @Test func `a trace for which there is no room says so and leaves a whole file`() throws {
            try Instance.with { instance in
                _ = try instance.json("call", "Kernel.Trace.capture", "{\"on\": true}")
                try create(instance, 1, try instance.photos())
                let chrome = "\(instance.folder)/trace.json"
                let words = "\(Programs.shell) trace --chrome \(chrome)"
                // Of 512 bytes each: more than an empty file has, and less than the events.
                let outcome = try instance.start(
                    program: "/bin/sh", ["-c", "ulimit -f 2; exec \(words)"]
                ).finish()
                #expect(outcome.status == 74, "\(outcome)")
                #expect(outcome.err.contains("\(chrome) cannot be written: File too large\n"))
                let value = try Value.parse(json: Files.text(chrome))
                #expect(value["traceEvents"]?.array?.isEmpty == true)
            }
        }

        @Test func `a follower whose kernel goes away says so`() throws {
            try Instance.with { instance in
                let trace = try instance.start(["trace", "--follow"])
                try Wait.until("the trace is on") {
                    try instance.json("call", "Kernel.Trace.read")["on"]?.bool == true
                }
                #expect(try instance.run("down").succeeded)
                let outcome = try trace.finish()
                #expect(outcome.status == 69)
                #expect(outcome.err.split(separator: "\n").count == 1, "\(outcome)")
            }
        }

        // MARK: - What is wired

        @Test func `the graph has every pipe of the circuit, with its places in the source`() throws
        {
            try Instance.with { instance in
                let pipes = try instance.json("graph").array ?? []
                let names = Set(pipes.compactMap { $0["symbol"]?.text })
                #expect(names == Self.circuit)
                #expect(pipes.allSatisfy { $0["device"] == "circuit" })
                let stages = pipes.flatMap { $0["stages"]?.array ?? [] }
                #expect(!stages.isEmpty)
                for stage in stages {
                    #expect(stage["file"]?.text?.hasPrefix("Circuit/") == true, "\(stage)")
                    #expect((stage["line"]?.int ?? 0) > 0)
                }
                let mermaid = try instance.run("graph").out
                #expect(mermaid.hasPrefix("flowchart LR\n"))
                let dot = try instance.run("graph", "--format", "dot").out
                for name in names {
                    #expect(mermaid.contains("[\"\(name) (circuit)\"]"), "\(name)")
                    #expect(dot.contains("label=\"\(name) (circuit)\""), "\(name)")
                }
                let symbols = try instance.json("symbols").array ?? []
                let known = Set(symbols.compactMap { $0["name"]?.text })
                #expect(known.isSuperset(of: names))
                #expect(symbols.allSatisfy { $0["kind"]?.text != nil })
                #expect(symbols.allSatisfy { $0["summary"]?.text?.isEmpty == false })
                let described = try instance.run("describe", "Circuit.Slideshow.create").out
                #expect(described.contains("answered by circuit"))
                for name in Self.visits { #expect(described.contains(name), "\(name)") }
                let json = try instance.json("describe", "Compute.Photos.select")
                #expect(json["device"] == "compute")
                #expect(json["pipe"]?.isNull == true)
            }
        }
    }
}
