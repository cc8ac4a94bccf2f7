import Control

/// Values as text: enough of a coding to see what travels.
struct TestCoding: Coding {
    struct NotText: Error {}

    func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        Array("\(value)".utf8)
    }

    func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        let text = String(decoding: bytes, as: UTF8.self)
        if let text = text as? T { return text }
        if let number = Int(text) as? T { return number }
        throw NotText()
    }

    var void: [UInt8] { Array("-".utf8) }

    func join(_ parts: [[UInt8]]) -> [UInt8] {
        Array(parts.joined(separator: Array("|".utf8)))
    }

    func split(_ bytes: [UInt8], into count: Int) throws -> [[UInt8]] {
        let parts = bytes.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        guard parts.count == count else { throw NotText() }
        return parts.map { Array($0) }
    }
}

/// A handle that knows nothing.
struct NoHandle: Handle, BufferHandle {
    func call<P, O>(_ symbol: Symbol<P, O>, _ payload: P) async throws -> O {
        throw KernelError(.unbound, symbol.name)
    }
    func compose<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws -> O {
        throw KernelError(.unbound, "a pipe")
    }

    func run<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws {
        throw KernelError(.unbound, "a pipe")
    }

    func dispatch<P, O>(_ symbol: Symbol<P, O>, _ payload: P) async throws {
        throw KernelError(.unbound, symbol.name)
    }

    func publish<E>(_ channel: Channel<E>, _ event: E) async throws -> UInt64 {
        throw KernelError(.unbound, channel.name)
    }

    var buffer: any BufferHandle { self }
    var now: Int64 { 0 }
    func random() -> UInt64 { 0 }
    var key: String { "" }
    var lowestLiveFlow: Revision { Revision(epoch: 0, counter: 0) }

    func read<R: Region>(_ region: R.Type) async throws -> R {
        throw KernelError(.denied, R.region)
    }
    func mutate<R: Region, T: Sendable>(
        _ region: R.Type, _ change: @escaping @Sendable (inout R) throws -> T
    ) async throws -> T {
        throw KernelError(.denied, R.region)
    }
    func mutate<A: Region, B: Region, T: Sendable>(
        _ first: A.Type, _ second: B.Type,
        _ change: @escaping @Sendable (inout A, inout B) throws -> T
    ) async throws -> T {
        throw KernelError(.denied, A.region)
    }
}

extension Pipe {
    /// Runs the closures of one stage on a value.
    func run(_ stage: Int, _ value: String) async throws -> EncodedVerb? {
        try await stages[stage].body?(NoHandle(), Array(value.utf8), TestCoding())
    }
}

extension EncodedVerb {
    var text: String {
        switch self {
        case .next(let bytes): "next \(String(decoding: bytes, as: UTF8.self))"
        case .abort(let bytes, _): "abort \(String(decoding: bytes, as: UTF8.self))"
        case .divert(let name, let bytes, _):
            "divert \(name) \(String(decoding: bytes, as: UTF8.self))"
        case .fail(let error): "fail \(error.code.rawValue)"
        }
    }
}
