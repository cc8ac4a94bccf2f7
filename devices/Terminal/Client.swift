import Contract
import Control
import DeviceKit
import FoundationEssentials
import Glibc
import Presentation

/// The terminal client: what comes from the keyboard and from the kernel meets in the model, and
/// the model's picture goes to the screen. It holds no state of the application.
@LoopActor
final class Client {
    private let instance: String
    private let io: TerminalIO
    private var model: Model
    private var parser = KeyParser()
    private var input: DescriptorWatch?
    private var signals: DescriptorWatch?
    private var kernel: Kernel?
    /// The last connection on which all was followed: the next one goes on from it.
    private var followed: Kernel?
    /// The number of the start of the kernel that was connected last.
    private var epoch: UInt64?
    /// The last connection that was made.
    private var latest: Kernel?
    /// What the regions said last, by the region.
    private var news: [String: Event] = [:]
    private var lastCommand: UInt64 = 0
    private var inFlight: Set<UInt64> = []
    private var countsSeconds = false
    /// The kernel was asked whether it is there.
    private var isAsked = false
    /// Seconds since then.
    private var unanswered = 0
    /// Seconds for which something is on its way before that.
    private static let patience = 3
    /// Seconds without an answer, after which it is said to be silent.
    private static let silence = 2
    /// Counts the bytes that came, so that a flush knows whether more came since.
    private var arrivals: UInt64 = 0
    private var end: UnsafeContinuation<Int32, Never>?

    /// Takes the terminal.
    /// - Throws: `TerminalError` when standard input or output is none.
    init(instance: String) throws {
        self.instance = instance
        let color = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
        io = try TerminalIO(usesColor: color)
        var now = time(nil)
        var local = tm()
        localtime_r(&now, &local)
        model = Model(
            size: io.size,
            settings: Model.Settings(
                home: getenv("HOME").map { String(cString: $0) }, utcOffset: local.tm_gmtoff))
    }

    /// Shows the screen until the user quits; returns the exit code.
    func run() async throws -> Int32 {
        try io.enter()
        input = DescriptorWatch(
            io.descriptor, onReadable: { [unowned self] in readKeys() },
            onWritable: { [unowned self] in write() })
        signals = DescriptorWatch(io.signals, onReadable: { [unowned self] in readSignals() })
        Program.atEndOfTurn { [unowned self] in show() }
        Program.spawn { [unowned self] in await stayConnected() }
        let code = await withUnsafeContinuation { end = $0 }
        io.close()
        return code
    }

    private func quit(_ code: Int32) {
        end?.resume(returning: code)
        end = nil
    }

    // MARK: - The screen

    private func show() {
        guard end != nil else { return }
        if case .broken = io.present(model.render()) { return quit(74) }
        input?.wantsToWrite = io.wantsToWrite
    }

    private func write() {
        if case .broken = io.flush() { return quit(74) }
        input?.wantsToWrite = io.wantsToWrite
    }

    private func readKeys() {
        switch io.read() {
        case .bytes(let bytes):
            arrivals += 1
            handle(parser.feed(bytes))
            flushLater()
        case .nothing: break
        case .ended: quit(0)
        }
    }

    /// What may be the beginning of a sequence becomes a key when nothing follows in time.
    private func flushLater() {
        guard let patience = parser.patience else { return }
        let mark = arrivals
        Program.spawn { [weak self] in
            try? await Program.pause(milliseconds: UInt64(max(1, patience)))
            guard let self, self.arrivals == mark else { return }
            self.handle(self.parser.flush())
        }
    }

    private func readSignals() {
        for signal in io.takeSignals() {
            do {
                switch signal {
                case .resized: break
                case .suspend: try io.suspend()
                case .continued: try io.resume()
                }
            } catch {
                return quit(74)
            }
            apply(.resize(io.size))
        }
    }

    private func handle(_ keys: [Key]) {
        for key in keys {
            for intent in model.handle(key) { carryOut(intent) }
        }
    }

    private func apply(_ event: Event) {
        for intent in model.apply(event) { carryOut(intent) }
    }

    // MARK: - The kernel

    /// Connects, and connects again whenever the kernel has gone and come back.
    private func stayConnected() async {
        while true {
            var connected: Kernel?
            do {
                let kernel = try await Kernel.connect(
                    instance: instance, client: "terminal", resuming: followed)
                connected = kernel
                latest = kernel
                if followed == nil { try await follow(kernel) } else { retell() }
                followed = kernel
                self.kernel = kernel
                kernel.onPresent = { [unowned self] in apply(.present) }
                if let epoch, epoch != kernel.epoch { apply(.kernelIsNew) }
                epoch = kernel.epoch
                apply(.connection(.connected))
                let error = await ended(kernel)
                self.kernel = nil
                failCommands(error)
                apply(.connection(.away(error.message)))
            } catch let error as KernelError where error.code == .unsupported {
                return apply(.connection(.refused(error.message)))
            } catch {
                apply(.connection(.away(KernelError(error).message)))
            }
            connected?.close()
            try? await Program.pause(milliseconds: 200)
        }
    }

