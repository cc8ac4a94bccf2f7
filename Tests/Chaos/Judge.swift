import Contract
import DeviceKit
import FoundationEssentials

/// Compares what the commands should have made with what there is: the regions of the running
/// kernel, the library file, and a fresh kernel on the same data.
@LoopActor
final class Judge {
    private let instance: Instance
    private let ledger: Ledger
    private let file: LibraryFile
    private let workers: [Worker]

    init(_ instance: Instance, _ ledger: Ledger, _ file: LibraryFile, _ workers: [Worker]) {
        self.instance = instance
        self.ledger = ledger
        self.file = file
        self.workers = workers
    }

    private var albums: [Album] { workers.flatMap(\.albums) }
    private var unknown: Set<UUID> { Set(albums.filter(\.isUnknown).map(\.id)) }
    private var living: [Album] { albums.filter { !$0.isDeleted && !$0.isUnknown } }

    // MARK: - The running kernel

    func compareRunning(_ control: Kernel) async throws {
        try await awaitRest(control)
        compareLibrary(control, "the region")
        for worker in workers { try compareMirror(worker.client, control) }
        // Whatever the workers have opened last, it must be as it is stored.
        let state = try value(SlideshowState.self, "SlideshowState", control)
        if let open = state.slideshow, !unknown.contains(open.id) {
            compare(open, "the open slideshow")
        }
        for album in living.prefix(3) {
            _ = try await control.call(CircuitPort.openSlideshow, SlideshowID(id: album.id))
            let state = try value(SlideshowState.self, "SlideshowState", control)
            guard let open = state.slideshow else {
                ledger.note(.diverged, "\(album.show.name) was opened and is not open")
                continue
            }
            compare(open, "the opened slideshow")
        }
        compareErrors(control)
    }

    /// Every flow must come to its end without a further word.
    private func awaitRest(_ control: Kernel) async throws {
        let begun = Entry.now
        func load(_ member: String) -> Int64? {
            control.value(of: "Kernel.Load")?.value[member]?.int
        }
        let first = control.value(of: "Kernel.Load")?.value["at"]
        while control.value(of: "Kernel.Load")?.value["at"] == first || load("flows") != 0 {
            guard Entry.now < begun + 30 else {
                ledger.note(.lost, "\(load("flows") ?? -1) flows have no end 30 s later")
                break
            }
            try await Program.pause(milliseconds: 20)
        }
        ledger.replays = load("replays") ?? -1
        if let waiting = load("waiting"), waiting != 0 {
            ledger.note(.lost, "\(waiting) visits wait although no flow is there")
        }
    }

    /// Clients that have followed from the beginning hold what the kernel holds.
    private func compareMirror(_ client: Kernel, _ control: Kernel) throws {
        let own = client.value(of: "LibraryState")
        let other = control.value(of: "LibraryState")
        guard own?.value == other?.value, own?.revision == other?.revision else {
            return ledger.note(.diverged, "two clients hold different lists")
        }
    }

    private func compareLibrary(_ control: Kernel, _ whose: String) {
        guard let library = try? value(LibraryState.self, "LibraryState", control) else {
            return ledger.note(.diverged, "\(whose) is no library")
        }
        let unknown = unknown
        let found = library.slideshows.filter { !unknown.contains($0.id) }
        let wanted = living.map(\.show.summary).sorted { first, second in
            if first.createdAt != second.createdAt { return first.createdAt < second.createdAt }
            if first.name != second.name { return first.name < second.name }
            return first.id.uuidString < second.id.uuidString
        }
        if library.isLoading { ledger.note(.diverged, "\(whose) is loading for ever") }
        guard found != wanted else { return }
        let shown = Dictionary(found.map { ($0.id, $0) }) { $1 }
        let made = Dictionary(wanted.map { ($0.id, $0) }) { $1 }
        let others = Set(shown.keys).union(made.keys).filter { shown[$0] != made[$0] }
        if others.isEmpty { ledger.note(.diverged, "\(whose) is in another order") }
        for id in others {
            ledger.note(
                .diverged, "\(whose) has \(text(shown[id])) and should have \(text(made[id]))")
        }
    }

    /// `Kernel.Errors` tells of what nobody waited for, each once.
    private func compareErrors(_ control: Kernel) {
        let strangers = Set(
            workers.flatMap(\.strangers).map { $0.uuidString.lowercased() })
        var told: [String: Int] = [:]
        for entry in control.value(of: "Kernel.Errors")?.value.array ?? [] {
            let message = entry["message"]?.text ?? ""
            if let id = strangers.first(where: message.contains) {
                told[id, default: 0] += 1
            } else if entry["symbol"]?.text?.contains(".") == true {
                ledger.note(.diverged, "Kernel.Errors has \(entry.json())")
            }
        }
        for (id, count) in told where count > 1 {
            ledger.note(.doubled, "the error of \(id) was told \(count) times", count: count - 1)
        }
    }

