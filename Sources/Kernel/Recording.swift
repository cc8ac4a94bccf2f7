package import Control
import Values

/// What a visit asks of the kernel, and how a repeat of it gets the same answers.
///
/// The device hands a visit one answer at a time, when all its tasks wait. In a repeat it then says
/// `parked`, and the hub gives the outstanding recorded answer that it gave earliest. What is not
/// in the record is held. When nothing is left to give, the record must have been asked in full:
/// then what is held is done, and the repeat has become the present.
extension Hub {
    /// A visit asks for something. One that the visit's process may not ask for, for it has ended,
    /// is passed over.
    ///
    /// - Parameters:
    ///   - number: of the visit.
    ///   - tag: the number of the question within the visit, with which it is answered.
    /// - Complexity: constant but for what the operation itself takes; in a repeat linear in the
    ///   record.
    package func ask(_ peer: Peer, visit number: UInt64, tag: UInt64, _ operation: Operation) {
        guard let flow = peer.visits[number], let visit = flow.visit else {
            staleReplies += 1
            return
        }
        if flow.ending != nil && !flow.last || visit.abandoned != nil { return }
        defer { if peer.isCell, let device = peer.device { wantCells(device) } }
        let record = flow.record ?? Record()
        flow.record = record
        let name = name(of: operation)
        if tag <= record.lastTag, let entry = record.entries.first(where: { $0.tag == tag }) {
            // Only a commit that met a conflict comes again under its number.
            if case .commit = operation, entry.name == name { perform(flow, entry, operation) }
            return
        }
        let place = record.asked.index(forKey: name)
        let n = place.map { record.asked.values[$0] } ?? 0
        if visit.replay,
            let entry = record.entries.first(where: {
                $0.tag == nil && $0.name == name && $0.number == n
            })
        {
            record.note(name, at: place, tag)
            return repeated(flow, entry, tag, operation)
        }
        let size = name.size
        guard record.operations < limits.recordEntries,
            record.bytes + size <= limits.recordBytes
        else {
            // Who does not stop asking is not answered for ever: the attempt's time ends it.
            record.refusals += 1
            guard record.refusals <= limits.recordEntries else { return }
            return peer.cable.answer(visit: number, tag: tag, .failure(recordFull(visit)))
        }
        guard hasRoom(size + Flow.ownBytes, isSpared: flow.isSpared) else { return overload(flow) }
        record.operations += 1
        record.bytes += size
        record.note(name, at: place, tag)
        let entry = Entry(
            name: name, number: n, effect: isEffect(operation), size: size, tag: tag)
        if visit.replay {
            hold(back: entry, operation, flow, record)
            return
        }
        hold(flow, record, size)
        record.add(entry)
        perform(flow, entry, operation)
    }

    /// What is not in the record waits until the repeat has become the present.
    private func hold(
        back entry: Entry, _ operation: Operation, _ flow: Flow, _ record: Record
    ) {
        let bytes = (entry.isRecorded ? 0 : entry.size) + operation.patchBytes
        guard hasRoom(bytes, isSpared: flow.isSpared) else { return overload(flow) }
        record.pending += bytes
        hold(flow, record, bytes)
        flow.visit?.held.append((entry, operation))
    }

    /// The device could not say what it asks for: nobody provides the symbol, or may call it.
    ///
    /// The answer is recorded like every other, for a handler may depend on its place among them.
    package func askUnknown(
        _ peer: Peer, visit number: UInt64, tag: UInt64, _ name: String, _ error: KernelError
    ) {
        ask(peer, visit: number, tag: tag, .refused(name, error))
    }

    /// A repeat has asked for what the record holds.
    private func repeated(
        _ flow: Flow, _ entry: Entry, _ tag: UInt64, _ operation: Operation
    ) {
        entry.tag = tag
        if entry.answer != nil {
            flow.visit?.due.append(entry)
        } else if case .commit = operation {
            if let record = flow.record { hold(back: entry, operation, flow, record) }
        } else {
            resumeClosures(of: entry)
        }
        // A call in flight is joined: its answer comes when its flow ends.
    }

    private func name(of operation: Operation) -> EntryName {
        switch operation {
        case .call(let symbol, let payload, _): .call(symbol.name, payload)
        case .commit(let offers):
            .commit(
                offers.compactMap { $0.patch == nil ? nil : $0.region },
                reads: offers.compactMap { $0.patch == nil ? $0.region : nil })
        case .run(let route, let payload): .run(route.signature, payload)
        case .dispatch(let symbol, let payload): .dispatch(symbol.name, payload)
        case .publish(let channel, let payload): .publish(channel.name, payload)
        case .refused(let name, _): .refused(name)
        }
    }

    /// Whether having asked it may have changed something.
    private func isEffect(_ operation: Operation) -> Bool {
        switch operation {
        case .call(let symbol, _, _):
            symbol.builtin == nil && (symbol.device?.pure != true || symbol.replay == .once)
        case .commit, .run, .dispatch, .publish: true
        case .refused: false
        }
    }

