import Control

/// How a flow goes from stage to stage, and how it ends.
extension Hub {
    // MARK: - Forward

    /// The flow runs from now on; a lane is no one's fault, so its clock starts here.
    func begin(_ flow: Flow) {
        flow.running = true
        if flow.root == 0 {
            beginnings += 1
            flow.root = beginnings
        }
        flow.began = seen
        flow.deadline = min(
            seen + UInt64(flow.symbol.traits.deadline) * 1_000_000, flow.bound)
        flow.limit = flow.deadline
        due = min(due, flow.deadline)
        enter(flow)
    }

    /// A branch runs along a route of its own.
    func begin(_ flow: Flow, along route: Route) {
        flow.running = true
        flow.began = seen
        due = min(due, flow.deadline)
        flow.route = route
        flow.gives = route.gives
        advance(flow)
    }

    private func enter(_ flow: Flow) {
        guard flow.entered.known else { return queue(flow, for: flow.entered) }
        take(flow)
    }

    /// Takes the route of the symbol that the flow has entered.
    ///
    /// What its first route gives is what the flow gives, wherever it is sent. Nobody waits for
    /// what a command or an event gives.
    private func take(_ flow: Flow) {
        guard let route = flow.entered.route else {
            return finish(flow, .failure(Hub.unbound(flow.entered.name)))
        }
        flow.route = route
        if flow.entered === flow.symbol {
            switch flow.origin {
            case .command, .event: break
            case .call, .operation, .branch: flow.gives = route.gives
            }
        }
        advance(flow)
    }

    /// The device has said how it answers the symbol of a flow that waited for it.
    func resolve(_ flow: Flow) {
        if flow.entered === flow.symbol {
            flow.deadline = min(
                flow.began + flow.stood + UInt64(flow.symbol.traits.deadline) * 1_000_000,
                flow.bound)
            flow.limit = flow.deadline
            due = min(due, flow.deadline)
        }
        take(flow)
    }

    /// Goes to the next stage that takes time, or to the end.
    ///
    /// A stage that ends at once comes back here from within; it is gone on from by the first call,
    /// for a route of many such stages would use up the stack.
    func advance(_ flow: Flow) {
        guard !flow.isAdvancing else {
            flow.goesOn = true
            return
        }
        flow.isAdvancing = true
        repeat {
            flow.goesOn = false
            step(flow)
        } while flow.goesOn && flow.ending == nil
        flow.isAdvancing = false
    }

    private func step(_ flow: Flow) {
        guard let route = flow.route else { return }
        while flow.position < route.stages.count {
            switch route.stages[flow.position] {
            case .withRequest:
                guard canCarry(flow, flow.request.count + flow.value.count + Flow.joinBytes) else {
                    return overload(flow)
                }
                carry(flow, join([flow.request, flow.value]))
                flow.position += 1
                flow.forgetStage()
            case .pipe(let symbol), .tap(let symbol):
                if let builtin = symbol.builtin {
                    settle(flow, Hub.verb(of: builtin(flow.value)))
                    return
                }
                return queue(flow, for: symbol)
            case .fork(let branches): return fork(flow, branches)
            }
        }
        finish(flow, .success(flow.value))
    }

    /// Each branch is a flow; the last one that ends moves the flow on.
    private func fork(_ flow: Flow, _ branches: [Route]) {
        guard !branches.isEmpty else { return settle(flow, .next(join([]))) }
        guard hasRoom(branches.count * Flow.ownBytes, isSpared: flow.isSpared) else {
            return overload(flow)
        }
        flow.results = Array(repeating: nil, count: branches.count)
        let children = branches.indices.map { index in
            start(
                .branch(flow, index), flow.symbol, flow.value,
                path: "\(key(of: flow))/\(index)", bound: flow.deadline)
        }
        flow.children += children
        for (child, route) in zip(children, branches) where !child.ended && child.ending == nil {
            begin(child, along: route)
        }
    }

