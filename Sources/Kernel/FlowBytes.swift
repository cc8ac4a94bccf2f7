internal import Control
internal import Values

/// The bytes that the kernel holds because flows live, each counted once, and their bound.
///
/// A flow holds what it carries from stage to stage: its value, its request where a later stage is
/// to be given it, what branches have given, and the answer with which it waits for what it has
/// started. Its record holds what the stage has asked and was told. Whoever changes one of these
/// says so here, at once; whatever is left goes with the stage or with the flow. A value that
/// belongs to who has asked, to a fork or to an operation, is counted there.
///
/// Who would go beyond the bound is refused, or ends. A `finally` and what it asks for have room of
/// their own, or a kernel that is full could not become empty; so has an event, which nobody could
/// send again.
extension Hub {
    /// The account changes together with what the flow holds.
    @inline(__always)
    func hold(_ flow: Flow, _ bytes: Int) {
        flow.held += bytes
        flowBytes += bytes
        if flowBytes > mostFlowBytes { mostFlowBytes = flowBytes }
    }

    /// Whether they have held at least so many bytes since this was last so, and now hold less than
    /// a quarter of what they did.
    package func haveFlowsShrunk(from bytes: Int) -> Bool {
        guard mostFlowBytes >= bytes, flowBytes < mostFlowBytes / 4 else { return false }
        mostFlowBytes = flowBytes
        return true
    }

    /// Whether so many bytes more may be held.
    @inline(__always)
    func hasRoom(_ bytes: Int, isSpared: Bool) -> Bool {
        flowBytes + bytes <= limits.flowBytes + (isSpared ? limits.sparedBytes : 0)
    }

    func full(_ name: String) -> KernelError {
        KernelError(
            .overloaded,
            "\(name): the flows of this kernel hold \(flowBytes) bytes, and \(limits.flowBytes) "
                + "are its limit; try again later", outcome: .none, retry: true)
    }

    /// What the flow is to hold does not fit: it ends.
    func overload(_ flow: Flow) {
        let error = full(flow.symbol.name)
        guard flow.last else { return finish(flow, .failure(error)) }
        if let visit = flow.visit { return abandon(visit, ofFinally: flow, error.message) }
        leaveQueue(flow)
        lose(finallyOf: flow, error.message)
    }

    // MARK: - The value

    /// The value that the flow carries from now on. The request stays if a later stage joins it.
    func carry(_ flow: Flow, _ value: [UInt8]) {
        let before = flow.valueBytes + flow.requestBytes
        let keeps = (flow.route?.lastJoin ?? -1) > flow.position
        if !keeps {
            flow.request = []
            flow.requestBytes = 0
        } else if flow.carriesRequest {
            flow.requestBytes = flow.valueBytes
        }
        flow.carriesRequest = false
        flow.valueBytes = value.count
        flow.value = value
        hold(flow, flow.valueBytes + flow.requestBytes - before)
    }

    /// Whether the flow may carry a value of so many bytes to its next stage. One that is at its
    /// end gives it away at once.
    func canCarry(_ flow: Flow, _ bytes: Int) -> Bool {
        guard let route = flow.route else { return true }
        guard flow.position + 1 < route.stages.count || route.last != nil else { return true }
        let stays = flow.carriesRequest && route.lastJoin > flow.position
        return hasRoom(bytes - (stays ? 0 : flow.valueBytes), isSpared: flow.isSpared)
    }

    /// The flow begins anew with another request.
    func restart(_ flow: Flow, with request: [UInt8]) {
        hold(
            flow,
            request.count - flow.valueBytes - flow.requestBytes - flow.resultBytes
                - flow.pendingBytes)
        flow.valueBytes = request.count
        flow.requestBytes = 0
        flow.resultBytes = 0
        flow.pendingBytes = 0
        flow.carriesRequest = true
        flow.borrows = false
        flow.request = request
        flow.value = request
    }

    /// The flow waits with an answer or with its end.
    func wait(_ flow: Flow, with bytes: Int) {
        hold(flow, bytes - flow.pendingBytes)
        flow.pendingBytes = bytes
    }

    /// The end that a flow waits for, if it cannot end at once. Where there is no room for what it
    /// would give, it fails; what is no more than an error may be is held in any case.
    func waiting(_ flow: Flow, for ending: Flow.Ending) -> Flow.Ending {
        var ending = ending
        if case .failure(let error) = ending {
            ending = .failure(error.cut(to: limits.errorBytes))
        }
        guard flow.visit != nil || !flow.children.isEmpty || flow.route?.last != nil else {
            if flow.pendingBytes > 0 { wait(flow, with: 0) }
            return ending
        }
        var bytes = flow.bytes(of: ending)
        if case .failure = ending {
        } else if bytes > flow.pendingBytes, bytes > limits.errorBytes,
            !hasRoom(bytes - flow.pendingBytes, isSpared: true)
        {
            ending = .failure(full(flow.symbol.name))
            bytes = flow.bytes(of: ending)
        }
        wait(flow, with: bytes)
        return ending
    }