    private func recordFull(_ visit: Visit) -> KernelError {
        KernelError(
            .recordFull,
            "\(visit.symbol.name) asked for more than \(limits.recordEntries) things or "
                + "\(limits.recordBytes) bytes in one stage: do the work in more stages, "
                + "or in pages"
        )
    }

    /// Who calls itself without an end would fill the kernel long before its deadline.
    private func tooDeep(_ flow: Flow) -> KernelError {
        let name = flow.visit?.symbol.name ?? flow.symbol.name
        return KernelError(
            .overloaded,
            "\(name) asks from within \(flow.depth) calls of each other: does it call itself?",
            outcome: .none)
    }

    /// A visit has read a region: a repeat must get the same again.
    ///
    /// - Parameters:
    ///   - number: of the visit.
    ///   - n: counts the visit's reads of that region, from 0.
    ///   - revision: at which its mirror had the region.
    package func note(
        _ peer: Peer, visit number: UInt64, region: String, number n: UInt32, revision: UInt64
    ) {
        guard let flow = peer.visits[number], let visit = flow.visit, let slot = regions[region]
        else { return }
        let record = flow.record ?? Record()
        flow.record = record
        guard record.reads.count < limits.recordEntries else {
            return finish(flow, .failure(recordFull(visit)))
        }
        guard !record.readNames.contains(ReadName(region: region, number: n)),
            revision <= (slot.owned ? slot.counter : counter),
            let value = slot.value(at: revision)
        else { return }
        let read = RegionRead(region: region, number: n, revision: revision, value: value)
        // Between two changes of the region its value is that of the former.
        let place = min(revision, slot.counter)
        let bytes = slot.bytes(of: value, at: place)
        let new = slot.newBytes(value, bytes, at: place)
        guard hasRoom(read.ownBytes + new, isSpared: flow.isSpared) else { return overload(flow) }
        hold(flow, record, read.ownBytes)
        record.readNames.insert(ReadName(region: region, number: n))
        record.reads.append(read)
        record.readBytes += read.ownBytes + bytes
        pin(value, bytes, of: slot, at: place, record)
    }

    // MARK: - Repeats

    func unmatched(_ flow: Flow) -> [Entry] {
        flow.record?.entries.filter { $0.tag == nil } ?? []
    }

    /// All tasks of a repeat wait.
    package func parked(_ peer: Peer, visit number: UInt64) {
        guard let flow = peer.visits[number], let visit = flow.visit, visit.replay,
            flow.ending == nil || flow.last, visit.abandoned == nil
        else { return }
        let given = visit.due.filter { $0.order != nil }
        if let earliest = given.min(by: { ($0.order ?? 0) < ($1.order ?? 0) }) {
            flow.visit?.due.removeAll { $0 === earliest }
            return tell(flow, earliest, recorded: true)
        }
        if !unmatched(flow).isEmpty && differs(flow) { return }
        flow.visit?.replay = false
        let due = visit.due
        flow.visit?.due = []
        for entry in due { tell(flow, entry, recorded: true) }
        let held = visit.held
        flow.visit?.held = []
        forgetPending(flow)
        for (entry, operation) in held
        where flow.visit?.number == number && (flow.ending == nil || flow.last) {
            if let record = flow.record, !entry.isRecorded {
                hold(flow, record, entry.size)
                record.add(entry)
            }
            perform(flow, entry, operation)
        }
    }

    /// A repeat that asks something else: harmless while nothing was done, else the flow's end.
    private func differs(_ flow: Flow) -> Bool {
        guard let record = flow.record, let visit = flow.visit else { return false }
        if record.entries.contains(where: \.effect) {
            if flow.last {
                abandon(visit, ofFinally: flow, "its repeat asked for other things than before")
            } else {
                finish(flow, .failure(Hub.diverged(visit.symbol)))
            }
            return true
        }
        let gone = record.entries.filter { $0.tag == nil }
        record.entries.removeAll { $0.tag == nil }
        drop(gone, of: flow, record)
        for entry in gone {
            if let child = entry.child { cancel(child, "the repeat did not ask for it") }
        }
        return false
    }

    /// The visit of a `finally` is no longer answered. It may still change something, so the end of
    /// its flow is told when it has come to rest.
    func abandon(_ visit: Visit, ofFinally flow: Flow, _ why: String) {
        guard visit.abandoned == nil else { return }
        visit.abandoned = why
        visit.held = []
        visit.due = []
        forgetPending(flow)
        if visit.cancelled == nil {
            visit.cancelled = seen
            visit.peer.cable.cancel(visit: visit.number)
        }
        due = min(due, settleTime(visit) ?? .max)
        cancelChildren(flow, why)
    }

    // MARK: - Doing what was asked

