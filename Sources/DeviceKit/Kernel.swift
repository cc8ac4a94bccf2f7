public import Control
public import UnixSocket
public import Values
internal import Wire

/// A client's connection to a kernel: what the shell and a presentation hold.
///
/// It lives on the process's loop until it is closed, held or not. When the kernel goes away every
/// open call fails with `kernelLost`, and `onEnd` is told; connect again to go on.
@LoopActor
public final class Kernel {
    /// The kernel's start; larger for a later one.
    public private(set) var epoch: UInt64 = 0
    /// The kernel's process.
    public private(set) var pid: Int32 = 0
    /// Told once, when the connection has ended otherwise than by `close`.
    public var onEnd: (@LoopActor (KernelError) -> Void)? {
        didSet { if let ended, let onEnd { onEnd(ended) } }
    }

    /// Where this client looks at the past; nil in the present.
    public internal(set) var preview: Preview?
    /// Told when the kernel has ended a preview that was not left: this client was too slow for it.
    public var onPresent: (@LoopActor () -> Void)?
    /// Ways into the past and back that are not answered yet.
    var journeys = 0

    private var ended: KernelError?

    private(set) var link: Link?
    /// Whether this client has ended it.
    private(set) var isClosed = false
    /// How it was reached, for who must reach it again.
    private(set) var origin = (instance: "", client: "")
    /// Reads of channels that wait for their answers, by the number of each.
    var reads: [UInt64: ChannelFeed] = [:]
    var calls = PendingCalls()
    /// A timer runs for those who wait.
    private var isImpatient = false
    let mirror: Mirror
    private var greeting: UnsafeContinuation<Void, any Error>?
    private var patience: Timer?
    /// What the kernel has said so far.
    private var heard = 0
    /// What the kernel grants.
    private var openCalls = 1_024
    private var openBytes = 64 << 20
    /// Calls that wait until fewer are open.
    private var queued = Queue<UnsafeContinuation<Void, Never>>()
    let coding = CBORCoding()

    private init(_ mirror: Mirror) {
        self.mirror = mirror
    }

    /// Connects to the kernel of an instance.
    ///
    /// - Parameters:
    ///   - instance: the name that `concentric up --name` was given.
    ///   - client: what this client calls itself, for people.
    ///   - previous: an earlier connection, whose regions and observers this one takes over: the
    ///     kernel sends what has changed since.
    ///   - patience: milliseconds in which this process runs and the kernel says nothing.
    /// - Throws: `KernelError`: `unavailable` when no kernel runs, or why it refused.
    public static func connect(
        instance: String, client: String, resuming previous: Kernel? = nil,
        patience milliseconds: UInt64 = 5_000
    ) async throws(KernelError) -> Kernel {
        previous?.close()
        let socket: OwnedDescriptor
        do throws(SocketError) {
            socket = try UnixSocket.connect(path: try SocketPath(name: instance))
        } catch {
            throw KernelError(reaching: instance, error)
        }
        return try await greet(
            socket, instance, client, previous?.mirror ?? Mirror(onlyObserved: true), milliseconds)
    }

    /// Says hello on a connected socket.
    static func greet(
        _ socket: consuming OwnedDescriptor, _ instance: String, _ client: String,
        _ mirror: Mirror, _ milliseconds: UInt64
    ) async throws(KernelError) -> Kernel {
        let kernel = Kernel(mirror)
        kernel.origin = (instance, client)
        kernel.link = Link(socket, delegate: kernel)
        kernel.awaitWord(instance, steps: 5, of: milliseconds / 5)
        defer { kernel.patience?.cancel() }
        do {
            try await withUnsafeThrowingContinuation { continuation in
                kernel.greeting = continuation
                kernel.link?.send { $0.hello(Hello(name: client, bindings: nil)) }
            }
            try await kernel.resume()
        } catch {
            kernel.close()
            throw KernelError(error)
        }
        return kernel
    }

    /// Waits for the greeting, and for all that is followed, in steps of milliseconds in which
    /// nothing comes. A time in which this process was stopped, or the machine slept, is one of
    /// them at most: what came meanwhile is still to be read.
    private func awaitWord(_ instance: String, steps: Int, of milliseconds: UInt64) {
        let next = EventLoop.shared.time(in: milliseconds)
        let before = heard
        // Who connects holds it until the timer is cancelled. A weak reference, once made, would
        // slow every later use of the connection down.
        patience = EventLoop.shared.schedule(at: next) { [unowned self] in
            // Who was greeted, and has not come to its next question yet, waits for nothing.
            let waits = greeting != nil || calls.count > 0
            let left = waits && heard == before ? steps - 1 : 5
            guard left == 0 else { return awaitWord(instance, steps: left, of: milliseconds) }
            refuse(
                KernelError(
                    .unavailable, "the kernel \(instance) does not answer: is it stopped?",
                    outcome: .none, retry: true))
        }
    }

