import Contract
import DeviceKit
import FoundationEssentials

/// The commands that should succeed, each with what it should make.
extension Worker {
    func create() async {
        let id = newID()
        let name = unique("Album")
        let photos = instance.photos.randomElement(using: &random) ?? []
        let paths =
            random.chance(500)
            ? photos.shuffled(using: &random)
            : photos.first.map { [Files.parent(of: $0)] } ?? []
        var config = Config()
        if random.chance(500) { config = randomConfig() }
        let request = CreateSlideshow(
            id: id, name: name, photos: paths, duration: config.duration,
            transition: config.transition, loop: config.loop)
        await attempt("create \(name)", nil) {
            let said = try await send(
                CircuitPort.createSlideshow, request, way(mayDispatch: true),
                isSeen: { self.entry(id) != nil })
            guard let summary = said ?? entry(id) else { throw Failure("it is not in the list") }
            let made = Album.made(id, name, photos, config, at: summary.createdAt)
            albums.append(Album(made))
            try check(summary, made.summary)
        }
    }

    func update(_ album: Album) async {
        let show = album.show
        var update = UpdateSlideshow(id: show.id)
        let slides = show.slides.map(\.id)
        switch random.next() % 5 {
        case 0 where slides.count > 1:
            update.remove = slides.randomElement(using: &random).map { [$0] }
        case 1 where slides.count > 1: update.order = slides.shuffled(using: &random)
        case 2 where !slides.isEmpty:
            update.titles = slides.prefix(2).map {
                SlideTitle(slide: $0, title: unique("Title"))
            }
        default: update.name = unique("Album")
        }
        await change(album, CircuitPort.updateSlideshow, update, Expected.update(show, update))
    }

    func configure(_ album: Album) async {
        let config = randomConfig()
        let update = UpdateConfig(
            id: album.id, duration: config.duration, transition: config.transition,
            loop: config.loop)
        await change(
            album, CircuitPort.updateConfig, update, Expected.configure(album.show, config))
    }

    func addPhotos(_ album: Album) async {
        let photos = Array(
            (instance.photos.randomElement(using: &random) ?? []).shuffled().prefix(3))
        var next = album.show
        Album.append(photos, to: &next)
        await change(
            album, CircuitPort.addPhotos, AddPhotos(id: album.id, photos: photos), next)
    }

    private func change<P: Sendable>(
        _ album: Album, _ symbol: Symbol<P, SlideshowSummary>, _ payload: P, _ changed: Slideshow
    ) async {
        var next = changed
        if next != album.show { next.version += 1 }
        let stored = next
        let summary = stored.summary
        await attempt("\(symbol.name) \(album.show.name)", album) {
            let way = way(mayDispatch: summary != album.show.summary)
            let said = try await send(
                symbol, payload, way, isSeen: { self.entry(album.id) == summary })
            album.become(stored)
            try check(said ?? summary, summary)
            // The change of a flow is seen before its reply.
            if said != nil { try checkSeen(summary) }
        }
    }

    private func checkSeen(_ summary: SlideshowSummary) throws {
        let seen = entry(summary.id)
        guard seen == summary else {
            throw Failure(
                "the reply came before the list showed \(summary), but "
                    + "\(seen.map { "\($0)" } ?? "nothing")")
        }
    }

    func delete(_ album: Album) async {
        await attempt("delete \(album.show.name)", album) {
            let said = try await send(
                CircuitPort.deleteSlideshow, SlideshowID(id: album.id), way(mayDispatch: true),
                isSeen: { self.entry(album.id) == nil })
            album.delete()
            guard said?.id ?? album.id == album.id, entry(album.id) == nil else {
                throw Failure("it is still in the list")
            }
        }
    }

    func read(_ album: Album) async {
        await attempt("read \(album.show.name)", album) {
            let stored = try await client.call(
                InfrastructurePort.fetchSlideshow, SlideshowID(id: album.id))
            guard album.learn(stored) else {
                throw Failure("the store has \(stored), not \(album.show)")
            }
        }
    }

    func open(_ album: Album) async {
        await attempt("open \(album.show.name)", album) {
            let said = try await client.call(
                CircuitPort.openSlideshow, SlideshowID(id: album.id))
            try check(said, album.show.summary)
        }
    }

    func close() async {
        await attempt("close", nil) { try await client.call(CircuitPort.closeSlideshow, ()) }
    }

    func fetchAll() async {
        await attempt("fetchAll", nil) {
            let all = try await client.call(CircuitPort.fetchAll, ())
            for album in living {
                try check(all.first { $0.id == album.id }, album.show.summary)
            }
        }
    }

    func keep() async {
        let text = unique("kept")
        kept.append(text)
        ledger.atPost += 1
        defer { ledger.atPost -= 1 }
        await attempt(text, nil) {
            let said = try await send(Post.keep, text, random.pick([(3, .call), (1, .twins)]))
            guard said == text else { throw Failure("it gave \(said ?? "nothing")") }
        }
    }

    func stumble() async {
        let text = unique("stumble")
        await attempt(text, nil) {
            let said = try await client.call(Post.stumble, text)
            guard said == text else { throw Failure("it gave \(said)") }
        }
    }

    private func randomConfig() -> Config {
        Config(
            duration: Config.Duration.allCases.randomElement(using: &random) ?? .ten,
            transition: Config.Transition.allCases.randomElement(using: &random) ?? .fade,
            loop: random.chance(500))
    }

    private func check(_ said: SlideshowSummary?, _ wanted: SlideshowSummary) throws {
        guard said == wanted else {
            throw Failure("it gave \(said.map { "\($0)" } ?? "nothing"), not \(wanted)")
        }
    }

    /// A command of which every stage may be repeated has no reason to fail.
    private func attempt(
        _ what: String, _ album: Album?, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
        } catch let error as KernelError {
            album?.isUnknown = true
            ledger.note(error.code == .diverged ? .diverged : .lost, "\(what): \(error)")
        } catch {
            album?.isUnknown = true
            ledger.note(.diverged, "\(what): \(error)")
        }
    }
}
