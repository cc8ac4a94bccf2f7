internal import CLinux
@_exported public import Control
internal import Glibc
@_exported public import UnixSocket
@_exported public import Values
internal import Wire

/// The actor on which handlers and clients run: the process's only thread.
public typealias LoopActor = UnixSocket.LoopActor

/// The environment of this process.
public enum Environment {
    /// Every `NAME=value`.
    public static var all: [String] {
        guard var next = clx_environ() else { return [] }
        var all: [String] = []
        while let entry = next.pointee {
            all.append(String(cString: entry))
            next += 1
        }
        return all
    }
}

/// A program that is a client: it runs on the loop and ends with an exit code.
public enum Program {
    /// What this program was built as, as its hello says it.
    public static var build: String { WireVersion.build }
    /// The version of the wire that it speaks.
    public static var wire: UInt64 { WireVersion.wire }

    /// The instance that a program means when it is not told: `$CONCENTRIC_NAME`, else `main`.
    public static var instance: String {
        getenv("CONCENTRIC_NAME").map { String(cString: $0) } ?? "main"
    }

    /// Runs `body` on the loop and exits with the code that it returns.
    public static func run(_ body: @escaping @LoopActor @Sendable () async -> Int32) -> Never {
        StandardStreams.fill()
        signal(SIGPIPE, SIG_IGN)
        // What is printed is seen at once, by who reads it through a pipe, too.
        clx_buffer_lines()
        EventLoop.runMain {
            EventLoop.shared.spawn { exit(await body()) }
        }
        exit(0)
    }

    /// Suspends the task for a time in milliseconds.
    /// - Throws: `CancellationError`.
    @LoopActor
    public static func pause(milliseconds: UInt64) async throws {
        try await EventLoop.shared.sleep(until: EventLoop.shared.time(in: milliseconds))
    }
}

/// A descriptor that a program watches on its loop: a terminal, a pipe, a signal descriptor.
@LoopActor
public final class DescriptorWatch: Watcher {
    private let descriptor: Int32
    private let onReadable: @LoopActor () -> Void
    private let onWritable: @LoopActor () -> Void

    /// Watches for reading until `end`.
    public init(
        _ descriptor: Int32, onReadable: @escaping @LoopActor () -> Void,
        onWritable: @escaping @LoopActor () -> Void = {}
    ) {
        self.descriptor = descriptor
        self.onReadable = onReadable
        self.onWritable = onWritable
        EventLoop.shared.watch(descriptor, .read, self)
    }

    /// Whether to be told that the descriptor takes more, too.
    public var wantsToWrite = false {
        didSet {
            guard wantsToWrite != oldValue else { return }
            EventLoop.shared.change(descriptor, wantsToWrite ? [.read, .write] : .read)
        }
    }

    /// Stops watching; call it before the descriptor is closed.
    public func end() {
        EventLoop.shared.unwatch(descriptor)
    }

    package func ready(_ events: Interest) {
        if events.contains(.write) { onWritable() }
        if !events.isDisjoint(with: [.read, .hangup, .error]) { onReadable() }
    }
}

extension Program {
    /// Calls `action` whenever everything that has happened is dealt with, before the loop waits.
    @LoopActor
    public static func atEndOfTurn(_ action: @escaping @LoopActor () -> Void) {
        EventLoop.shared.beforeWait = action
    }

    /// Runs a task on the loop.
    public nonisolated static func spawn(_ body: @escaping @LoopActor @Sendable () async -> Void) {
        _ = Task(executorPreference: LoopActor.executor, operation: body)
    }
}