    /// Ends the connection; open calls fail.
    public func close() {
        isClosed = true
        link?.close()
        link = nil
        failAll(KernelError(.kernelLost, "this client closed the connection"))
    }

    // MARK: - Calls

    /// Calls a symbol and waits for its output.
    ///
    /// - Parameters:
    ///   - deadline: in milliseconds; 0 for the symbol's own.
    ///   - key: the caller's own key: a repeat with the same key has its effects once.
    /// - Throws: `KernelError`.
    @inline(__always)
    public func call<P, O>(
        _ symbol: Symbol<P, O>, _ payload: sending P, deadline: UInt32 = 0, key: String? = nil
    ) async throws -> O {
        let bytes = try symbol.payload.encode(payload, coding)
        let output = try await exchange(symbol.name, bytes, deadline, key)
        return try symbol.output.decode(output: output, of: symbol.name, coding)
    }

    /// Calls a symbol by its name, with a value that has no type.
    /// - Throws: `KernelError`.
    public func call(
        _ symbol: String, _ payload: Value, deadline: UInt32 = 0, key: String? = nil
    ) async throws -> Value {
        let output = try await exchange(symbol, encode(payload), deadline, key)
        do {
            return try output.withUnsafeBytes { raw in
                var reader = CBORReader(raw)
                return try reader.value()
            }
        } catch {
            throw KernelError(.malformed, "the output of \(symbol): \(error)")
        }
    }

    /// Sends a command into its lane; returns when the kernel has accepted it.
    /// - Throws: `KernelError`; how the command ends is told in `Kernel.Errors`.
    public func dispatch<P, O>(
        _ symbol: Symbol<P, O>, _ payload: sending P, key: String? = nil
    ) async throws {
        try await send(symbol.name, try symbol.payload.encode(payload, coding), key)
    }

    /// Sends a command by its name.
    public func dispatch(_ symbol: String, _ payload: Value, key: String? = nil) async throws {
        try await send(symbol, encode(payload), key)
    }

    func encode(_ value: Value) -> [UInt8] {
        let writer = CBORWriter()
        writer.value(value)
        return writer.bytes
    }

    // Wherever two ways meet of which one has waited, and at both ends of an asynchronous function,
    // the runtime looks which executor goes on. That is most of what a call costs here, so what is
    // done for each stands in one function without such places.
    @inline(__always)
    private func exchange(
        _ symbol: String, _ payload: [UInt8], _ deadline: UInt32, _ key: String?
    ) async throws -> [UInt8] {
        try FrameRoom.check(payload, for: symbol, key: key)
        guard hasRoom(for: payload.count) else {
            return try await exchangeLater(symbol, payload, deadline, key)
        }
        return try await ask(payload.count) { id, link in
            link.call(id, symbol, deadline, key, payload)
        }
    }

    private func exchangeLater(
        _ symbol: String, _ payload: [UInt8], _ deadline: UInt32, _ key: String?
    ) async throws -> [UInt8] {
        try await room(for: payload.count)
        return try await ask(payload.count) { id, link in
            link.call(id, symbol, deadline, key, payload)
        }
    }

    private func send(_ symbol: String, _ payload: [UInt8], _ key: String?) async throws {
        try FrameRoom.check(payload, for: symbol, key: key)
        try await room()
        _ = try await ask { id, link in
            let number = link.number(of: symbol)
            link.send { $0.dispatch(id: id, symbol: number, key: key, payload) }
        }
    }

    /// Whether one more call may be open. A payload that is larger than what the kernel grants is
    /// for it to refuse.
    @inline(__always)
    private func hasRoom(for size: Int) -> Bool {
        calls.count < openCalls && (calls.bytes + size <= openBytes || calls.bytes == 0)
    }

    /// Waits until one more call may be open.
    /// - Throws: `CancellationError`; the room is for the next one then.
    func room(for size: Int = 0) async throws {
        while !hasRoom(for: size), link != nil {
            await withUnsafeContinuation { queued.append($0) }
            guard !Task.isCancelled else {
                admit()
                throw CancellationError()
            }
        }
    }

    /// Most calls are answered before anybody could want to cancel them, and to be ready for that
    /// costs as much as the call: only who has waited for a while is.
    @inline(__always)
    func ask(_ size: Int = 0, _ write: (UInt64, Link) -> Void) async throws -> [UInt8] {
        try Task.checkCancellation()
        var number: UInt64 = 0
        let early = try await withUnsafeThrowingContinuation { (waiter: Waiter) in
            guard let link, link.isOpen else {
                return waiter.resume(
                    throwing: KernelError(
                        .kernelLost, "the kernel is away", outcome: .none, retry: true))
            }
            number = calls.add(waiter, of: size, since: EventLoop.shared.now)
            write(number, link)
            if !isImpatient { awaitImpatience() }
        }
        if let early { return early }
        return try await waitOn(number)
    }

