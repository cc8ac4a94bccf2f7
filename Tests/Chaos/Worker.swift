import Contract
import DeviceKit
import FoundationEssentials

/// One who sends a command after the other, about slideshows of its own: so the model is exact,
/// although several of them send through one client and several clients through one kernel.
@LoopActor
final class Worker {
    let number: Int
    let client: Kernel
    let instance: Instance
    let ledger: Ledger
    var random: Random
    var albums: [Album] = []
    /// What was sent to the post, and whether it was told to be done.
    var mail: [(text: String, isDone: Bool)] = []
    var kept: [String] = []
    /// Ids that no slideshow has, named in commands that nobody waited for.
    var strangers: [UUID] = []
    private var counter = 0

    init(
        _ number: Int, _ client: Kernel, _ instance: Instance, _ ledger: Ledger, _ random: Random
    ) {
        self.number = number
        self.client = client
        self.instance = instance
        self.ledger = ledger
        self.random = random
    }

    var living: [Album] { albums.filter { !$0.isDeleted && !$0.isUnknown } }

    /// A text that nobody else uses.
    func unique(_ word: String) -> String {
        counter += 1
        return "\(word) \(number)-\(counter)"
    }

    func newID() -> UUID {
        let a = random.next()
        let b = random.next()
        func byte(_ word: UInt64, _ at: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> at) }
        return UUID(
            uuid: (
                byte(a, 0), byte(a, 8), byte(a, 16), byte(a, 24), byte(a, 32), byte(a, 40),
                byte(a, 48) & 0x0F | 0x40, byte(a, 56), byte(b, 0) & 0x3F | 0x80, byte(b, 8),
                byte(b, 16), byte(b, 24), byte(b, 32), byte(b, 40), byte(b, 48), byte(b, 56)
            ))
    }

    func run() async {
        while await ledger.admit() {
            await step()
            ledger.end()
        }
    }

    private func step() async {
        if let album = living.first(where: \.hasUnknownSlides) { return await read(album) }
        guard let album = living.randomElement(using: &random) else { return await create() }
        let commands: [(Int, () async -> Void)] = [
            (living.count < 4 ? 14 : 0, create),
            (28, { await self.update(album) }),
            (12, { await self.configure(album) }),
            (10, { await self.addPhotos(album) }),
            (5, { await self.delete(album) }),
            (5, { await self.open(album) }),
            (4, { await self.read(album) }),
            (3, close), (9, fetchAll), (7, refused), (7, sendMail), (5, keep), (2, deadly),
        ]
        await random.pick(commands)()
    }

    private func deadly() async {
        if random.chance(500) { await stumble() } else { await poison() }
    }

    // MARK: - Sending

    /// How a command is sent.
    enum Way {
        case call
        /// With a key of the caller's own.
        case keyed
        /// Twice with the same key, the second after the first.
        case again
        /// Twice with the same key at the same time.
        case twins
        /// With a key, from a client that leaves at once; then again with the key.
        case cut
        /// Into its lane; its effect is awaited in the state.
        case dispatch
    }

    func way(mayDispatch: Bool) -> Way {
        random.pick([
            (40, .call), (12, .keyed), (8, .again), (6, .twins), (4, .cut),
            (mayDispatch ? 30 : 0, .dispatch),
        ])
    }

    /// Sends a command in some way.
    /// - Parameter isSeen: whether the library shows what a dispatched command makes.
    /// - Returns: the output; nil when nobody waited for it.
    func send<P: Sendable, O: Sendable & Equatable>(
        _ symbol: Symbol<P, O>, _ payload: P, _ way: Way, isSeen: () -> Bool = { true }
    ) async throws -> O? {
        let key = way == .call || way == .dispatch ? nil : unique("key")
        switch way {
        case .call, .keyed: return try await client.call(symbol, payload, key: key)
        case .again:
            let first = try await client.call(symbol, payload, key: key)
            return try same(first, try await client.call(symbol, payload, key: key), symbol.name)
        case .twins:
            let first = start { [client] in
                try await client.call(symbol, payload, key: key)
            }
            let second = try await client.call(symbol, payload, key: key)
            return try same(try await first.value, second, symbol.name)
        case .cut:
            try await leave(symbol, payload, key)
            return try await client.call(symbol, payload, key: key)
        case .dispatch:
            try await client.dispatch(symbol, payload)
            try await wait(for: symbol.name, isSeen)
            return nil
        }
    }

    private func same<O: Equatable>(_ first: O, _ second: O, _ name: String) throws -> O {
        guard first == second else {
            throw Failure("\(name) gave \(first), and with the same key \(second)")
        }
        return first
    }

    /// A client of its own sends the command and ends its connection.
    private func leave<P: Sendable, O: Sendable>(
        _ symbol: Symbol<P, O>, _ payload: P, _ key: String?
    ) async throws {
        let guest = try await Kernel.connect(instance: "chaos", client: "guest-\(number)")
        let call = start {
            _ = try? await guest.call(symbol, payload, key: key)
        }
        try await Program.pause(milliseconds: UInt64.random(in: 0...15, using: &random))
        guest.close()
        _ = try? await call.value
    }

    func wait(for what: String, _ condition: () -> Bool) async throws {
        let deadline = Entry.now + 70
        while !condition() {
            guard Entry.now < deadline else { throw Failure("\(what): not seen in 70 s") }
            try await Program.pause(milliseconds: 2)
        }
    }

    // MARK: - What is seen

    /// The entry of the library's list as this client knows it.
    func entry(_ id: UUID) -> SlideshowSummary? {
        let list = client.value(of: "LibraryState")?.value["slideshows"]?.array ?? []
        let text = id.uuidString.lowercased()
        let found = list.first { $0["id"]?.uuid?.description.lowercased() == text }
        return found.flatMap { try? ValueDecoder().decode(SlideshowSummary.self, from: $0) }
    }

    /// How often `Kernel.Errors` names an id.
    func errors(of id: UUID) -> Int {
        let text = id.uuidString.lowercased()
        return (client.value(of: "Kernel.Errors")?.value.array ?? []).count {
            $0["message"]?.text?.contains(text) == true
        }
    }
}
