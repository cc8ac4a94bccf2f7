internal import CLinux
public import Control
internal import Glibc
public import UnixSocket
internal import Values
internal import Wire

/// A device: a process that the kernel starts and that answers symbols.
///
///     @main struct Words {
///         static func main() {
///             Device.serve { device in
///                 device.bind(count) { _, text in text.split(separator: " ").count }
///             }
///         }
///     }
///
/// Handlers run one after the other on the process's only thread, and may wait in between. One that
/// blocks the thread for longer than its symbol's attempt limit counts as hung.
public enum Device {
    /// Serves until the kernel ends this process. What `setup` binds must be what the manifest
    /// provides; what it throws ends the process with a line on standard error.
    public static func serve(_ setup: @LoopActor (Bindings) throws -> Void) -> Never {
        signal(SIGPIPE, SIG_IGN)
        clx_arm_lifeline(4)
        // What a handler prints is seen at once, and what it printed before a crash is not lost.
        clx_buffer_lines()
        do {
            try EventLoop.runMain { () throws(KernelError) in
                let bindings = Bindings()
                do {
                    try setup(bindings)
                } catch {
                    throw KernelError(error)
                }
                try DeviceRuntime.start(bindings)
            }
        } catch {
            complain("\(error)")
            exit(70)
        }
        exit(0)
    }

    static func complain(_ line: String) {
        let text = "\(CommandLine.arguments.first ?? "device"): \(line)\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
    }
}

/// What a device answers, gathered before it says hello.
@LoopActor
public final class Bindings {
    private(set) var announcements: [Binding] = []
    /// The code of every name, in the order in which the kernel counts them.
    private(set) var bodies: [Body] = []
    /// Whether a visit of each may not be repeated. A symbol that leaves it open counts as such,
    /// though the kernel may know better of a device that is pure.
    private(set) var isOnce: [Bool] = []

    /// How a visit is answered.
    enum Body {
        /// At once.
        case function(@Sendable ([UInt8], any Coding) throws -> [UInt8])
        /// By a task.
        case task(StageBody)
    }

    private(set) var starters: [@LoopActor (Start) -> Void] = []

    /// The shapes of events, by their channels.
    private(set) var events: [String: String] = [:]

    init() {}

    /// Says what is published to a channel, so that a follower that could not read it is named when
    /// it or this device starts, instead of with each event.
    public func publishes<E>(_ channel: Channel<E>) {
        events[channel.name] = channel.event.shape
    }

    /// Does something when this process is ready, outside of any flow; not in a cell, a process
    /// that the kernel starts beside this device's own to try one suspected visit apart.
    public func onReady(_ starter: @escaping @LoopActor (Start) -> Void) {
        starters.append(starter)
    }

    /// Answers a symbol with a handler.
    public func bind<P, O>(
        _ symbol: Symbol<P, O>,
        _ handler: @escaping @Sendable (any Handle, P) async throws -> O
    ) {
        announce(
            symbol,
            .task { kernel, bytes, coding in
                let payload = try Self.payload(of: symbol, bytes, coding)
                let output = try await handler(kernel, payload)
                return .next(try symbol.output.encode(output, coding))
            })
    }

    /// Answers a symbol with a function of its payload alone: it asks nothing of the kernel and
    /// does not wait, so its visit needs no task.
    public func bind<P, O>(
        _ symbol: Symbol<P, O>, pure function: @escaping @Sendable (P) throws -> O
    ) {
        announce(
            symbol,
            .function { bytes, coding in
                let payload = try Self.payload(of: symbol, bytes, coding)
                return try symbol.output.encode(function(payload), coding)
            })
    }

    private func announce<P, O>(_ symbol: Symbol<P, O>, _ body: Body) {
        announcements.append(
            Binding(
                name: symbol.name, traits: symbol.traits, stages: nil, last: false,
                takes: symbol.payload.shape, gives: symbol.output.shape))
        isOnce.append(symbol.traits.replay ?? .once == .once)
        bodies.append(body)
    }

    private nonisolated static func payload<P, O>(
        of symbol: Symbol<P, O>, _ bytes: [UInt8], _ coding: any Coding
    ) throws(KernelError) -> P {
        do {
            return try symbol.payload.decode(bytes, coding)
        } catch {
            throw KernelError(.malformed, "\(symbol.name): \(error)", outcome: .none)
        }
    }

    /// Answers a symbol with a pipe, which the kernel drives.
    public func bind<P, O>(_ symbol: Symbol<P, O>, to pipe: Pipe<P, O>) {
        announcements.append(
            Binding(
                name: symbol.name, traits: symbol.traits, stages: pipe.stages.map(\.descriptor),
                last: pipe.last != nil, takes: symbol.payload.shape, gives: symbol.output.shape))
        let name = symbol.name
        bodies.append(
            .function { _, _ in
                throw KernelError(.malformed, "\(name) is a pipe: only its stages are visited")
            })
        for body in pipe.route.bodies { bodies.append(.task(body)) }
        // The kernel repeats closures unless their pipe is marked.
        let closures = bodies.count - isOnce.count
        isOnce += Array(repeating: symbol.traits.replay == .once, count: closures)
    }
}

/// What a device may do when it is ready.
@LoopActor
public struct Start {
    let runtime: DeviceRuntime

    /// How often a region has been changed in this life of the kernel.
    public func revision<R: Region>(of region: R.Type) -> Revision {
        runtime.mirror.regions[R.region]?.revision ?? Revision(epoch: 0, counter: 0)
    }

    /// The regions that this device's manifest lets it read, as they change.
    public var buffer: LiveBuffer {
        let mirror = runtime.mirror
        return LiveBuffer(mirror: mirror) { region in
            guard mirror.regions[region] == nil else { return }
            throw KernelError(
                .denied,
                "the manifest of \(DeviceRuntime.name) does not grant reading \(region), or none "
                    + "declares it",
                outcome: .none)
        } leave: { observer in
            // Handlers read it still.
            _ = mirror.forget(observer)
        }
    }

    /// Publishes an event that no flow asked for, such as what a sensor says. It is published as
    /// often as this is called: nothing recognises a repeat by the next process.
    public func publish<E>(_ channel: Channel<E>, _ event: E) {
        runtime.publish(channel, event)
    }

    /// Sends a command. How it ends is told in `Kernel.Errors`.
    public func dispatch<P, O>(_ symbol: Symbol<P, O>, _ payload: P) {
        runtime.dispatch(symbol, payload)
    }
}
