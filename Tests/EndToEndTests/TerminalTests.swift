import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// The real client on a real terminal, which tmux plays.
    @Suite struct Terminal {
        @Test func `an import goes on under kills and the screen never leaves`() throws {
            try Instance.with { instance in
                let count = 2_000
                let folder = try instance.images(count)
                let terminal = try Tmux(instance)
                defer { terminal.end() }
                try terminal.attach()
                let library = try Watch(instance, "LibraryState")
                let devices = try Watch(instance, "Kernel.Devices")
                let victims = ["infrastructure", "compute", "circuit"]
                try terminal.press("n")
                try terminal.wait(for: "the form") { $0.contains("New slideshow") }
                try terminal.type("Holiday")
                try terminal.press("Tab")
                try terminal.type(folder)
                try terminal.press("Enter")

                let kills = 10
                var during = 0
                for number in 1...kills {
                    for name in victims {
                        let row = try devices.device(name) {
                            $0.state == "ready" && $0.restarts == number - 1
                        }
                        try library.drain()
                        if Instance.ids(in: library.value ?? .null).isEmpty { during += 1 }
                        kill(row.pid, SIGKILL)
                        try terminal.look()
                    }
                }
                #expect(during >= 5, "the kills must have hit the import")

                let row = try terminal.wait(for: "the slideshow") {
                    $0.line(with: "Holiday")?.contains("2000") == true
                }
                #expect(row.lines(with: "Holiday") == 1)
                let line = victims.sorted().map { "● \($0) ↻\(kills)" }.joined(separator: "  ")
                try terminal.wait(for: "the restarts") { $0.contains(line) }
                #expect(try instance.devices().allSatisfy { $0.state == "ready" })
                #expect(!devices.lines.contains { $0.json().contains("\"failed\"") })
                #expect(try instance.json("errors") == [])

                let id = try #require(try instance.regionIDs().first)
                #expect(try instance.storedIDs() == [id])
                let photos = try instance.fetchedPhotos(of: id)
                #expect(photos.count == count)
                #expect(try instance.storedPhotos(of: id) == photos)
                #expect(Set(photos) == Set(Files.names(in: folder).map { "\(folder)/\($0)" }))
                try terminal.expectNeverLeft()
            }
        }

        @Test func `the client says that the kernel is away and comes back with it`() throws {
            try Instance.with { instance in
                let payload = Instance.create(
                    Instance.id(1), name: "Holiday", photos: try instance.photos())
                #expect(try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                let terminal = try Tmux(instance)
                defer { terminal.end() }
                try terminal.attach()
                try terminal.wait(for: "the library") { $0.contains("Holiday") }

                kill(instance.kernel, SIGKILL)
                try terminal.wait(for: "the loss") {
                    $0.contains("kernel away") && $0.contains("Holiday")
                }
                let seen = terminal.screens.count
                try instance.up()
                let back = try terminal.wait(for: "the return") {
                    !$0.contains("kernel away") && $0.contains("● infrastructure")
                }
                #expect(back.contains("Holiday"))
                #expect(terminal.screens[seen...].allSatisfy { $0.contains("Holiday") })

                try terminal.rename(to: "Winter")
                try terminal.wait(for: "the new name") { $0.contains("Winter") }
                #expect(try instance.fetchedName(of: Instance.id(1)) == "Winter")
                try terminal.expectNeverLeft()
            }
        }

        @Test func `after a cut of its cable the client is sent what has changed, not all again`()
            throws
        {
            try Instance.with { instance in
                let photos = try instance.photos()
                for (number, name) in [(1, "Alps"), (2, "Beach")] {
                    let payload = Instance.create(
                        Instance.id(number), name: name, photos: photos)
                    #expect(
                        try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                }
                func pass() throws -> Command {
                    let proxy = try instance.start(
                        program: Programs.zoo,
                        ["proxy", "\(instance.folder)/concentric/proxy.sock", instance.socket])
                    try Wait.until("the proxy passes") { proxy.printed.contains("passing\n") }
                    return proxy
                }
                // Told once a second: what is wanted is told after this moment.
                let load = try Watch(instance, "Kernel.Load")
                func wholes() throws -> Int64 {
                    try load.drain()
                    let count = load.lines.count
                    try load.wait(for: "two looks") { _ in load.lines.count >= count + 2 }
                    return load.value?["snapshots"]?.int ?? -1
                }
                var proxy = try pass()
                let terminal = try Tmux(instance)
                defer { terminal.end() }
                try terminal.attach(name: "proxy")
                try terminal.wait(for: "the library") {
                    $0.contains("Alps") && $0.contains("Beach")
                }
                let before = try wholes()
                for round in 1...3 {
                    proxy.send(SIGKILL)
                    _ = try proxy.finish()
                    try terminal.wait(for: "the loss") { $0.contains("kernel away") }
                    let change = Value.map([
                        "id": .text(Instance.id(1)), "name": .text("Peak \(round)"),
                    ])
                    #expect(
                        try instance.run("call", "Circuit.Slideshow.update", change.json())
                            .succeeded)
                    proxy = try pass()
                    try terminal.wait(for: "the return with what was changed meanwhile") {
                        !$0.contains("kernel away") && $0.contains("Peak \(round)")
                            && $0.contains("Beach") && $0.contains("● infrastructure")
                    }
                    #expect(try wholes() == before)
                }
                try terminal.rename(to: "Winter")
                try terminal.wait(for: "the new name") { $0.contains("Winter") }
                try terminal.expectNeverLeft()
                proxy.send(SIGKILL)
                _ = try proxy.finish()
            }
        }

        @Test func `the keys rename, delete after a question, open and explain`() throws {
            try Instance.with { instance in
                let photos = try instance.photos()
                for (number, name) in [(1, "Alps"), (2, "Beach")] {
                    let payload = Instance.create(
                        Instance.id(number), name: name, photos: photos)
                    #expect(
                        try instance.run("call", "Circuit.Slideshow.create", payload).succeeded)
                }
                let terminal = try Tmux(instance)
                defer { terminal.end() }
                try terminal.attach()
                try terminal.wait(for: "the library") {
                    $0.contains("Alps") && $0.contains("Beach")
                }

                try terminal.select("Alps")
                try terminal.rename(to: "Dolomites")
                try terminal.wait(for: "the new name") {
                    $0.contains("Dolomites") && !$0.contains("Alps")
                }
                #expect(try instance.fetchedName(of: Instance.id(1)) == "Dolomites")

                try terminal.press("Enter")
                // A look may fall into the middle of a frame, so all of it is waited for.
                let slides = ["‹ Dolomites", "1.jpg", "2.jpg", "3.jpg", "3 slides"]
                try terminal.wait(for: "the slides") { screen in
                    slides.allSatisfy { screen.contains($0) }
                }
                try terminal.press("Escape")
                try terminal.wait(for: "the library") { $0.top.contains("Slideshows") }

                try terminal.press("?")
                try terminal.wait(for: "the help") { $0.contains("quit; the kernel goes on") }
                try terminal.press("Escape")
                try terminal.wait(for: "no help") { !$0.contains("the kernel goes on") }

                try terminal.select("Beach")
                try terminal.press("d")
                try terminal.wait(for: "the question") { $0.contains("Delete “Beach”") }
                try terminal.press("n")
                try terminal.wait(for: "no question") {
                    !$0.contains("Delete “") && $0.contains("Beach")
                }
                try terminal.press("d")
                try terminal.wait(for: "the question") { $0.contains("Delete “Beach”") }
                try terminal.press("y")
                try terminal.wait(for: "one less") {
                    !$0.contains("Beach") && $0.contains("1 slideshow")
                }
                #expect(try instance.storedIDs() == [Instance.id(1)])
                try terminal.expectNeverLeft()
            }
        }

        @Test func `quitting leaves the kernel running and the terminal as it was`() throws {
            try Instance.with { instance in
                let terminal = try Tmux(instance)
                defer { terminal.end() }
                try terminal.type("stty -a > before; echo said")
                try terminal.press("Enter")
                try terminal.wait(for: "an answer") { $0.lines(with: "said") >= 2 }
                for key in ["q", "C-c"] {
                    try terminal.attach()
                    try terminal.press(key)
                    try terminal.wait(for: "the prompt") { !$0.isClient && $0.contains("said") }
                    #expect(try terminal.ask("#{alternate_on} #{cursor_flag}") == "0 1")
                    try terminal.type("stty -a > after && cmp before after && echo same-\(key)")
                    try terminal.press("Enter")
                    try terminal.wait(for: "the answer") { $0.lines(with: "same-\(key)") >= 2 }
                    let modes = Files.text("\(instance.folder)/after").split { " \n;".contains($0) }
                    #expect(modes.contains("echo") && modes.contains("icanon"))
                }
                #expect(Proc.isAlive(instance.kernel))
                #expect(try instance.devices().allSatisfy { $0.state == "ready" })
            }
        }
    }
}

