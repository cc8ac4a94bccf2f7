internal import Control
internal import Synchronization
internal import UnixSocket
internal import Values
internal import Wire

/// A handler that runs: what it asked, and the answers that were not yet handed to it.
///
/// Answers are handed over one at a time, when all tasks of the process wait: a handler is then a
/// function of its answers and of their order, and a repeat of it can be given the same.
@LoopActor
final class VisitState {
    /// What a handler may ask, as data.
    enum Question: Sendable {
        case call(String, [UInt8])
        case commit([RegionOffer])
        case run(SealedRoute, [UInt8])
        case dispatch(String, [UInt8])
        case publish(String, [UInt8])
    }

    /// What comes back.
    enum Reply: Sendable {
        case output([UInt8])
        case committed([Value]?)
        case conflict
        case published(UInt64)
        case failure(KernelError)
    }

    /// -> finished
    enum Phase {
        case waiting
        case running
        case finished
    }

    let number: UInt64
    let now: Int64
    let lowest: Revision
    let replay: Bool
    let attempt: UInt32
    /// It may not be repeated.
    let isOnce: Bool
    let body: StageBody
    let payload: [UInt8]
    var phase = Phase.waiting
    var task: Task<Void, Never>?
    /// Whether the kernel was told that all tasks of this repeat wait.
    var hasParked = false
    private nonisolated let epoch: UInt64
    private nonisolated let flow: UInt64
    private nonisolated let path: String?
    private nonisolated let step: UInt32
    private unowned let runtime: DeviceRuntime
    private let recorded: [RegionRead]
    private var reads: [String: UInt32] = [:]
    private var lastTag: UInt64 = 0
    /// The closures of the pipes that it runs, by the question that runs each.
    private var closures: [UInt64: [StageBody]] = [:]
    private var asked: [UInt64: UnsafeContinuation<Reply, any Error>] = [:]
    private var answers = Queue<(tag: UInt64, Reply)>()
    /// What recorded commits were made on, until the kernel has built on it.
    private var recordedValues: [UInt64: [Value]] = [:]
    private var isCancelled = false
    private let draws = Mutex<UInt64>(0)

    init(
        _ delivery: KernelMessage.Delivery, epoch: UInt64, isOnce: Bool,
        body: @escaping StageBody, runtime: DeviceRuntime
    ) {
        number = delivery.number
        self.epoch = epoch
        flow = delivery.flow
        path = delivery.path
        step = delivery.step
        now = delivery.now
        lowest = Revision(epoch: epoch, counter: delivery.lowest)
        replay = delivery.replay
        attempt = delivery.attempt
        self.isOnce = isOnce
        recorded = delivery.reads
        payload = [UInt8](delivery.payload)
        self.body = body
        self.runtime = runtime
    }

    /// The path that names this visit for ever.
    nonisolated var key: String {
        "\(path ?? "\(epoch)-\(flow)")/\(step)"
    }

    // MARK: - Asking

    /// Asks the kernel and waits for the answer.
    func ask(_ question: Question) async throws -> Reply {
        try await ask(question, tag: nextTag())
    }

    /// Enters the line of those that commit, see `CommitLine`.
    func joinLine(_ regions: [String]) -> (number: UInt64, isNow: Bool) {
        runtime.commits.join(self, regions)
    }

    /// Waits for a turn that has not come.
    func awaitTurn(_ number: UInt64) async throws {
        try await runtime.awaitTurn(number)
    }

    func leaveLine(_ number: UInt64) {
        runtime.leaveLine(number)
    }

    /// A number for a new operation.
    func nextTag() -> UInt64 {
        lastTag += 1
        return lastTag
    }

    /// Asks something under a number: a commit that has met a conflict is offered again as the same
    /// operation.
    @inline(__always)
    func ask(_ question: Question, tag: UInt64) async throws -> Reply {
        guard !isCancelled, phase != .finished else { throw CancellationError() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                guard !Task.isCancelled else {
                    return continuation.resume(throwing: CancellationError())
                }
                asked[tag] = continuation
                if case .run(let route, _) = question { closures[tag] = route.bodies }
                runtime.send(question, visit: number, tag: tag)
            }
        } onCancel: {
            Task(executorPreference: LoopActor.executor) { @LoopActor [self] in abandon(tag) }
        }
    }

    /// A task that asked was cancelled: it goes on at once.
    private func abandon(_ tag: UInt64) {
        asked.removeValue(forKey: tag)?.resume(throwing: CancellationError())
    }

    /// The n-th read of a region: what a first attempt read, or what the mirror holds.
    /// - Returns: nil for a region that the kernel has not sent.
    func read(_ region: String) -> Value? {
        let n = reads[region, default: 0]
        reads[region] = n + 1
        if let read = recorded.first(where: { $0.region == region && $0.number == n }) {
            return read.value
        }
        guard let state = runtime.mirror.regions[region] else { return nil }
        runtime.note(visit: number, region: region, number: n, revision: state.revision.counter)
        return state.value
    }

    /// The region as the mirror holds it now; nil for one that the kernel has not sent.
    func current(_ region: String) -> Mirror.State? { runtime.mirror.regions[region] }

    /// A number that follows from the visit's key and from how many were drawn before.
    nonisolated func random() -> UInt64 {
        let n = draws.withLock { count in
            count += 1
            return count
        }
        // SplitMix64.
        var z = Digest.of(key) &+ n &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// The code of a closure of a pipe that it runs.
    func closure(_ index: UInt64, of tag: UInt64) -> StageBody? {
        guard let bodies = closures[tag], index < UInt64(bodies.count) else { return nil }
        return bodies[Int(index)]
    }

    /// Whether it has asked something that is not answered.
    var waitsForKernel: Bool { !asked.isEmpty }

    // MARK: - Answers

    /// Keeps an answer until all tasks wait; returns whether somebody waits for it.
    func keep(_ tag: UInt64, _ reply: Reply) -> Bool {
        guard phase != .finished, asked[tag] != nil else { return false }
        answers.append((tag, reply))
        return true
    }

    /// Keeps the values of a recorded commit, on which the kernel may build others.
    func recorded(_ tag: UInt64, _ values: [Value]?) -> [Value]? {
        if let values { recordedValues[tag] = values }
        return values
    }

    /// The values of a recorded commit, of which the kernel tells what differs from an earlier one.
    /// - Throws: when there is no earlier one, or they do not apply to it.
    func recorded(_ tag: UInt64, since earlier: UInt64, _ patches: [Patch]) throws -> [Value] {
        guard let before = recordedValues.removeValue(forKey: earlier),
            before.count == patches.count
        else { throw WireError.field("the earlier commit") }
        let values = try zip(before, patches).map { try $1.apply(to: $0) }
        recordedValues[tag] = values
        return values
    }

    /// Hands over the earliest answer.
    func handOver() {
        guard let (tag, reply) = answers.removeFirst() else { return }
        hasParked = false
        asked.removeValue(forKey: tag)?.resume(returning: reply)
    }

    /// Nobody wants the visit's result any more: everything that it asks for fails from now on.
    func cancel() {
        isCancelled = true
        answers = Queue()
        task?.cancel()
        let waiting = asked.sorted { $0.key < $1.key }
        asked = [:]
        for (_, continuation) in waiting { continuation.resume(throwing: CancellationError()) }
    }
}
