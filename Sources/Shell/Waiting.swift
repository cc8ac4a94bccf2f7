import DeviceKit

/// The end of a connection, which somebody waits for.
@LoopActor
final class Ended {
    private var error: KernelError?
    private var waiter: UnsafeContinuation<KernelError, Never>?

    func resume(_ error: KernelError) {
        self.error = error
        waiter?.resume(returning: error)
        waiter = nil
    }

    func wait() async -> KernelError {
        if let error { return error }
        return await withUnsafeContinuation { waiter = $0 }
    }
}

/// Something that changes now and then, for one that waits until it is as wanted.
@LoopActor
final class Changes {
    private var waiter: UnsafeContinuation<Void, Never>?

    func tell() {
        waiter?.resume()
        waiter = nil
    }

    /// Waits until `condition` has a value; asks again after each change.
    /// - Parameter deadline: nanoseconds of the monotonic clock.
    /// - Returns: nil when it is too late.
    func first<T>(by deadline: UInt64, _ condition: () throws -> T?) async rethrows -> T? {
        while true {
            if let found = try condition() { return found }
            guard EventLoop.shared.now < deadline else { return nil }
            let timer = EventLoop.shared.schedule(at: deadline) { self.tell() }
            await withUnsafeContinuation { waiter = $0 }
            timer.cancel()
        }
    }
}
