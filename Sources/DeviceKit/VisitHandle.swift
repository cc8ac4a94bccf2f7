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
        let output = try await ask(.call(symbol.name, bytes))
        return try symbol.output.decode(output: output, of: symbol.name, coding)
    }

    func compose<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws -> O {
        let bytes = try encode(payload, pipe.request, "a pipe")
        let output = try await ask(.run(pipe.route, bytes))
        return try pipe.output.decode(output: output, of: "a pipe", coding)
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
        try FrameRoom.check(bytes, for: name)
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