    private func perform(_ flow: Flow, _ entry: Entry, _ operation: Operation) {
        switch operation {
        case .call where flow.depth >= limits.depth, .run where flow.depth >= limits.depth:
            answer(flow, entry, .failure(tooDeep(flow)))
        case .call(let symbol, let payload, let deadline):
            perform(flow, entry, call: symbol, payload, deadline)
        case .commit(let offers):
            perform(flow, entry, commit: offers)
        case .run(let route, let payload): perform(flow, entry, run: route, payload)
        case .dispatch(let symbol, let payload):
            perform(flow, entry, dispatch: symbol, payload)
        case .publish(let slot, let payload):
            perform(flow, entry, publish: payload, to: slot)
        case .refused(_, let error): answer(flow, entry, .failure(error))
        }
    }

    private func perform(
        _ flow: Flow, _ entry: Entry, call symbol: SymbolSlot, _ payload: [UInt8],
        _ deadline: UInt32
    ) {
        if let builtin = symbol.builtin {
            switch builtin(payload) {
            case .success(let bytes): return answer(flow, entry, .output(bytes))
            case .failure(let error): return answer(flow, entry, .failure(error))
            }
        }
        let asked = deadline == 0 ? UInt64.max : seen + UInt64(deadline) * 1_000_000
        let place = place(of: entry, payload, in: flow)
        let path = "\(key(of: flow))/\(symbol.name):\(place)"
        let child = start(
            .operation(flow, entry), symbol, payload, path: path, bound: min(flow.deadline, asked))
        entry.child = child
        flow.children.append(child)
        begin(child)
    }

    private func perform(_ flow: Flow, _ entry: Entry, commit offers: [RegionOffer]) {
        guard entry.answer == nil, let visit = flow.visit, let tag = entry.tag else { return }
        let slots = offers.map { regions[$0.region] }
        guard !mustWait(entry, slots) else {
            return visit.peer.cable.answer(visit: visit.number, tag: tag, .conflict)
        }
        let author = History.Author(
            flow: flow.number, symbol: visit.symbol.name, device: visit.peer.name)
        // Their sizes are known before the commit, and would have to be counted after it.
        let sizes = sizes(of: offers, slots)
        guard hasRoom(sizes.new, isSpared: flow.isSpared) else { return overload(flow) }
        switch commit(offers, on: slots, by: visit.peer, author) {
        case .conflict:
            entry.offers += 1
            guard entry.offers < limits.commitAttempts else {
                let error = KernelError(
                    .conflict, "the commit met newer values \(entry.offers) times", retry: true)
                return answer(flow, entry, .failure(error))
            }
            giveTurn(entry, of: flow, slots)
            visit.peer.cable.answer(visit: visit.number, tag: tag, .conflict)
        case .refused(let error): answer(flow, entry, .failure(error))
        case .made(let revision, let before):
            flow.dirty = true
            for (index, offer) in offers.enumerated() {
                guard let slot = slots[index], let record = flow.record else { continue }
                pin(before[index], sizes.all[index], of: slot, at: offer.base, record)
            }
            answer(flow, entry, .committed(revision: revision, values: before))
        }
    }

    /// Bytes of the values that the record of a commit is to keep: each, and the sum of those
    /// that nobody keeps yet.
    private func sizes(
        of offers: [RegionOffer], _ slots: [RegionSlot?]
    ) -> (all: [Int], new: Int) {
        var new = 0
        let all = zip(offers, slots).map { offer, slot in
            guard let slot, slot.counter == offer.base else { return 0 }
            let bytes = slot.bytes(of: slot.value, at: offer.base)
            new += slot.newBytes(slot.value, bytes, at: offer.base)
            return bytes
        }
        return (all, new)
    }

    /// An operation is done: tell the visit that asked, if it still runs; a repeat hears it in
    /// time.
    func answer(_ flow: Flow, _ entry: Entry, _ answer: Answer) {
        guard keep(answer, of: entry, flow) else { return }
        guard flow.visit != nil, entry.tag != nil else { return }
        flow.visit?.since = seen
        if flow.visit?.replay == true {
            flow.visit?.due.append(entry)
        } else {
            tell(flow, entry, recorded: false)
        }
    }

    private func tell(_ flow: Flow, _ entry: Entry, recorded: Bool) {
        guard let visit = flow.visit, let tag = entry.tag, let answer = entry.answer,
            visit.abandoned == nil
        else { return }
        if entry.order == nil {
            flow.record?.told += 1
            entry.order = flow.record?.told
        }
        flow.visit?.since = seen
        if case .committed(let revision, _) = answer, !recorded {
            return visit.peer.cable.answer(
                visit: visit.number, tag: tag, .committed(revision: revision, values: nil))
        }
        if case .committed(let revision, let values?) = answer {
            let now = Answered(tag: tag, values: values)
            if let earlier = visit.answered.updateValue(now, forKey: entry.name) {
                return visit.peer.cable.answer(
                    visit: visit.number, tag: tag, revision: revision, values: values,
                    since: earlier)
            }
        }
        visit.peer.cable.answer(visit: visit.number, tag: tag, answer)
    }
}
