import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Time travel with real clients.
    @Suite struct Travel {
        static let painter = Animal(
            name: "painter", answers: ["fill"],
            more: [
                "reads": ["ZooState"], "writes": ["ZooState"],
                "regions": [["name": "ZooState", "initial": ["text": "", "count": 0]]],
            ])

        @Test func `a client travels over 500 revisions while others work, and nobody notices`()
            throws
        {
            try Instance.with(zoo: [Self.painter], reference: false) { instance in
                let steps: Int64 = 500
                let commands: Int64 = 200
                let watch = try Watch(instance, "ZooState")
                try watch.wait(for: "the first line") { _ in true }
                let travel = try instance.start(
                    program: Programs.zoo, ["travel", "\(steps)", "\(commands)"])
                let outcome = try travel.finish()
                guard let line = outcome.out.split(separator: "\n").last, outcome.succeeded
                else { throw Failure("\(outcome)") }
                let said = try Value.parse(json: String(line))
                #expect(said["wrong"] == [], "\(said.json())")
                let all = steps + 1 + commands + 3
                #expect(said["commands"] == .int(all))
                #expect(said["count"] == .int(all))
                #expect(said["last"] == .int(all))
                #expect(said["watched"] == .int(commands + 3))
                // Somebody else, all the while: one change after the other, none twice.
                try watch.wait(for: "the last change") { $0["count"] == .int(all) }
                #expect(watch.lines.filter { $0["patch"] != nil }.count == Int(all))
                let now = try instance.json("buffer", "ZooState")
                #expect(now["value"] == watch.value)
                #expect(try instance.json("errors") == [])
            }
        }

        @Test func `a region is read as it was, and its history says who changed it`() throws {
            try Instance.with(zoo: [Self.painter], reference: false) { instance in
                for number in 1...70 {
                    #expect(try instance.run("call", "Zoo.fill", "3").out == "\(number)\n")
                }
                let now = try instance.json("buffer", "ZooState")
                let revision = try #require(Revision(now["revision"]?.text ?? ""))
                for back in [UInt64(0), 1, 5, 69] {
                    let then = Revision(epoch: revision.epoch, counter: revision.counter - back)
                    for text in ["\(then)", "\(then.counter)"] {
                        let value = try instance.json("buffer", "ZooState", "--at", text)
                        #expect(value["revision"] == .text("\(then)"))
                        #expect(value["value"]?["count"] == .int(70 - Int64(back)))
                    }
                }
                let history = try instance.run("history", "ZooState", "--json").out
                let entries = try history.split(separator: "\n").map {
                    try Value.parse(json: String($0))
                }
                #expect(entries.count == 70)
                #expect(entries.last?["revision"] == .text("\(revision)"))
                for entry in entries {
                    #expect(entry["symbol"] == "Zoo.fill" && entry["device"] == "painter")
                    #expect(entry["at"]?.date != nil)
                    #expect((entry["operations"]?.int ?? 0) > 0)
                }
                #expect(Set(entries.compactMap { $0["flow"]?.text }).count == 70)
                let table = try instance.run("history", "ZooState", "--limit", "2").out
                let lines = table.split(separator: "\n")
                #expect(lines.count == 3)
                #expect(lines[0].hasPrefix("REVISION"))
                #expect(lines[2].contains("\(revision)") && lines[2].contains("painter"))
            }
        }

        @Test func `the past is on the screen of one client, and the present on every other`()
            throws
        {
            try Instance.with { instance in
                let photos = try instance.photos()
                func create(_ number: Int) throws {
                    let payload = Instance.create(
                        Instance.id(number), name: "Show \(number)", photos: photos)
                    #expect(
                        try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                }
                for number in 1...3 { try create(number) }
                let terminal = try Tmux(instance)
                defer { terminal.end() }
                let other = try Tmux(instance, socket: "other")
                defer { other.end() }
                for screen in [terminal, other] {
                    try screen.attach()
                    try screen.wait(for: "the library") { $0.contains("Show 3") }
                }
                try terminal.press("T")
                try terminal.wait(for: "the past") { $0.contains("◷ revision") }
                // How many changes back it is depends on how often the list was read since.
                for _ in 0..<30 {
                    let screen = try terminal.look()
                    if !screen.contains("Show 3") { break }
                    let before = screen.line(with: "◷ revision").map(String.init)
                    try terminal.press("Left")
                    try terminal.wait(for: "the step") {
                        $0.line(with: "◷ revision").map(String.init) != before
                    }
                }
                try terminal.wait(for: "two slideshows") {
                    !$0.contains("Show 3") && $0.contains("Show 2")
                        && $0.contains("Circuit.Slideshow.create (circuit)")
                }
                try create(4)
                try other.wait(for: "the fourth") { $0.contains("Show 4") }
                try terminal.press("d")
                try terminal.wait(for: "the hint") {
                    $0.contains("Nothing is changed in the past") && !$0.contains("Show 4")
                        && !$0.contains("Show 3")
                }
                try terminal.press("Escape")
                try terminal.wait(for: "the present") {
                    $0.contains("Show 3") && $0.contains("Show 4") && !$0.contains("◷")
                        && !$0.contains("Nothing is changed")
                }
                try create(5)
                for screen in [terminal, other] {
                    try screen.wait(for: "the fifth") { $0.contains("Show 5") }
                    #expect(try screen.look().contains("Show 3"))
                }
                #expect(other.screens.allSatisfy { !$0.contains("◷") })
                try terminal.expectNeverLeft()
                #expect(try instance.json("errors") == [])
            }
        }
    }
}
