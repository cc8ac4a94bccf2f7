internal import Control
internal import UnixSocket
internal import Values
internal import Wire

/// What a handler holds of the kernel, for the time of its visit.
struct VisitHandle: Handle {
    let visit: VisitState
    let coding: CBORCoding

    func call<P, O>(_ symbol: Symbol<P, O>, _ payload: P) async throws -> O {
        let bytes = try encode(payload, symbol.payload, symbol.name)
        return try symbol.output.decode(try await ask(.call(symbol.name, bytes)), coding)
    }

    func compose<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws -> O {
        let bytes = try encode(payload, pipe.request, "a pipe")
        return try pipe.output.decode(try await ask(.run(pipe.route, bytes)), coding)
    }

    func run<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws {
        var route = pipe.route
        route.gives = ""
        _ = try await ask(.run(route, try encode(payload, pipe.request, "a pipe")))
    }

    func dispatch<P, O>(_ symbol: Symbol<P, O>, _ payload: P) async throws {
        let bytes = try encode(payload, symbol.payload, symbol.name)
        _ = try await ask(.dispatch(symbol.name, bytes))
    }

    @discardableResult
    func publish<E>(_ channel: Channel<E>, _ event: E) async throws -> UInt64 {
        let bytes = try encode(event, channel.event, channel.name)
        switch try await visit.ask(.publish(channel.name, bytes)) {
        case .published(let sequence): return sequence
        case .failure(let error): throw error
        case .output, .committed, .conflict:
            throw KernelError(.malformed, "the kernel answered another question")
        }
    }

    private func encode<P>(_ payload: P, _ coder: Coder<P>, _ name: String) throws -> [UInt8] {
        let bytes = try coder.encode(payload, coding)
        guard bytes.count + 1_024 <= WireLimits.frame else {
            throw KernelError(
                .tooLarge,
                "the payload of \(name) has \(bytes.count) bytes; the limit is "
                    + "\(WireLimits.frame - 1_024)", outcome: .none)
        }
        return bytes
    }

    private func ask(_ question: VisitState.Question) async throws -> [UInt8] {
        switch try await visit.ask(question) {
        case .output(let output): return output
        case .failure(let error): throw error
        case .committed, .conflict, .published:
            throw KernelError(.malformed, "the kernel answered another question")
        }
    }

    var buffer: any BufferHandle { VisitBuffer(visit: visit) }
    var now: Int64 { visit.now }
    var key: String { visit.key }
    var lowestLiveFlow: Revision { visit.lowest }

    func random() -> UInt64 {
        visit.random()
    }
}

/// The buffer as a handler sees it.
struct VisitBuffer: BufferHandle {
    let visit: VisitState

    func read<R: Region>(_ region: R.Type) async throws -> R {
        let value = try await visit.read(R.region)
        return try ValueDecoder().decode(R.self, from: value)
    }

    func mutate<R: Region, T: Sendable>(
        _ region: R.Type, _ change: @escaping @Sendable (inout R) throws -> T
    ) async throws -> T {
        try await commit([R.region]) { values in
            var state = try ValueDecoder().decode(R.self, from: values[0])
            let result = try change(&state)
            values[0] = try ValueEncoder().encode(state)
            return result
        }
    }

    func mutate<A: Region, B: Region, T: Sendable>(
        _ first: A.Type, _ second: B.Type,
        _ change: @escaping @Sendable (inout A, inout B) throws -> T
    ) async throws -> T {
        try await commit([A.region, B.region]) { values in
            var a = try ValueDecoder().decode(A.self, from: values[0])
            var b = try ValueDecoder().decode(B.self, from: values[1])
            let result = try change(&a, &b)
            values[0] = try ValueEncoder().encode(a)
            values[1] = try ValueEncoder().encode(b)
            return result
        }
    }

    /// Runs a change on the newest values and offers it, until no other commit came first.
    private func commit<T: Sendable>(
        _ regions: [String], _ change: @Sendable (inout [Value]) throws -> T
    ) async throws -> T {
        let tag = await visit.nextTag()
        while true {
            var bases: [Mirror.State] = []
            for region in regions { bases.append(try await visit.current(region)) }
            var values = bases.map(\.value)
            let result = try change(&values)
            let offers = regions.indices.map { index in
                VisitState.Offer(
                    region: regions[index], base: bases[index].revision.counter,
                    patch: Patch.difference(from: bases[index].value, to: values[index]))
            }
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
}