/// What a terminal shows.
struct Screen {
    let text: String

    var top: Substring { text.prefix { $0 != "\n" } }

    func contains(_ words: String) -> Bool { text.contains(words) }

    private func all(with words: String) -> [Substring] {
        text.split(separator: "\n").filter { $0.contains(words) }
    }

    func line(with words: String) -> Substring? { all(with: words).first }
    func lines(with words: String) -> Int { all(with: words).count }

    /// The first row of the client is its title; a shell has its prompt somewhere.
    var isClient: Bool {
        (top.contains("Slideshows") || top.contains("‹")) && !text.contains(Tmux.prompt)
    }
}

/// A terminal of 100 columns and 30 rows with a shell in it, on a tmux server of its own.
final class Tmux {
    static let prompt = "outside$"

    private let instance: Instance
    private var client: Int32 = 0
    private var since = 0
    /// Everything that was seen.
    private(set) var screens: [Screen] = []

    /// The socket of the server, in the folder of the instance.
    private let socket: String

    init(_ instance: Instance, socket: String = "tmux") throws {
        self.instance = instance
        self.socket = socket
        try tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", instance.folder,
            "PS1='\(Self.prompt) ' exec sh")
        try wait(for: "the prompt") { $0.contains(Self.prompt) }
    }

    /// Ends the server, and with it all that runs in the terminal.
    func end() { _ = try? tmux("kill-server") }

    @discardableResult
    private func tmux(_ words: String...) throws -> String {
        let outcome = try instance.start(
            program: "/usr/bin/env", ["tmux", "-u", "-S", "\(instance.folder)/\(socket)"] + words,
            variables: ["LC_ALL": "C.UTF-8"]
        ).finish()
        guard outcome.succeeded else { throw Failure("tmux \(words): \(outcome.err)") }
        return outcome.out
    }

    /// What tmux knows of the terminal.
    func ask(_ format: String) throws -> String {
        let answer = try tmux("display-message", "-p", format)
        return String(answer.prefix { $0 != "\n" })
    }

    /// Presses keys by their names.
    func press(_ keys: String...) throws {
        for key in keys { try tmux("send-keys", key) }
    }

    func type(_ text: String) throws { try tmux("send-keys", "-l", text) }

    @discardableResult
    func look() throws -> Screen {
        let screen = Screen(text: try tmux("capture-pane", "-p"))
        screens.append(screen)
        return screen
    }

    @discardableResult
    func wait(
        for what: String, _ condition: (Screen) -> Bool
    ) throws -> Screen {
        let deadline = Clock.now + Wait.patience
        while true {
            let screen = try look()
            if condition(screen) { return screen }
            guard Clock.now < deadline else {
                throw Failure(
                    "\(what): not within \(Wait.patience) s; the screen is\n\(screen.text)")
            }
            usleep(20_000)
        }
    }

    // MARK: - The client

    /// Starts the client from the shell and waits until it is connected.
    func attach(name: String? = nil) throws {
        try type("\(Programs.shell) attach" + (name.map { " --name \($0)" } ?? ""))
        try press("Enter")
        try wait(for: "the client") { $0.isClient && $0.contains("● infrastructure") }
        let shell = Int32(try ask("#{pane_pid}")) ?? 0
        client = try #require(Proc.all.first { $0.parent == shell }?.pid)
        since = screens.count
    }

    /// Each screen since `attach` was the client's, and it is the same process to this moment.
    func expectNeverLeft() throws {
        #expect(screens.count - since > 3)
        let strange = screens[since...].first { !$0.isClient }
        #expect(strange == nil, "\(strange?.text ?? "")")
        #expect(Proc.isAlive(client))
        #expect(try ask("#{pane_dead} #{alternate_on}") == "0 1")
    }

    /// Moves the selection from the first row of the library to the one with a name.
    func select(_ name: String) throws {
        try press("g")
        let rows = try look().text.split(separator: "\n", omittingEmptySubsequences: false)
        let place = try #require(rows.firstIndex { $0.contains(name) })
        // Above the list are the title and the heads.
        for _ in 2..<max(place, 2) { try press("Down") }
    }

    /// Gives the selected slideshow another name.
    func rename(to name: String) throws {
        try press("e")
        try wait(for: "the form") { $0.contains("Rename “") }
        try press("C-u")
        try type(name)
        try press("Enter")
    }
}

