internal import Control
internal import UnixSocket
internal import Values
internal import Wire

/// The buffer as a handler sees it.
struct VisitBuffer: BufferHandle {
    let visit: VisitState

    func read<R: Region>(_ region: R.Type) async throws -> R {
        let value = try await visit.read(R.region)
        return try ValueDecoder().decode(R.self, from: value)
    }

    func mutate<A: Region, each R: Region, T: Sendable>(
        _ region: A.Type, reading regions: repeat (each R).Type,
        change: @escaping @Sendable (inout A, repeat each R) throws -> T
    ) async throws -> T {
        var names: [String] = []
        repeat names.append((each R).region)
        return try await commit([A.region], reading: names) { values in
            var state = try ValueDecoder().decode(A.self, from: values[0])
            var reader = Reader(values: values[1...])
            let result = try change(&state, repeat reader.next((each R).self))
            values[0] = try ValueEncoder().encode(state)
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
            var a = try ValueDecoder().decode(A.self, from: values[0])
            var b = try ValueDecoder().decode(B.self, from: values[1])
            var reader = Reader(values: values[2...])
            let result = try change(&a, &b, repeat reader.next((each R).self))
            values[0] = try ValueEncoder().encode(a)
            values[1] = try ValueEncoder().encode(b)
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
            return try ValueDecoder().decode(R.self, from: value)
        }
    }

    /// Runs a change on the newest values and offers it, until no other commit came first. All of
    /// it belongs to the loop: the way there is taken once a commit, not once a step.
    ///
    /// - Parameters:
    ///   - written: the regions that are changed, whose values come first.
    ///   - read: those on which the change rests, too.
    @LoopActor
    private func commit<T: Sendable>(
        _ written: [String], reading read: [String] = [],
        _ change: @Sendable (inout [Value]) throws -> T
    ) async throws -> T {
        let turn = try await visit.lineUp(written + read)
        do {
            let result = try await offer(written, reading: read, change)
            visit.leaveLine(turn)
            return result
        } catch {
            visit.leaveLine(turn)
            throw error
        }
    }

    @LoopActor
    private func offer<T: Sendable>(
        _ written: [String], reading read: [String],
        _ change: @Sendable (inout [Value]) throws -> T
    ) async throws -> T {
        let regions = written + read
        let tag = visit.nextTag()
        while true {
            var bases: [Mirror.State] = []
            for region in regions { bases.append(try visit.current(region)) }
            var values = bases.map(\.value)
            let result = try change(&values)
            let offers = regions.indices.map { index in
                VisitState.Offer(
                    region: regions[index], base: bases[index].revision.counter,
                    patch: index < written.count
                        ? Patch.difference(from: bases[index].value, to: values[index]) : nil)
            }
            try check(offers)
            switch try await visit.askAgain(.commit(offers), tag: tag) {
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

    /// Refuses what no frame can carry.
    private func check(_ offers: [VisitState.Offer]) throws(KernelError) {
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
