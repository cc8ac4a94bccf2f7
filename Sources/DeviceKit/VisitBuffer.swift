internal import Control
internal import UnixSocket
internal import Values
internal import Wire

/// The buffer as a handler sees it.
struct VisitBuffer: BufferHandle {
    let visit: VisitState

    func read<R: Region>(_ region: R.Type) async throws -> R {
        try FrameRoom.check(name: R.region)
        guard let value = await visit.read(R.region) else {
            throw try await refusal(of: R.region, writing: false)
        }
        return try R.decoded(value)
    }

    func mutate<A: Region, each R: Region, T: Sendable>(
        _ region: A.Type, reading regions: repeat (each R).Type,
        change: @escaping @Sendable (inout A, repeat each R) throws -> T
    ) async throws -> T {
        var names: [String] = []
        repeat names.append((each R).region)
        return try await commit([A.region], reading: names) { values in
            var state = try A.decoded(values[0])
            var reader = Reader(values: values[1...])
            let result = try change(&state, repeat reader.next((each R).self))
            values[0] = try state.encoded
            return result
        }
    }

    func mutate<A: Region, B: Region, each R: Region, T: Sendable>(
        _ first: A.Type, _ second: B.Type, reading regions: repeat (each R).Type,
        change: @escaping @Sendable (inout A, inout B, repeat each R) throws -> T
    ) async throws -> T {
        var names: [String] = []
        repeat names.append((each R).region)
        return try await commit([A.region, B.region], reading: names) { values in
            var a = try A.decoded(values[0])
            var b = try B.decoded(values[1])
            var reader = Reader(values: values[2...])
            let result = try change(&a, &b, repeat reader.next((each R).self))
            values[0] = try a.encoded
            values[1] = try b.encoded
            return result
        }
    }

    /// Decodes values one after the other.
    private struct Reader {
        var values: ArraySlice<Value>

        mutating func next<R: Region>(_ region: R.Type) throws -> R {
            guard let value = values.popFirst() else {
                throw KernelError(.malformed, "\(R.region) is missing")
            }
            return try R.decoded(value)
        }
    }

    /// Runs a change on the newest values and offers it, until no other commit came first. All of
    /// it belongs to the loop, and stands in one function but for what is rare: each end of an
    /// asynchronous one has the runtime look which executor goes on.
    ///
    /// - Parameters:
    ///   - written: the regions that are changed, whose values come first.
    ///   - read: those on which the change rests, too.
    @LoopActor
    private func commit<T: Sendable>(
        _ written: [String], reading read: [String],
        _ change: @Sendable (inout [Value]) throws -> T
    ) async throws -> T {
        let regions = read.isEmpty ? written : written + read
        try Self.check(regions)
        let turn = visit.joinLine(regions)
        defer { visit.leaveLine(turn.number) }
        if !turn.isNow { try await visit.awaitTurn(turn.number) }
        let tag = visit.nextTag()
        while true {
            var values: [Value] = []
            var offers: [RegionOffer] = []
            for region in regions {
                guard let base = visit.current(region) else {
                    throw try await refusal(of: region, writing: values.count < written.count)
                }
                values.append(base.value)
                offers.append(
                    RegionOffer(region: region, base: base.revision.counter, patch: nil))
            }
            let bases = values
            let result = try change(&values)
            for place in written.indices {
                offers[place].patch = Patch.difference(from: bases[place], to: values[place])
            }
            try check(offers)
            switch try await visit.ask(.commit(offers), tag: tag) {
            case .committed(nil): return result
            case .committed(.some(var recorded)):
                guard recorded.count == regions.count else {
                    throw KernelError(.malformed, "the kernel recorded another commit")
                }
                return try change(&recorded)
            case .conflict: continue
            case .failure(let error): throw error
            case .output, .published:
                throw KernelError(.malformed, "the kernel answered a commit oddly")
            }
        }
    }

    /// Why the kernel has sent no such region: it is asked, for here nobody knows whether the
    /// manifest does not grant it or none declares it.
    @LoopActor
    private func refusal(of region: String, writing: Bool) async throws -> KernelError {
        let offer = RegionOffer(region: region, base: 0, patch: writing ? Patch([]) : nil)
        guard case .failure(let error) = try await visit.ask(.commit([offer])) else {
            return KernelError(.unbound, "the kernel has sent no region \(region)")
        }
        return error
    }

    /// Refuses a commit whose frame the kernel would take for a breach of the protocol.
    private static func check(_ regions: [String]) throws(KernelError) {
        for region in regions { try FrameRoom.check(name: region) }
        guard regions.count <= WireLimits.committed else {
            throw KernelError(
                .tooLarge,
                "a commit of \(regions.count) regions, those that it reads included; the limit is "
                    + "\(WireLimits.committed): read some of them before it", outcome: .none)
        }
    }

    /// Refuses what no frame can carry.
    private func check(_ offers: [RegionOffer]) throws(KernelError) {
        let limit = WireLimits.frame - 16_384
        var left = limit
        for offer in offers {
            for operation in offer.patch?.operations ?? [] {
                switch operation {
                case .add(let path, let value), .replace(let path, let value),
                    .test(let path, let value):
                    // An escape takes two bytes.
                    left -= path.tokens.reduce(64) { $0 + 1 + 2 * $1.utf8.count }
                    left -= value.encodedSize
                default: left -= 128
                }
                guard left >= 0 else {
                    throw KernelError(
                        .tooLarge,
                        "the change of \(offer.region) is larger than \(limit) bytes, the limit of "
                            + "one commit: make it in several", outcome: .none)
                }
            }
        }
    }
}