extension Instance {
    /// A folder of small JPEG files, no two of the same content.
    fileprivate func images(_ count: Int) throws -> String {
        let images = "\(folder)/images"
        mkdir(images, 0o700)
        let script = """
            while [ $1 -le \(count) ]; do
                printf 'P6 2 2 255 %04d%04d%04d' $1 $1 $1 | cjpeg > $0/IMG_$1.jpg || exit 1
                set $(($1 + 2))
            done
            """
        let makers = try [1, 2].map { first in
            try start(program: "/bin/sh", ["-c", script, images, "\(first)"])
        }
        let outcomes = try makers.map { try $0.finish() }
        let names = Files.names(in: images)
        guard outcomes.allSatisfy(\.succeeded), names.count == count else {
            throw Failure("cjpeg made \(names.count) files: \(outcomes)")
        }
        return images
    }

    private func fetched(_ id: String) throws -> Value {
        try json("call", "Infrastructure.Slideshow.fetch", Value.map(["id": .text(id)]).json())
    }

    /// The paths of a slideshow as the store answers them, in the order of its slides.
    fileprivate func fetchedPhotos(of id: String) throws -> [String] {
        try (fetched(id)["slides"]?.array ?? []).compactMap { $0["photo"]?.text }
    }

    fileprivate func fetchedName(of id: String) throws -> String? {
        try fetched(id)["name"]?.text
    }
}