    /// Who has lent this flow its value gives it up.
    func own(_ flow: Flow) {
        guard flow.borrows else { return }
        flow.borrows = false
        if flow.carriesRequest {
            flow.valueBytes = flow.value.count
            hold(flow, flow.valueBytes)
        } else {
            flow.requestBytes = flow.request.count
            hold(flow, flow.requestBytes)
        }
    }

    // MARK: - The record

    /// The flow's record holds so many bytes more.
    func hold(_ flow: Flow, _ record: Record, _ bytes: Int) {
        record.held += bytes
        hold(flow, bytes)
    }

    /// Keeps the answer of an operation, if there is room for it: else the flow ends.
    ///
    /// - Returns: whether it is kept.
    func keep(_ answer: Answer, of entry: Entry, _ flow: Flow) -> Bool {
        entry.answer = answer
        guard entry.isRecorded, let record = flow.record else { return true }
        let bytes = answer.held
        guard bytes == 0 || hasRoom(bytes, isSpared: flow.isSpared) else {
            entry.answer = nil
            overload(flow)
            return false
        }
        hold(flow, record, bytes)
        return true
    }

    /// Entries that a repeat has not asked for leave the record.
    func drop(_ gone: [Entry], of flow: Flow, _ record: Record) {
        for entry in gone {
            entry.isRecorded = false
            hold(flow, record, -entry.size - (entry.answer?.held ?? 0))
            if let child = entry.child { own(child) }
        }
        record.forgetAlike()
    }

    /// The visit is over, and what it asked for and was not done is forgotten.
    func leaveVisit(_ flow: Flow) {
        flow.visit = nil
        forgetPending(flow)
    }

    /// What was held back is no longer: it is done, or never will be.
    func forgetPending(_ flow: Flow) {
        guard let record = flow.record, record.pending > 0 else { return }
        hold(flow, record, -record.pending)
        record.pending = 0
    }

    /// The stage is over, and nothing of it is played again.
    func forgetRecord(_ flow: Flow) {
        for child in flow.children { own(child) }
        guard let record = flow.record else { return }
        flow.record = nil
        // What still runs answers nobody.
        if !flow.children.isEmpty { for entry in record.entries { entry.isRecorded = false } }
        hold(flow, -record.held)
        for pin in record.pins { release(pin) }
    }

    /// The flow has ended.
    func release(_ flow: Flow) {
        if flow.record != nil || !flow.children.isEmpty { forgetRecord(flow) }
        flowBytes -= flow.held
        flow.held = 0
    }
}

extension Flow {
    /// About what it takes besides the bytes that it carries.
    static let ownBytes = 512
    /// At least what the coding adds to two values that it joins.
    static let joinBytes = 16

    fileprivate func bytes(of ending: Ending) -> Int {
        switch ending {
        case .success(let bytes): bytes.isSame(as: value) ? 0 : bytes.count
        case .divert(_, let bytes): bytes.count
        case .failure(let error): error.message.utf8.count
        }
    }
}

extension [UInt8] {
    /// The same memory, not only the same bytes.
    func isSame(as other: [UInt8]) -> Bool {
        withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress }
        }
    }
}

extension EncodedVerb {
    /// Bytes that it carries.
    var held: Int {
        switch self {
        case .next(let bytes), .abort(let bytes, _), .divert(_, let bytes, _): bytes.count
        case .fail(let error): error.message.utf8.count
        }
    }
}

extension Answer {
    /// Bytes that a record keeps with it; values of regions are pinned.
    var held: Int {
        switch self {
        case .output(let bytes): bytes.count
        case .failure(let error): error.message.utf8.count
        case .committed, .published, .conflict: 0
        }
    }
}

extension RegionRead {
    /// Bytes of it, without the value.
    var ownBytes: Int { 64 + region.utf8.count }
}

extension EntryName {
    /// What it is counted with in the record, and in its limits.
    var size: Int {
        switch self {
        case .call(_, let payload), .dispatch(_, let payload), .publish(_, let payload):
            64 + payload.count
        case .run(let signature, let payload): 64 + payload.count + signature.utf8.count
        case .commit(let regions, let reads):
            reads.reduce(regions.reduce(64) { $0 + $1.utf8.count }) { $0 + $1.utf8.count }
        case .refused(let name): 64 + name.utf8.count
        }
    }
}

extension Operation {
    /// Bytes of the changes that it would make, while it is held.
    var patchBytes: Int {
        guard case .commit(let offers) = self else { return 0 }
        return offers.reduce(0) { $0 + ($1.patch?.weight ?? 0) }
    }
}
