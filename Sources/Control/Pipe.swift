/// Starts a pipe with a symbol.
public func pipeline<P, O>(
    _ symbol: Symbol<P, O>, file: String = #fileID, line: UInt = #line
) -> PipeBuilder<P, O> {
    PipeBuilder<P, P>(stages: [], last: nil, request: symbol.payload, cursor: symbol.payload)
        .pipe(symbol, file: file, line: line)
}

/// Starts a pipe with a request that the first stage gets as it is.
public func pipeline<P: Codable & Sendable>(_ request: P.Type) -> PipeBuilder<P, P> {
    PipeBuilder(stages: [], last: nil, request: .codable, cursor: .codable)
}

/// Starts a pipe that takes nothing.
public func pipeline(_ request: Void.Type) -> PipeBuilder<Void, Void> {
    PipeBuilder(stages: [], last: nil, request: .void, cursor: .void)
}

/// A pipe that is being written: the compiler checks that each stage takes what the one before
/// gives.
///
/// Connectors are told apart by name or by a labelled type, never by the arity of a closure.
public struct PipeBuilder<Request, Cursor>: Sendable {
    let stages: [Stage]
    let last: Stage?
    let request: Coder<Request>
    let cursor: Coder<Cursor>

    /// The value goes to a symbol, and its output goes on.
    public func pipe<N>(
        _ symbol: Symbol<Cursor, N>, file: String = #fileID, line: UInt = #line
    ) -> PipeBuilder<Request, N> {
        adding(visit(.pipe, symbol.name, symbol.output.shape, file, line), symbol.output)
    }

    /// The value is fitted to what a symbol takes.
    public func pipe<P, N>(
        _ symbol: Symbol<P, N>, file: String = #fileID, line: UInt = #line,
        adapt: @escaping @Sendable (Cursor) throws -> P
    ) -> PipeBuilder<Request, N> {
        closure("adapt", file, line, symbol.payload) { _, value in .next(try adapt(value)) }
            .pipe(symbol, file: file, line: line)
    }

    /// A stage that decides: it says with a verb how the flow goes on.
    ///
    /// - Parameter diverts: names of the symbols to which it may divert, for the wiring graph. The
    ///   kernel refuses a device that names one which nobody provides, or that it may not call.
    public func pipe<N: Codable & Sendable>(
        to type: N.Type, diverts: [String] = [], file: String = #fileID, line: UInt = #line,
        _ decide: @escaping @Sendable (any Handle, Cursor) async throws -> Verb<N>
    ) -> PipeBuilder<Request, N> {
        closure("verb", file, line, .codable, diverts, decide)
    }

    /// The value is shown to a symbol and stays.
    public func tap<N>(
        _ symbol: Symbol<Cursor, N>, file: String = #fileID, line: UInt = #line
    ) -> PipeBuilder<Request, Cursor> {
        adding(visit(.tap, symbol.name, cursor.shape, file, line), cursor)
    }

    /// The value becomes another.
    public func map<N: Codable & Sendable>(
        file: String = #fileID, line: UInt = #line,
        _ change: @escaping @Sendable (Cursor) throws -> N
    ) -> PipeBuilder<Request, N> {
        closure("map", file, line, .codable) { _, value in .next(try change(value)) }
    }

    /// Something is done with the value, which stays.
    public func effect(
        file: String = #fileID, line: UInt = #line,
        _ effect: @escaping @Sendable (any Handle, Cursor) async throws -> Void
    ) -> PipeBuilder<Request, Cursor> {
        closure("effect", file, line, cursor) { kernel, value in
            try await effect(kernel, value)
            return .next(value)
        }
    }

    /// The value becomes the pair of the request that entered the pipe and the value.
    public func withRequest(
        file: String = #fileID, line: UInt = #line
    ) -> PipeBuilder<Request, (Request, Cursor)> {
        let pair = Coder<(Request, Cursor)>.pair(request, cursor)
        let descriptor = StageDescriptor(
            kind: .withRequest, symbol: nil, notes: [], shape: pair.shape, file: file, line: line)
        return adding(Stage(descriptor: descriptor, body: nil), pair)
    }