    private func branchEnded(_ branch: Flow, of flow: Flow, _ index: Int, _ ending: Flow.Ending) {
        flow.children.removeAll { $0 === branch }
        flow.dirty = flow.dirty || branch.dirty
        if flow.ending == nil {
            switch result(branch, ending) {
            case .failure(let error): finish(flow, .failure(error))
            case .success(let bytes):
                flow.results[index] = bytes
                guard hasRoom(bytes.count, isSpared: flow.isSpared) else {
                    flow.results[index] = nil
                    overload(flow)
                    break
                }
                flow.resultBytes += bytes.count
                hold(flow, bytes.count)
                if flow.children.isEmpty {
                    let all = join(flow.results.compactMap { $0 })
                    flow.results = []
                    hold(flow, -flow.resultBytes)
                    flow.resultBytes = 0
                    flow.reply = .next(all)
                    wait(flow, with: all.count)
                }
            }
        }
        close(flow)
    }

    private static func verb(of result: Result<[UInt8], KernelError>) -> EncodedVerb {
        switch result {
        case .success(let bytes): .next(bytes)
        case .failure(let error): .fail(error)
        }
    }

    /// The symbol that the flow visits now.
    func stageSymbol(_ flow: Flow) -> SymbolSlot? {
        guard let route = flow.route else { return flow.symbol }
        if flow.last { return route.last }
        guard flow.position < route.stages.count else { return nil }
        switch route.stages[flow.position] {
        case .pipe(let symbol), .tap(let symbol): return symbol
        case .withRequest, .fork: return nil
        }
    }

    /// A stage has answered, and nothing that it asked for still runs.
    func settle(_ flow: Flow, _ verb: EncodedVerb) {
        switch verb {
        case .next(let value):
            if !flow.isAtTap {
                guard canCarry(flow, value.count) else { return overload(flow) }
                carry(flow, value)
            }
            flow.position += 1
            forgetRecord(flow)
            flow.forgetStage()
            advance(flow)
        case .abort(let value, let shape):
            guard Shape.fits(shape, flow.gives) else {
                return finish(flow, .failure(mismatch(flow, "aborts with", shape)))
            }
            finish(flow, .success(value))
        case .divert(let name, let value, let shape): divert(flow, to: name, value, shape)
        case .fail(let error): finish(flow, .failure(error))
        }
    }

    /// The flow leaves its route for that of a symbol; the `finally` of the one it leaves runs
    /// first.
    private func divert(_ flow: Flow, to name: String, _ value: [UInt8], _ shape: String) {
        guard let target = symbol(name) else { return finish(flow, .failure(Hub.unbound(name))) }
        if let device = stageSymbol(flow)?.device, !device.mayCall(name) {
            let error = KernelError(
                .denied, "the manifest of \(device.name) does not grant diverting to \(name)")
            return finish(flow, .failure(error))
        }
        guard Shape.fits(target.gives, flow.gives) else {
            return finish(
                flow, .failure(mismatch(flow, "diverts to \(name), which gives", target.gives)))
        }
        guard Shape.fits(shape, target.takes) else {
            let error = KernelError(
                .composeTypeMismatch,
                "\(stageName(flow)) diverts to \(name) with \(shape); it takes \(target.takes)")
            return finish(flow, .failure(error))
        }
        finish(flow, .divert(target, value))
    }

    private func mismatch(_ flow: Flow, _ what: String, _ shape: String) -> KernelError {
        KernelError(
            .composeTypeMismatch,
            "\(stageName(flow)) \(what) \(shape); the flow of \(flow.symbol.name) gives "
                + "\(flow.gives)")
    }

    private func stageName(_ flow: Flow) -> String {
        stageSymbol(flow)?.name ?? flow.symbol.name
    }

    private func takeUp(_ flow: Flow, to target: SymbolSlot, _ value: [UInt8]) {
        flow.ending = nil
        flow.last = false
        flow.results = []
        flow.position = 0
        restart(flow, with: value)
        flow.entered = target
        forgetRecord(flow)
        flow.route = nil
        flow.forgetStage()
        flow.deadline = flow.limit
        due = min(due, flow.deadline)
        enter(flow)
    }

    // MARK: - To the end

    /// The flow will end with this; first everything that it started comes to rest.
    func finish(_ flow: Flow, _ ending: Flow.Ending) {
        guard !flow.ended else { return }
        guard flow.ending == nil else {
            // A flow that was to go on along another route ends where it is.
            if case .divert = flow.ending { flow.ending = waiting(flow, for: ending) }
            return
        }
        flow.reply = nil
        flow.ending = waiting(flow, for: ending)
        leaveQueue(flow)
        if let visit = flow.visit {
            visit.peer.cable.cancel(visit: visit.number)
            flow.visit?.cancelled = seen
            flow.visit?.since = seen
            due = min(due, settleTime(flow.visit) ?? .max)
        }
        cancelChildren(flow, "the flow that asked has ended")
        close(flow)
    }

