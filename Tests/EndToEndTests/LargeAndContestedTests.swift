import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Slideshows that are large, and commands that meet each other.
    @Suite struct LargeAndContested {
        @Test func `a slideshow of six thousand photos can be made, renamed and configured`() throws
        {
            try Instance.with { instance in
                let id = Instance.id(1)
                let payload = Instance.create(
                    id, name: "Many", photos: try folder(of: 6_000, instance))
                let made = try instance.run("call", "Circuit.Slideshow.create", payload, "--json")
                #expect(made.succeeded, "\(made.err)")
                let name = "{\"id\":\"\(id)\",\"name\":\"More\"}"
                let renamed = try instance.run("call", "Circuit.Slideshow.update", name, "--json")
                #expect(renamed.succeeded, "\(renamed.err)")
                let config = "{\"id\":\"\(id)\",\"duration\":\"60\"}"
                let configured = try instance.run(
                    "call", "Circuit.Slideshow.updateConfig", config, "--json")
                #expect(configured.succeeded, "\(configured.err)")
                let value = try instance.json("buffer", "LibraryState")["value"]
                let row = value?["slideshows"]?[0]
                #expect(row?["name"] == "More")
                #expect(row?["slideCount"] == 6_000)
                #expect(row?["config"]?["duration"] == "60")
            }
        }

        @Test func `a file whose name no text can carry is told of, and the others are imported`()
            throws
        {
            try Instance.with { instance in
                let photos = try instance.photos()
                let name = Array("\(photos)/x".utf8CString.dropLast()) + [CChar(-1)]
                for end in [".jpg", ".png"] {
                    let path = name + Array(end.utf8CString)
                    path.withUnsafeBufferPointer { path in
                        if let base = path.baseAddress { close(creat(base, 0o600)) }
                    }
                }
                let payload = Instance.create(Instance.id(1), name: "S", photos: photos)
                let made = try instance.run("call", "Circuit.Slideshow.create", payload)
                #expect(made.succeeded, "\(made.err)")
                #expect(try instance.storedPhotos(of: Instance.id(1)).count == 3)
                let watch = try Watch(instance, "Kernel.Errors")
                try watch.wait(for: "the report") { $0.array?.isEmpty == false }
                let told = watch.value?[0]
                #expect(told?["symbol"]?.text == "Circuit.Photos.tellLeftOut")
                #expect(
                    told?["message"]?.text?.hasPrefix(
                        "\(photos)/x\u{FFFD}.jpg and 1 more were left out") == true,
                    "\(told as Any)")
            }
        }

        @Test func `changes of one slideshow that meet each other are all made`() throws {
            try Instance.with { instance in
                let id = Instance.id(1)
                let payload = Instance.create(id, name: "S", photos: try folder(of: 8, instance))
                let made = try instance.run("call", "Circuit.Slideshow.create", payload)
                #expect(made.succeeded, "\(made.err)")
                func slides() throws -> [Value] {
                    let fetch = ["call", "Infrastructure.Slideshow.fetch", "{\"id\":\"\(id)\"}"]
                    return try instance.json(fetch[0], fetch[1], fetch[2])["slides"]?.array ?? []
                }
                let before = try slides()
                #expect(before.count == 8)
                let calls = try before.map { slide in
                    let title: Value = .map(["slide": slide["id"] ?? .null, "title": "T"])
                    return try instance.start([
                        "call", "Circuit.Slideshow.update",
                        "{\"id\":\"\(id)\",\"titles\":[\(title.json())]}", "--json",
                    ])
                }
                var versions: Set<Int64> = []
                for call in calls {
                    let outcome = try call.finish()
                    #expect(outcome.succeeded, "\(outcome.err)")
                    let summary = try Value.parse(json: outcome.out)
                    if let version = summary["version"]?.int { versions.insert(version) }
                }
                // Each was made on top of another one, and the list shows the last.
                #expect(versions == Set(2...9))
                #expect(try slides().allSatisfy { $0["title"] == "T" })
                let value = try instance.json("buffer", "LibraryState")["value"]
                #expect(value?["slideshows"]?[0]?["version"] == 9)
            }
        }

        @Test func `a stage that has read and changed twenty megabytes is repeated with them`()
            throws
        {
            let zoo = Animal(
                name: "zoo", answers: ["ponder", "stock"],
                more: [
                    "writes": ["ZooStock"],
                    "regions": [["name": "ZooStock", "initial": ["texts": [], "count": 0]]],
                ])
            try Instance.with(zoo: [zoo], reference: false) { instance in
                let part = 5 << 20
                let size = 4 * part
                for number in 1...4 {
                    let stocked = try instance.run("call", "Zoo.stock", "\(part)")
                    #expect(stocked.out == "\(number * part)\n", "\(stocked)")
                }
                let mark = "\(instance.folder)/mark"
                let call = try instance.start([
                    "call", "Zoo.ponder", Value.text(mark).json(), "--json",
                ])
                try Wait.until("the commit is made") { !Files.text(mark).isEmpty }
                let before = try instance.device("zoo")
                kill(before.pid, SIGKILL)
                try Wait.until("the repeat has all") {
                    Files.text(mark).split(separator: "\n").count == 2
                }
                try Files.write("", to: mark + ".go")
                let outcome = try call.finish()
                let now = try instance.device("zoo")
                #expect(now.restarts == 1)
                #expect(outcome.out == "[\(size),\(size),\(now.pid)]\n", "\(outcome)")
                let count = try instance.json("buffer", "ZooStock#/count")["value"]
                #expect(count == [1], "it was made once")
                #expect(try instance.json("errors") == [])
            }
        }

        /// A folder of empty image files.
        private func folder(of count: Int, _ instance: Instance) throws -> String {
            let folder = "\(instance.folder)/many"
            mkdir(folder, 0o700)
            for number in 0..<count {
                close(open("\(folder)/IMG_\(10_000 + number).jpg", O_CREAT | O_WRONLY, 0o600))
            }
            return folder
        }

        @Test func `a caller's key used for another payload does not answer for it`() throws {
            try Instance.with { instance in
                let photos = try instance.photos()
                for number in 1...2 {
                    let payload = Instance.create(
                        Instance.id(number), name: "S\(number)", photos: photos)
                    let made = try instance.run(
                        "call", "Circuit.Slideshow.create", payload, "--key", "K")
                    #expect(made.succeeded, "\(made.err)")
                }
                #expect(try instance.regionIDs() == [Instance.id(1), Instance.id(2)])
                for number in 1...2 {
                    let payload = "{\"id\":\"\(Instance.id(number))\"}"
                    let gone = try instance.run(
                        "call", "Circuit.Slideshow.delete", payload, "--key", "K")
                    #expect(gone.succeeded, "\(gone.err)")
                }
                #expect(try instance.regionIDs() == [])
                #expect(try instance.storedIDs() == [])
            }
        }

        @Test func `two kernels do not share a folder of data`() throws {
            try Instance.with { instance in
                let second = try instance.run(
                    "up", "--detach", "--name", "second", "--data", instance.data)
                #expect(second.status == 69)
                #expect(second.err.contains(") keeps its data here: stop it, or say --data"))
            }
        }
    }
}
