internal import Control
internal import Glibc
internal import UnixSocket
internal import Values
internal import Wire

/// What runs in a device's process: visits come in, one piece of code runs at a time, answers go
/// out.
///
/// A turn of the loop only sorts what has arrived. Code of a visit runs when no task is ready:
/// first the earliest work, then, when that waits, the next. So the status page can say at every
/// moment whose code runs.
@LoopActor
final class DeviceRuntime: LinkDelegate {
    private enum Work {
        case function(Call)
        case begin(VisitState)
        case answer(VisitState)
        /// A commit's turn has come.
        case turn(VisitState, UnsafeContinuation<Void, any Error>)
    }

    /// The visit of a function.
    private struct Call {
        var number: UInt64
        var place: Int
        var attempt: UInt32
        var payload: [UInt8]
    }

    /// The runtime of the process; the loop calls it.
    private static var shared: DeviceRuntime?

    let mirror = Mirror()
    var commits = CommitLine()
    private let bindings: Bindings
    private let page: StatusPage
    let coding = CBORCoding()
    var link: Link?
    private var isCell = false
    private var epoch: UInt64 = 0
    private var finished = FinishedAnswers()
    private var visits: [UInt64: VisitState] = [:]
    private var replaying: [VisitState] = []
    private var work = Queue<Work>()
    private var isDraining = false
    private var isEnding = false
    var lastDispatch: UInt64 = 0
    /// Regions of the welcome that have not come yet; the device is ready when they have.
    private var missing: Set<String> = []

    init(_ bindings: Bindings, page: StatusPage) {
        self.bindings = bindings
        self.page = page
    }

    /// What this process is called.
    static var name: String {
        getenv("CONCENTRIC_DEVICE").map { String(cString: $0) } ?? "device"
    }