    func cancelChildren(_ flow: Flow, _ why: String) {
        for child in flow.children { cancel(child, why) }
    }

    func cancel(_ flow: Flow, _ why: String) {
        if flow.last {
            guard case .divert = flow.ending else { return }
        }
        finish(flow, .failure(KernelError(.cancelled, "\(flow.symbol.name): \(why)")))
    }

    /// Goes on once nothing that the flow started still runs: to the next stage, to `finally`, or
    /// to the end.
    func close(_ flow: Flow) {
        guard flow.visit == nil, flow.waiting == nil, flow.awaiting == nil,
            flow.children.isEmpty, !flow.ended
        else { return }
        guard flow.ending != nil else {
            guard let verb = flow.reply else { return }
            flow.reply = nil
            if flow.pendingBytes > 0 { wait(flow, with: 0) }
            return settle(flow, verb)
        }
        guard let last = flow.route?.last, !flow.last, flow.running else { return end(flow) }
        flow.last = true
        forgetRecord(flow)
        flow.forgetStage()
        flow.deadline = max(flow.deadline, seen + limits.finallyDeadline)
        due = min(due, flow.deadline)
        queue(flow, for: last)
    }

    /// The end is told, once.
    func end(_ flow: Flow) {
        guard let ending = flow.ending, !flow.ended else { return }
        if case .divert(let target, let value) = ending { return takeUp(flow, to: target, value) }
        flow.ended = true
        if tracing { keep(flow, result(flow, ending)) }
        unlink(flow)
        release(flow)
        if elders > 0 { leaveElders(flow) }
        switch flow.origin {
        case .call(let peer, let id):
            peer.open -= 1
            peer.openBytes -= flow.size
            if !peer.away { peer.cable.reply(call: id, result(flow, ending)) }
        case .operation(let parent, let entry):
            parent.children.removeAll { $0 === flow }
            // The flow and its entry hold each other until here.
            entry.child = nil
            parent.dirty = parent.dirty || flow.dirty
            if entry.isRecorded && parent.listens {
                switch result(flow, ending) {
                case .success(let bytes): answer(parent, entry, .output(bytes))
                case .failure(let error): answer(parent, entry, .failure(error))
                }
            } else {
                close(parent)
            }
        case .branch(let parent, let index): branchEnded(flow, of: parent, index, ending)
        case .command:
            if case .failure(let error) = result(flow, ending) { report(flow, error) }
        case .event(let follower, let sequence):
            var failure: KernelError?
            if case .failure(let error) = result(flow, ending) { failure = error }
            ended(flow, follower, sequence, failure)
        }
        if let lane = flow.lane {
            lane.leave(flow)
            flow.lane = nil
            goOn(lane)
        }
    }

    /// The outcome speaks of the whole flow.
    private func result(_ flow: Flow, _ ending: Flow.Ending) -> Result<[UInt8], KernelError> {
        let outcome: Outcome = flow.dirty ? .unknown : .none
        switch ending {
        case .success(let bytes):
            guard bytes.count > limits.visitBytes else { return .success(bytes) }
            return .failure(
                KernelError(
                    .tooLarge,
                    "\(flow.symbol.name) gives \(bytes.count) bytes; the limit is "
                        + "\(limits.visitBytes)", outcome: outcome))
        case .failure(var error):
            error.outcome = outcome
            return .failure(error)
        case .divert(let target, _): return .failure(Hub.unbound(target.name))
        }
    }

    /// The stage cannot run to its end: the flow fails, or its `finally` is lost.
    func fail(_ flow: Flow, _ error: KernelError) {
        if flow.last { lose(finallyOf: flow, error.message) } else { finish(flow, .failure(error)) }
    }

    /// A `finally` did not run to its end.
    func lose(finallyOf flow: Flow, _ why: String) {
        let name = flow.route?.last?.name ?? flow.symbol.name
        report(
            name, KernelError(.finallyLost, "\(name) did not run to its end: \(why)"),
            flow: flow.number)
        cancelChildren(flow, "the `finally` that asked has ended")
        close(flow)
    }
}
