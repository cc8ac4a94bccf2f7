/// What a handler or a stage may ask of the kernel.
///
/// Everything that goes through it is recorded in the flow, so that a handler whose process dies is
/// played again and gets the same answers.
public protocol Handle: Sendable {
    /// Calls a symbol and waits for its output.
    /// - Throws: `KernelError`.
    func call<P, O>(_ symbol: Symbol<P, O>, _ payload: P) async throws -> O

    /// Runs a pipe that was built here, and waits for its output. It is a flow of its own below
    /// this one; its closures run in the process of this handler.
    /// - Throws: `KernelError`.
    func compose<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws -> O

    /// Runs a pipe that was built here to its end, whatever it gives.
    /// - Throws: `KernelError`.
    func run<P, O>(_ pipe: Pipe<P, O>, _ payload: P) async throws

    /// Sends a command into its lane; returns when the kernel has accepted it. How it ends is told
    /// in `Kernel.Errors`.
    /// - Throws: `KernelError` when it is not accepted.
    func dispatch<P, O>(_ symbol: Symbol<P, O>, _ payload: P) async throws

    /// Publishes an event; a repeat of the handler does not publish it again.
    /// - Returns: the number of the event in its channel, from 1.
    /// - Throws: `KernelError` when there is no such channel, or the manifest does not grant it.
    @discardableResult
    func publish<E>(_ channel: Channel<E>, _ event: E) async throws -> UInt64

    /// The buffer.
    var buffer: any BufferHandle { get }

    /// The time at which this step was first delivered, in milliseconds since 1970; a repeat of the
    /// handler gets the same.
    var now: Int64 { get }

    /// A number that a repeat of the handler gets again, in the same order.
    func random() -> UInt64

    /// The path that names this visit for ever: a keyed handler stores it beside its effect.
    var key: String { get }

    /// Flows of this epoch below it have ended: their keys may be forgotten.
    var lowestLiveFlow: Revision { get }
}

/// What a handler may ask of the kernel's memory.
public protocol BufferHandle: Sendable {
    /// The region as this process knows it; never older than what the process has written.
    /// - Throws: `KernelError` when the region is not declared or not granted.
    func read<R: Region>(_ region: R.Type) async throws -> R

    /// Commits a change: the closure runs on the newest value, and again if another commit came
    /// first. It must have no effect of its own.
    /// - Returns: what the closure returned.
    /// - Throws: `KernelError`, or what the closure throws; then nothing is committed.
    func mutate<R: Region, T: Sendable>(
        _ region: R.Type, _ change: @escaping @Sendable (inout R) throws -> T
    ) async throws -> T

    /// Commits a change of two regions as one revision.
    func mutate<A: Region, B: Region, T: Sendable>(
        _ first: A.Type, _ second: B.Type,
        _ change: @escaping @Sendable (inout A, inout B) throws -> T
    ) async throws -> T
}