    /// Nanoseconds after which a call can be cancelled.
    private static let impatience: UInt64 = 5_000_000

    private func awaitImpatience() {
        isImpatient = true
        EventLoop.shared.schedule(at: EventLoop.shared.now &+ Self.impatience) { [self] in
            isImpatient = false
            let (waiters, areMore) = calls.impatient(since: EventLoop.shared.now - Self.impatience)
            for waiter in waiters { waiter.resume(returning: nil) }
            if areMore { awaitImpatience() }
        }
    }

    private func waitOn(_ number: UInt64) async throws -> [UInt8] {
        let output = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (waiter: Waiter) in
                guard let answer = calls.wait(number, waiter) else { return }
                admit()
                PendingCalls.resume(waiter, answer)
            }
        } onCancel: {
            Task(executorPreference: LoopActor.executor) { @LoopActor [self] in cancel(number) }
        }
        return output ?? []
    }

    /// The task that waits for a call was cancelled.
    private func cancel(_ number: UInt64) {
        let waiter = calls.take(number)
        guard waiter != nil || calls.keep(number, .failure(CancellationError())) else { return }
        link?.send { $0.cancel(id: number) }
        waiter?.resume(throwing: CancellationError())
        admit()
    }
}

extension Kernel: LinkDelegate {
    func link(_ link: Link, brought body: UnsafeRawBufferPointer) -> Bool {
        guard let reply = KernelMessage.plainReply(body) else { return false }
        settle(reply.number, .success([UInt8](reply.bytes)))
        return true
    }

    func link(_ link: Link, said message: KernelMessage) {
        heard &+= 1
        switch message {
        case .reply(let id, let reply): finish(id, reply)
        case .accepted(let id): settle(id, .success([]))
        case .welcome(let welcome):
            epoch = welcome.epoch
            pid = Int32(clamping: welcome.pid)
            openCalls = Int(clamping: welcome.openCalls)
            openBytes = Int(clamping: welcome.openBytes)
            greeting?.resume()
            greeting = nil
        case .refused(let code, let message):
            refuse(KernelError(KernelError.Code(rawValue: code), message, outcome: .none))
        case .snapshot(let part):
            judge(part.region, at: part.counter)
            keep(message, link)
        case .patch(_, let counter, let changes):
            if let region = changes.first?.region { judge(region, at: counter) }
            keep(message, link)
        case .together, .digest: keep(message, link)
        case .ping(let number): link.send { $0.pong(number) }
        case .pong, .visit, .visitClosure, .cancelVisit, .answer, .drain, .piece: break
        }
    }

    func link(_ link: Link, ended error: KernelError) {
        self.link = nil
        greeting?.resume(throwing: error)
        greeting = nil
        preview = nil
        failAll(error)
        ended = error
        onEnd?(error)
    }

    private func finish(_ id: UInt64, _ reply: KernelMessage.Reply) {
        if !reads.isEmpty, let feed = reads.removeValue(forKey: id) {
            calls.release(id)
            feed.take(reply)
            return admit()
        }
        switch reply {
        case .output(let bytes): settle(id, .success([UInt8](bytes)))
        case .failure(let error): settle(id, .failure(error))
        case .published(let sequence):
            settle(id, .success(withUnsafeBytes(of: sequence.bigEndian) { Array($0) }))
        case .committed, .repeated, .conflict, .events, .gap: settle(id, .success([]))
        }
    }

    @inline(__always)
    private func settle(_ id: UInt64, _ answer: Result<[UInt8], any Error>) {
        guard let waiter = calls.take(id) else {
            calls.keep(id, answer)
            return
        }
        PendingCalls.resume(waiter, answer)
        admit()
    }

    /// A call has ended: one that waited may be sent.
    func admit() {
        queued.removeFirst()?.resume()
    }

    private func refuse(_ error: KernelError) {
        greeting?.resume(throwing: error)
        greeting = nil
        failAll(error)
    }

    private func keep(_ message: KernelMessage, _ link: Link) {
        do {
            guard let mismatch = try mirror.take(message) else { return }
            link.send { $0.mismatch(mismatch) }
        } catch {
            link.close()
            self.link(
                link,
                ended: KernelError(.malformed, "the kernel's change does not apply: \(error)"))
        }
    }

    private func failAll(_ error: KernelError) {
        mirror.interrupt(error)
        let feeds = reads
        reads = [:]
        for (id, feed) in feeds {
            calls.release(id)
            feed.lost(error)
        }
        for waiter in calls.takeAll(error) { waiter.resume(throwing: error) }
        while let waiter = queued.removeFirst() { waiter.resume() }
    }
}