    /// Says hello on descriptor 3.
    /// - Throws: `KernelError` when nobody is there: the program was started by hand.
    static func start(_ bindings: Bindings) throws(KernelError) {
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &size) == 0 else {
            throw KernelError(
                .unavailable,
                "this program is a device: a kernel starts it (`concentric up`), with its cable at "
                    + "descriptor 3")
        }
        let runtime = DeviceRuntime(bindings, page: StatusPage())
        shared = runtime
        runtime.link = Link(OwnedDescriptor(owning: 3), delegate: runtime)
        let loop = EventLoop.shared
        loop.idle = { runtime.idle() }
        loop.beforeWait = {
            // The turn may have ended with work left, and what a timer wakes is no code of it.
            runtime.page.run(0)
            runtime.page.asleep()
        }
        loop.afterWait = { runtime.page.awake() }
        runtime.link?.send {
            var hello = Hello(name: name, bindings: bindings.announcements)
            hello.publishes = bindings.events
            $0.hello(hello)
        }
    }

    // MARK: - From the kernel

    func link(_ link: Link, brought body: UnsafeRawBufferPointer) -> Bool {
        guard let delivery = KernelMessage.plainVisit(body) else { return false }
        take(delivery)
        return true
    }

    func link(_ link: Link, said message: KernelMessage) {
        switch message {
        case .visit(let delivery): take(delivery)
        case .visitClosure(let asker, let delivery): take(delivery, of: asker)
        case .answer(let visit, let tag, let reply): take(visit, tag, reply)
        case .patch, .together, .digest: keep(message, link)
        case .snapshot:
            keep(message, link)
            awaitRegions()
        case .cancelVisit(let number):
            visits[number]?.cancel()
            if visits[number]?.phase == .waiting { drop(number) }
        case .welcome(let welcome): greet(welcome)
        case .refused(let code, let message):
            Device.complain("the kernel refused this device: \(code): \(message)")
            exit(78)
        case .drain:
            isDraining = true
            endIfDrained()
        case .ping(let number): link.send { $0.pong(number) }
        case .reply(_, .failure(let error)):
            Device.complain("a command or an event was not accepted: \(error)")
        case .pong, .reply, .accepted, .piece: break
        }
    }

    func link(_ link: Link, ended error: KernelError) {
        // A kernel that is gone needs no word; one that is not understood does.
        guard error.code != .kernelLost else { exit(0) }
        Device.complain("the kernel is not understood: \(error)")
        exit(70)
    }

    private func greet(_ welcome: Welcome) {
        epoch = welcome.epoch
        isCell = welcome.isCell
        missing = Set(welcome.regions)
        if missing.isEmpty { serve() }
    }

    private func awaitRegions() {
        guard !missing.isEmpty else { return }
        missing = missing.filter { mirror.regions[$0] == nil }
        if missing.isEmpty { serve() }
    }

    private func serve() {
        link?.send { $0.ready() }
        guard !isCell else { return }
        for starter in bindings.starters { starter(Start(runtime: self)) }
    }

    private func keep(_ message: KernelMessage, _ link: Link) {
        do {
            guard let mismatch = try mirror.take(message) else { return }
            link.send { $0.mismatch(mismatch) }
        } catch {
            Device.complain("the kernel's change does not apply: \(error)")
            exit(70)
        }
    }

    private func take(_ delivery: KernelMessage.Delivery) {
        guard delivery.symbol < UInt64(bindings.bodies.count) else {
            link?.send {
                $0.returned(
                    visit: delivery.number,
                    .fail(KernelError(.unbound, "the kernel visits a name that was not announced")))
            }
            return
        }
        guard case .task(let body) = bindings.bodies[Int(delivery.symbol)] else {
            let order = Call(
                number: delivery.number, place: Int(delivery.symbol), attempt: delivery.attempt,
                payload: [UInt8](delivery.payload))
            // Nothing is ahead of it and no task is ready while frames are read: it runs here.
            guard work.isEmpty, visits.isEmpty, mayRun(order.attempt) else {
                work.append(.function(order))
                return
            }
            return call(order)
        }
        begin(delivery, body, isOnce: bindings.isOnce[Int(delivery.symbol)])
    }

    private func begin(
        _ delivery: KernelMessage.Delivery, _ body: @escaping StageBody, isOnce: Bool
    ) {
        let visit = VisitState(delivery, epoch: epoch, isOnce: isOnce, body: body, runtime: self)
        visits[visit.number] = visit
        if visit.replay { replaying.append(visit) }
        work.append(.begin(visit))
    }

    /// A closure of a pipe that one of the visits here runs.
    private func take(_ delivery: KernelMessage.Delivery, of asker: KernelMessage.Asker) {
        guard let visit = visits[asker.visit],
            let body = visit.closure(delivery.symbol, of: asker.tag)
        else {
            link?.send {
                $0.returned(
                    visit: delivery.number,
                    .fail(KernelError(.cancelled, "the handler that runs the pipe has ended")))
            }
            return
        }
        begin(delivery, body, isOnce: visit.isOnce)
    }

    private func take(_ number: UInt64, _ tag: UInt64, _ reply: KernelMessage.Reply) {
        guard let visit = visits[number] else { return }
        let kept: VisitState.Reply =
            switch reply {
            case .output(let bytes): .output([UInt8](bytes))
            case .failure(let error): .failure(error)
            case .committed(_, let values): .committed(visit.recorded(tag, values))
            case .repeated(_, let earlier, let patches):
                .committed(recorded(visit, tag, since: earlier, patches))
            case .conflict: .conflict
            case .published(let sequence): .published(sequence)
            case .events, .gap:
                .failure(KernelError(.malformed, "the kernel answered another question"))
            }
        if visit.keep(tag, kept) {
            work.append(.answer(visit))
        } else {
            // Nobody waits for it any more: a repeat that said it waits goes on with the next.
            visit.hasParked = false
        }
    }

    // MARK: - Work

    /// Does the earliest work when no task is ready; when none is left, repeats that wait say so.
    func idle() -> Bool {
        page.run(0)
        while let item = work.first {
            // When the cable is full this goes on once it takes more.
            guard mayRun(Self.attempt(of: item)) else { return false }
            work.removeFirst()
            switch item {
            case .function(let order): call(order)
            case .begin(let visit) where visit.phase == .waiting:
                begin(visit)
                return true
            case .answer(let visit) where visit.phase == .running:
                page.run(visit.number)
                visit.handOver()
                return true
            case .turn(let visit, let waiter):
                page.run(visit.number)
                waiter.resume()
                return true
            default: continue
            }
        }
        for visit in replaying
        where visit.phase == .running && !visit.hasParked && visit.waitsForKernel {
            visit.hasParked = true
            link?.send { $0.parked(visit: visit.number) }
        }
        endIfDrained()
        return false
    }

    private static func attempt(of item: Work) -> UInt32 {
        switch item {
        case .function(let order): order.attempt
        case .begin(let visit), .answer(let visit), .turn(let visit, _): visit.attempt
        }
    }

    /// Whether the code of a visit may run: what it must not be able to lose has left.
    @inline(__always)
    private func mayRun(_ attempt: UInt32) -> Bool {
        switch finished.need(before: attempt) {
        case .nothing: return true
        case .some:
            _ = sendFinished()
            return true
        case .everything: return sendFinished()
        }
    }

    /// Sends what the cable takes; returns whether that was all.
    private func sendFinished() -> Bool {
        guard let link, link.unsent > 0 else {
            finished.left()
            return true
        }
        link.flush()
        let all = link.unsent == 0
        finished.sent(all: all, now: Clock.monotonic, turn: EventLoop.shared.now)
        return all
    }

    /// A visit that is a function's: it is over when it returns.
    private func call(_ order: Call) {
        guard case .function(let function) = bindings.bodies[order.place] else { return }
        page.begin(order.number)
        let verb: EncodedVerb
        do {
            verb = .next(try function(order.payload, coding))
        } catch {
            verb = .fail(Self.kernelError(error))
        }
        page.run(0)
        answer(
            order.number, verb, needed: order.attempt > 1 || bindings.isOnce[order.place])
        endIfDrained()
    }

    private func begin(_ visit: VisitState) {
        visit.phase = .running
        page.begin(visit.number)
        let coding = coding
        visit.task = Task.immediate(executorPreference: LoopActor.executor) { @LoopActor in
            let verb: EncodedVerb
            do {
                verb = try await visit.body(
                    VisitHandle(visit: visit, coding: coding), visit.payload, coding)
            } catch {
                verb = .fail(Self.kernelError(error))
            }
            self.finish(visit, verb)
        }
    }

    private static func kernelError(_ error: any Error) -> KernelError {
        if let error = error as? CodingError {
            return KernelError(.malformed, error.description)
        }
        return KernelError(error)
    }

    private func finish(_ visit: VisitState, _ verb: EncodedVerb) {
        guard visit.phase != .finished else { return }
        answer(visit.number, verb, needed: visit.attempt > 1 || visit.isOnce)
        close(visit)
    }

    /// - Parameter needed: see `FinishedAnswers`.
    private func answer(_ visit: UInt64, _ verb: EncodedVerb, needed: Bool) {
        var said = verb
        do throws(KernelError) {
            try FrameRoom.check(verb.size, "the output")
        } catch {
            // The visit's code has run.
            said = .fail(KernelError(error.code, error.message))
        }
        link?.send { $0.returned(visit: visit, said) }
        finished.add(needed: needed)
        if needed { _ = sendFinished() }
    }

    /// A visit that is cancelled before its code has begun.
    private func drop(_ number: UInt64) {
        guard let visit = visits[number] else { return }
        link?.send {
            $0.returned(
                visit: number, .fail(KernelError(.cancelled, "cancelled before it began")))
        }
        close(visit)
    }

    private func close(_ visit: VisitState) {
        visit.phase = .finished
        visit.task = nil
        visits[visit.number] = nil
        if visit.replay { replaying.removeAll { $0 === visit } }
        endIfDrained()
    }

    /// A commit goes on when no other code runs.
    func resume(_ visit: VisitState, _ waiter: UnsafeContinuation<Void, any Error>) {
        work.append(.turn(visit, waiter))
    }

    private func endIfDrained() {
        guard isDraining, !isEnding, visits.isEmpty, work.isEmpty else { return }
        isEnding = true
        link?.send { $0.drained() }
        // The last answers may be more than the cable takes at once.
        link?.whenAllIsSent { exit(0) }
    }
}

extension EncodedVerb {
    /// The bytes of all that it carries.
    fileprivate var size: Int {
        switch self {
        case .next(let bytes): bytes.count
        case .abort(let bytes, let shape): bytes.count + shape.utf8.count
        case .divert(let name, let bytes, let shape):
            name.utf8.count + bytes.count + shape.utf8.count
        case .fail(let error): error.code.rawValue.utf8.count + error.message.utf8.count
        }
    }
}
