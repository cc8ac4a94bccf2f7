import Contract
import Control
import DeviceKit
import FoundationEssentials
import Presentation

/// What each intent asks of the kernel.
///
/// What reads many files is dispatched: it goes on when this client ends. The rest is called, so
/// that its failure is shown where it was asked for.
@LoopActor
enum Commands {
    /// Whether nobody waits for its end.
    static func isDispatched(_ intent: Intent) -> Bool {
        switch intent {
        case .create, .addPhotos: true
        default: false
        }
    }

    /// - Parameters:
    ///   - creates: the id of a slideshow that is made.
    ///   - key: of what is dispatched.
    static func perform(
        _ intent: Intent, _ creates: UUID?, _ key: String?, _ kernel: Kernel
    ) async throws {
        switch intent {
        case .create(let name, let folder):
            guard let creates else { return }
            let command = CreateSlideshow(id: creates, name: name, photos: [folder])
            try await kernel.dispatch(CircuitPort.createSlideshow, command, key: key)
        case .addPhotos(let id, let path):
            let command = AddPhotos(id: id, photos: [path])
            try await kernel.dispatch(CircuitPort.addPhotos, command, key: key)
        case .rename(let id, let name):
            let update = UpdateSlideshow(id: id, name: name)
            _ = try await kernel.call(CircuitPort.updateSlideshow, update)
        case .delete(let id):
            _ = try await kernel.call(CircuitPort.deleteSlideshow, SlideshowID(id: id))
        case .open(let id):
            _ = try await kernel.call(CircuitPort.openSlideshow, SlideshowID(id: id))
        case .close: try await kernel.call(CircuitPort.closeSlideshow, ())
        case .setDuration(let id, let duration):
            try await configure(UpdateConfig(id: id, duration: duration), kernel)
        case .setTransition(let id, let transition):
            try await configure(UpdateConfig(id: id, transition: transition), kernel)
        case .setLoop(let id, let loop):
            try await configure(UpdateConfig(id: id, loop: loop), kernel)
        case .refresh: _ = try await kernel.call(CircuitPort.fetchAll, ())
        case .dismissError: _ = try await kernel.call("Kernel.Errors.dismiss", .null)
        case .restart(let device):
            _ = try await kernel.call("Kernel.Device.restart", .map(["device": .text(device)]))
        case .travel, .present, .quit, .redraw, .suspend: break
        }
    }

    /// Goes to the past and back.
    /// - Returns: where the client is then; nil when the intent asks for something else.
    static func travel(_ intent: Intent, _ kernel: Kernel) async throws -> Event? {
        switch intent {
        case .travel(let steps):
            let place = try await kernel.preview(steps: steps)
            return .travelled(
                Travel.Moment(
                    revision: place.revision.counter,
                    at: place.change.map {
                        Date(timeIntervalSince1970: Double($0.at) / 1_000)
                    }, symbol: place.change?.symbol, device: place.change?.device,
                    isOldest: place.isOldest, isLatest: place.isLatest))
        case .present:
            try await kernel.leavePreview()
            return .present
        default: return nil
        }
    }

    private static func configure(_ update: UpdateConfig, _ kernel: Kernel) async throws {
        _ = try await kernel.call(CircuitPort.updateConfig, update)
    }
}

/// The kernel's own regions as the model takes them.
enum Rows {
    static func devices(_ value: Value?) -> [DeviceStatus] {
        (value?.array ?? []).map { row in
            DeviceStatus(
                name: row["name"]?.text ?? "?",
                state: DeviceStatus.State(row["state"]?.text ?? "?"),
                pid: row["pid"]?.int.map { Int(clamping: $0) },
                incarnation: Int(clamping: row["incarnation"]?.int ?? 0),
                restarts: Int(clamping: row["restarts"]?.int ?? 0),
                lastExit: row["lastExit"]?.text.flatMap { $0.isEmpty ? nil : $0 })
        }
    }

    static func errors(_ value: Value?) -> [ErrorNotice] {
        (value?.array ?? []).map { row in
            ErrorNotice(
                code: row["code"]?.text ?? "?", message: row["message"]?.text ?? "",
                symbol: row["symbol"]?.text, flow: row["flow"]?.text, key: row["key"]?.text)
        }
    }

    /// A random UUID of the system's generator, which never repeats itself silently.
    static func randomUUID() -> UUID {
        var generator = SystemRandomNumberGenerator()
        var bytes = (generator.next(), generator.next()) as (UInt64, UInt64)
        return withUnsafeMutableBytes(of: &bytes) { raw in
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            return UUID(uuid: raw.load(as: uuid_t.self))
        }
    }
}