    /// The value goes into every branch at once; the outputs, in the order of the branches, are the
    /// next value. The first branch that fails cancels the others, and its error ends the flow.
    public func fork<each N>(
        _ branch: repeat Pipe<Cursor, each N>, file: String = #fileID, line: UInt = #line
    ) -> PipeBuilder<Request, (repeat each N)> {
        var routes: [SealedRoute] = []
        repeat routes.append((each branch).route)
        return forking(routes, .pack(repeat (each branch).output), file, line)
    }

    /// As `fork` of several branches, for as many of one type as there are at run time.
    public func fork<N>(
        _ branches: [Pipe<Cursor, N>], file: String = #fileID, line: UInt = #line
    ) -> PipeBuilder<Request, [N]> {
        forking(branches.map(\.route), .list(branches.map(\.output)), file, line)
    }

    /// Something is done at every end of the flow, failure and cancellation included.
    public func finally(
        file: String = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (any Handle) async throws -> Void
    ) -> PipeBuilder<Request, Cursor> {
        let descriptor = StageDescriptor(
            kind: .closure, symbol: nil, notes: ["finally"], shape: "Void", file: file, line: line)
        let stage = Stage(descriptor: descriptor) { kernel, _, coding in
            try await body(kernel)
            return .next(coding.void)
        }
        return PipeBuilder(stages: stages, last: stage, request: request, cursor: cursor)
    }

    /// The pipe as data.
    public func seal() -> Pipe<Request, Cursor> {
        Pipe(stages: stages, last: last, request: request, output: cursor)
    }

    // MARK: - Building

    private func adding<N>(_ stage: Stage, _ coder: Coder<N>) -> PipeBuilder<Request, N> {
        PipeBuilder<Request, N>(
            stages: stages + [stage], last: last, request: request, cursor: coder)
    }

    private func forking<N>(
        _ routes: [SealedRoute], _ output: Coder<N>, _ file: String, _ line: UInt
    ) -> PipeBuilder<Request, N> {
        let descriptor = StageDescriptor(
            kind: .fork, symbol: nil, notes: [], shape: output.shape, file: file, line: line,
            branches: routes.map(\.descriptor))
        return adding(Stage(descriptor: descriptor, body: nil, branches: routes), output)
    }

    private func visit(
        _ kind: StageDescriptor.Kind, _ symbol: String, _ shape: String, _ file: String,
        _ line: UInt
    ) -> Stage {
        Stage(
            descriptor: StageDescriptor(
                kind: kind, symbol: symbol, notes: [], shape: shape, file: file, line: line),
            body: nil)
    }

    /// Adds a closure; one that follows another closure becomes part of its visit.
    private func closure<N>(
        _ note: String, _ file: String, _ line: UInt, _ output: Coder<N>,
        _ diverts: [String] = [],
        _ body: @escaping @Sendable (any Handle, Cursor) async throws -> Verb<N>
    ) -> PipeBuilder<Request, N> {
        let input = cursor
        let step: StageBody = { kernel, bytes, coding in
            let value = try input.decode(bytes, coding)
            return try await body(kernel, value).encoded(output, coding)
        }
        guard let before = stages.last, let earlier = before.body else {
            let descriptor = StageDescriptor(
                kind: note == "effect" ? .effect : .closure, symbol: nil, notes: [note],
                shape: output.shape, file: file, line: line, diverts: diverts)
            return adding(Stage(descriptor: descriptor, body: step), output)
        }
        var merged = before
        merged.descriptor.notes.append(note)
        merged.descriptor.diverts += diverts
        merged.descriptor.shape = output.shape
        if note != "effect" { merged.descriptor.kind = .closure }
        merged.body = { kernel, bytes, coding in
            let verb = try await earlier(kernel, bytes, coding)
            guard case .next(let value) = verb else { return verb }
            return try await step(kernel, value, coding)
        }
        return PipeBuilder<Request, N>(
            stages: stages.dropLast() + [merged], last: last, request: request, cursor: output)
    }
}