    private func ended(_ kernel: Kernel) async -> KernelError {
        await withUnsafeContinuation { continuation in
            kernel.onEnd = { continuation.resume(returning: $0) }
        }
    }

    /// Follows what is shown. The next connection takes it over, and is sent what has changed.
    private func follow(_ kernel: Kernel) async throws {
        try await kernel.follow("Kernel.Devices") { [unowned self] _ in
            let rows = latest?.value(of: "Kernel.Devices")?.value
            hear("Kernel.Devices", .devices(Rows.devices(rows)))
        }
        try await kernel.follow("Kernel.Errors") { [unowned self] _ in
            let rows = latest?.value(of: "Kernel.Errors")?.value
            hear("Kernel.Errors", .errors(Rows.errors(rows)))
        }
        try await kernel.observe(LibraryState.self) { [unowned self] result in
            guard case .success(let state) = result else { return }
            hear(
                LibraryState.region, .library(state.slideshows, isLoading: state.isLoading))
        }
        try await kernel.observe(SlideshowState.self) { [unowned self] result in
            guard case .success(let state) = result else { return }
            hear(SlideshowState.region, .slideshow(state.slideshow))
        }
    }

    private func hear(_ region: String, _ event: Event) {
        news[region] = event
        apply(event)
    }

    /// While the kernel was away the model has put aside what it knew; what has not changed since
    /// is not sent again.
    private func retell() {
        for (_, event) in news.sorted(by: { $0.key < $1.key }) { apply(event) }
    }

    // MARK: - Commands

    private func carryOut(_ intent: Intent) {
        switch intent {
        case .quit: quit(0)
        case .redraw: io.redraw()
        case .suspend:
            do {
                try io.suspend()
                apply(.resize(io.size))
            } catch {
                quit(74)
            }
        default: send(intent)
        }
    }

    private func send(_ intent: Intent) {
        lastCommand += 1
        let id = lastCommand
        inFlight.insert(id)
        var creates: UUID?
        if case .create = intent { creates = Rows.randomUUID() }
        // It fails, if it does, when this client does not wait any more: the error has its key.
        let key = Commands.isDispatched(intent) ? Rows.randomUUID().uuidString : nil
        apply(.commandStarted(id: id, intent, creates: creates, key: key))
        countSeconds()
        Program.spawn { [unowned self, creates] in
            do {
                guard let kernel else {
                    throw KernelError(.kernelLost, "the kernel is away", retry: true)
                }
                if let event = try await Commands.travel(intent, kernel) {
                    apply(event)
                } else {
                    try await Commands.perform(intent, creates, key, kernel)
                }
                finish(id, nil)
            } catch {
                finish(id, KernelError(error))
            }
        }
    }

    /// As long as something is on its way, or may be.
    private func countSeconds() {
        guard !countsSeconds else { return }
        countsSeconds = true
        Program.spawn { [unowned self] in
            var seconds = 0
            while model.countsSeconds {
                try? await Program.pause(milliseconds: 1_000)
                seconds = inFlight.isEmpty ? 0 : seconds + 1
                apply(.second)
                if seconds >= Self.patience { listen() }
            }
            countsSeconds = false
        }
    }

    /// What a device is asked for may take its time, but the kernel itself answers at once. It is
    /// asked for next to nothing, and said to be silent when some seconds have passed without an
    /// answer.
    private func listen() {
        guard let kernel else { return }
        guard !isAsked else {
            unanswered += 1
            if unanswered >= Self.silence { apply(.silence(true)) }
            return
        }
        isAsked = true
        unanswered = 0
        Program.spawn { [unowned self] in
            _ = try? await kernel.call("Kernel.Trace.read", .null)
            isAsked = false
            apply(.silence(false))
        }
    }

    private func finish(_ id: UInt64, _ error: KernelError?) {
        guard inFlight.remove(id) != nil else { return }
        apply(
            .commandFinished(
                id: id, error.map { ErrorNotice(code: $0.code.rawValue, message: $0.message) }))
    }

    private func failCommands(_ error: KernelError) {
        for id in inFlight.sorted() { finish(id, error) }
    }
}