    // MARK: - The files

    func compareStored() throws {
        let stored = try file.slideshows()
        let unknown = unknown
        for album in living { compare(stored[album.id], album, "the store") }
        let wanted = Set(living.map(\.id))
        for (id, show) in stored where !wanted.contains(id) && !unknown.contains(id) {
            ledger.note(.diverged, "the store has \(show.name), which should not be there")
        }
        try compareWrites()
        compareMail()
        compareKept()
    }

    private func compareWrites() throws {
        let written = try file.writes()
        let known = Dictionary(albums.map { ($0.id, $0) }) { $1 }
        for (id, writes) in written where known[id] == nil {
            ledger.note(.doubled, "nobody asked for \(writes)", count: writes.count)
        }
        for album in albums where !album.isUnknown {
            let made = written[album.id] ?? []
            guard made != album.writes else { continue }
            let difference = made.count - album.writes.count
            ledger.note(
                difference < 0 ? .lost : difference > 0 ? .doubled : .diverged,
                "\(album.show.name) was written \(made), which should be \(album.writes)",
                count: max(1, abs(difference)))
        }
    }

    private func compareMail() {
        var count: [Substring: Int] = [:]
        for line in Files.text("\(instance.data)/mail").split(separator: "\n") {
            count[line, default: 0] += 1
        }
        for (text, isDone) in workers.flatMap(\.mail) {
            let times = count.removeValue(forKey: Substring(text)) ?? 0
            if times > 1 { ledger.note(.doubled, "\(text) \(times) times", count: times - 1) }
            if times == 0, isDone { ledger.note(.lost, "\(text) was told to be done") }
        }
        for text in count.keys { ledger.note(.doubled, "'\(text)': nobody sent this") }
    }

    private func compareKept() {
        let folder = "\(instance.data)/kept"
        var count: [String: Int] = [:]
        for name in Files.names(in: folder) where !name.hasPrefix(".") {
            let text = Files.text("\(folder)/\(name)")
            count[String(text.prefix { $0 != "\n" }), default: 0] += 1
        }
        for text in workers.flatMap(\.kept) {
            let times = count[text] ?? 0
            if times > 1 { ledger.note(.doubled, "\(text) \(times) times", count: times - 1) }
            if times == 0 { ledger.note(.lost, "\(text) is not there") }
        }
    }

    // MARK: - A fresh kernel

    func compareFresh(_ control: Kernel) async throws {
        let deadline = Entry.now + 20
        // The circuit reads the library when it is ready, which is a change of its region.
        while control.value(of: "LibraryState")?.revision.counter ?? 0 == 0
            || control.value(of: "LibraryState")?.value["isLoading"]?.bool != false
        {
            guard Entry.now < deadline else { throw Failure("a fresh kernel reads no library") }
            try await Program.pause(milliseconds: 5)
        }
        compareLibrary(control, "the region of a fresh kernel")
        for album in living {
            let stored = try await control.call(
                InfrastructurePort.fetchSlideshow, SlideshowID(id: album.id))
            compare(stored, album, "a fresh kernel")
        }
    }

    /// Every device has the folder of the data in its environment.
    func lookForLeftovers() {
        let files = Files.output(of: "grep -l -a -s -F '\(instance.data)' /proc/[0-9]*/environ")
        let left = files.split(separator: "\n").compactMap { Int32($0.split(separator: "/")[1]) }
            .filter(Files.isAlive)
        if !left.isEmpty { ledger.note(.lost, "processes are left: \(left)") }
    }

    // MARK: - Comparing

    private func compare(_ show: Slideshow, _ whose: String) {
        guard let album = albums.first(where: { $0.id == show.id }), !album.isDeleted else {
            return ledger.note(.diverged, "\(whose) is \(show.name), which was deleted")
        }
        compare(show, album, whose)
    }

    private func compare(_ show: Slideshow?, _ album: Album, _ whose: String) {
        guard !album.isUnknown, show.map(album.learn) != true else { return }
        ledger.note(
            .diverged,
            "\(whose) has \(show.map { "\($0)" } ?? "nothing") and should have \(album.show)")
    }

    private func value<T: Decodable>(
        _ type: T.Type, _ region: String, _ kernel: Kernel
    ) throws -> T {
        guard let value = kernel.value(of: region)?.value else { throw Failure("no \(region)") }
        return try ValueDecoder().decode(type, from: value)
    }

    private func text(_ summary: SlideshowSummary?) -> String {
        summary.map { "\($0)" } ?? "nothing"
    }
}
