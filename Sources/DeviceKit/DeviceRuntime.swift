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
        case function(UInt64, Int, [UInt8])
        case begin(VisitState)
        case answer(VisitState)
    }

    /// The runtime of the process; the loop calls it.
    private static var shared: DeviceRuntime?

    let mirror = Mirror()
    private let bindings: Bindings
    private let page: StatusPage
    private let coding = CBORCoding()
    private var link: Link?
    private var isCell = false
    private var epoch: UInt64 = 0
    /// Pieces of work after which answers are sent although more work is there.
    private static let batch = 16
    private var visits: [UInt64: VisitState] = [:]
    private var replaying: [VisitState] = []
    private var work: [Work] = []
    private var next = 0
    private var isDraining = false
    private var lastDispatch: UInt64 = 0
    /// Regions of the welcome that have not come yet; the device is ready when they have.
    private var missing: Set<String> = []

    init(_ bindings: Bindings, page: StatusPage) {
        self.bindings = bindings
        self.page = page
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
        loop.beforeWait = { runtime.page.asleep() }
        loop.afterWait = { runtime.page.awake() }
        let name = getenv("CONCENTRIC_DEVICE").map { String(cString: $0) } ?? "device"
        runtime.link?.send {
            $0.hello(Hello(name: name, bindings: bindings.announcements))
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
        case .patch(let epoch, let counter, let changes):
            keep { try mirror.take(epoch: epoch, counter: counter, changes) }
        case .snapshot(let part):
            keep { try mirror.take(part) }
            if part.part + 1 == part.parts { arrived(part.region) }
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
            Device.complain("a command was not accepted: \(error)")
        case .pong, .reply, .accepted: break
        }
    }

    func link(_ link: Link, ended error: KernelError) {
        exit(0)
    }

    private func greet(_ welcome: Welcome) {
        epoch = welcome.epoch
        isCell = welcome.isCell
        missing = Set(welcome.regions)
        if missing.isEmpty { serve() }
    }

    private func arrived(_ region: String) {
        guard missing.remove(region) != nil, missing.isEmpty else { return }
        serve()
    }

    private func serve() {
        link?.send { $0.ready() }
        guard !isCell else { return }
        for starter in bindings.starters { starter(Start(runtime: self)) }
    }

    private func keep(_ apply: () throws -> Void) {
        do {
            try apply()
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
            let payload = [UInt8](delivery.payload)
            // Nothing is ahead of it and no task is ready while frames are read: it runs here.
            guard !work.isEmpty || !visits.isEmpty else {
                return call(delivery.number, Int(delivery.symbol), payload)
            }
            work.append(.function(delivery.number, Int(delivery.symbol), payload))
            return
        }
        begin(delivery, body)
    }

    private func begin(_ delivery: KernelMessage.Delivery, _ body: @escaping StageBody) {
        let visit = VisitState(delivery, epoch: epoch, body: body, runtime: self)
        visits[visit.number] = visit
        if visit.replay { replaying.append(visit) }
        work.append(.begin(visit))
    }

    /// A closure of a pipe that one of the visits here runs.
    private func take(_ delivery: KernelMessage.Delivery, of asker: KernelMessage.Asker) {
        guard let body = visits[asker.visit]?.closure(delivery.symbol, of: asker.tag) else {
            link?.send {
                $0.returned(
                    visit: delivery.number,
                    .fail(KernelError(.cancelled, "the handler that runs the pipe has ended")))
            }
            return
        }
        begin(delivery, body)
    }

    private func take(_ number: UInt64, _ tag: UInt64, _ reply: KernelMessage.Reply) {
        guard let visit = visits[number] else { return }
        let kept: VisitState.Reply =
            switch reply {
            case .output(let bytes): .output([UInt8](bytes))
            case .failure(let error): .failure(error)
            case .committed(_, let values): .committed(values)
            case .conflict: .conflict
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
        while next < work.count {
            let item = work[next]
            next += 1
            if next == work.count {
                work.removeAll(keepingCapacity: true)
                next = 0
            } else if next >= Self.batch {
                work.removeFirst(next)
                next = 0
                // What is finished is told, however much there is still to do.
                link?.flush()
            }
            switch item {
            case .function(let number, let place, let payload):
                call(number, place, payload)
            case .begin(let visit) where visit.phase == .waiting:
                begin(visit)
                return true
            case .answer(let visit) where visit.phase == .running:
                page.run(visit.number)
                visit.handOver()
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

    /// A visit that is a function's: it is over when it returns.
    private func call(_ number: UInt64, _ place: Int, _ payload: [UInt8]) {
        guard case .function(let function) = bindings.bodies[place] else { return }
        page.begin(number)
        let verb: EncodedVerb
        do {
            verb = .next(try function(payload, coding))
        } catch {
            verb = .fail(Self.kernelError(error))
        }
        page.run(0)
        answer(number, verb)
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
        answer(visit.number, verb)
        close(visit)
    }

    private func answer(_ visit: UInt64, _ verb: EncodedVerb) {
        var said = verb
        if case .next(let bytes) = verb, bytes.count + 1_024 > WireLimits.frame {
            said = .fail(
                KernelError(
                    .tooLarge,
                    "the output has \(bytes.count) bytes; the limit is \(WireLimits.frame - 1_024)")
            )
        }
        link?.send { $0.returned(visit: visit, said) }
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

    private func endIfDrained() {
        guard isDraining, visits.isEmpty, work.isEmpty else { return }
        link?.send { $0.drained() }
        link?.flush()
        exit(0)
    }

    // MARK: - From handlers

    func send(_ question: VisitState.Question, visit: UInt64, tag: UInt64) {
        guard let link else { return }
        switch question {
        case .call(let symbol, let payload):
            let number = link.number(of: symbol)
            link.send {
                $0.askCall(visit: visit, tag: tag, symbol: number, deadline: 0, payload)
            }
        case .run(let route, let payload):
            link.send { $0.askRun(visit: visit, tag: tag, route.descriptor, payload) }
        case .dispatch(let symbol, let payload):
            let number = link.number(of: symbol)
            link.send { $0.askDispatch(visit: visit, tag: tag, symbol: number, payload) }
        case .commit(let offers):
            link.send {
                $0.askCommit(
                    visit: visit, tag: tag,
                    offers.map {
                        PeerMessage.Offer(region: $0.region, base: $0.base, patch: $0.patch)
                    })
            }
        }
    }

    func dispatch<P, O>(_ symbol: Symbol<P, O>, _ payload: P) {
        guard let link else { return }
        do {
            let bytes = try symbol.payload.encode(payload, coding)
            let number = link.number(of: symbol.name)
            lastDispatch += 1
            link.send { $0.dispatch(id: lastDispatch, symbol: number, key: nil, bytes) }
        } catch {
            Device.complain("\(symbol.name) was not dispatched: \(error)")
        }
    }

    func note(visit: UInt64, region: String, number: UInt32, revision: UInt64) {
        link?.send {
            $0.note(visit: visit, region: region, number: number, revision: revision)
        }
    }
}
