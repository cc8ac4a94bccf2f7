public import Control
internal import UnixSocket
internal import Values
internal import Wire

/// The buffer as a process sees it outside of visits: a client, or a device that is ready.
///
///     for try await slideshows in kernel.buffer.changes(of: LibraryState.self, \.slideshows) {
///         show(slideshows)
///     }
@LoopActor
public struct LiveBuffer {
    let mirror: Mirror
    /// Sees to it that the mirror has a region.
    let attend: @LoopActor (String) async throws -> Void
    let leave: @LoopActor (Mirror.Observer) -> Void

    /// The values of a property: the present one, and from then on one for each change of it. A
    /// loop that is slower than the changes gets the latest and skips what came before; nothing is
    /// queued. When the loop ends, is cancelled or dropped, the kernel sends the region no more,
    /// unless something else in this process follows it.
    ///
    /// The loop throws `KernelError` when there is no such region, the region is not what its type
    /// says, or the connection ends.
    public func changes<R: Region, Property: Equatable & Sendable>(
        of region: R.Type, _ property: any KeyPath<R, Property> & Sendable
    ) -> Changes<Property> {
        Changes { [self] in
            Observation(self, R.region) { value in
                try R.decoded(value)[keyPath: property]
            }
        }
    }

    /// The values of a region; see ``changes(of:_:)``.
    public func changes<R: Region & Equatable>(of region: R.Type) -> Changes<R> {
        changes(of: region, \.self)
    }
}

/// The values of a property of a region, the latest whenever the loop comes round.
public struct Changes<Property: Equatable & Sendable>: AsyncSequence, Sendable {
    let begin: @LoopActor @Sendable () -> Observation<Property>

    /// Begins to observe with its first value.
    public func makeAsyncIterator() -> Iterator {
        Iterator(begin: begin)
    }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
        let begin: @LoopActor @Sendable () -> Observation<Property>
        private var observation: Observation<Property>?

        init(begin: @escaping @LoopActor @Sendable () -> Observation<Property>) {
            self.begin = begin
        }

        /// The property's value once it differs from the one before; nil when the task is
        /// cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Property? {
            let current: Observation<Property>
            if let observation {
                current = observation
            } else {
                current = await begin()
                observation = current
            }
            return try await current.next()
        }
    }
}

/// What one loop knows.
@LoopActor
final class Observation<Property: Equatable & Sendable> {
    private let buffer: LiveBuffer
    private let region: String
    private let read: (Value) throws -> Property
    private var observer: Mirror.Observer?
    private var hasBegun = false
    /// Something has changed since the loop last looked.
    private var isNew = false
    private var last: Property?
    private var failure: KernelError?
    private var waiter: UnsafeContinuation<Void, Never>?

    init(_ buffer: LiveBuffer, _ region: String, _ read: @escaping (Value) throws -> Property) {
        self.buffer = buffer
        self.region = region
        self.read = read
    }

    isolated deinit {
        end()
    }

    func next() async throws -> Property? {
        if !hasBegun { try await start() }
        while !Task.isCancelled {
            if isNew, let state = buffer.mirror.regions[region] {
                isNew = false
                let value = try read(state.value)
                if value != last {
                    last = value
                    return value
                }
            } else if let failure {
                end()
                throw failure
            } else {
                await change()
            }
        }
        end()
        return nil
    }

    private func start() async throws {
        hasBegun = true
        observer = buffer.mirror.observe(region) { [weak self] _ in
            self?.tell()
        } interrupted: {
            [weak self] error in
            self?.failure = error
            self?.tell()
        }
        isNew = true
        do {
            try await buffer.attend(region)
        } catch {
            end()
            throw error
        }
    }

    private func tell() {
        isNew = true
        waiter?.resume()
        waiter = nil
    }

    private func change() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume() }
                waiter = continuation
            }
        } onCancel: {
            Task(executorPreference: LoopActor.executor) { @LoopActor [weak self] in self?.tell() }
        }
    }

    private func end() {
        if let observer { buffer.leave(observer) }
        observer = nil
    }
}
