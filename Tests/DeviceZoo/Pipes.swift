import Control
import DeviceKit
import Glibc

extension Zoo {
    /// Text into two branches: `[twice, length]` as a line.
    static let fork = Symbol<String, String>("Zoo.fork", .replayable)
    /// A fork of which one branch waits without end and the other fails.
    static let forkFail = Symbol<String, String>("Zoo.forkFail", .replayable)
    /// Counts down by diverting to itself, then gives `done`.
    static let loop = Symbol<Int, String>(
        "Zoo.loop", .replayable.limits(attempt: 3_000, deadline: 60_000))
    /// A handler that runs a pipe which it builds.
    static let compose = Symbol<String, String>("Zoo.compose", .replayable)
    /// A handler that sends a command to `Zoo.fill` and does not wait for it.
    static let command = Symbol<Int, Void>("Zoo.command", .replayable)
    /// The text twice.
    static let twice = Symbol<String, String>("Zoo.twice", .replayable)
    /// The length of the text.
    static let length = Symbol<String, Int>("Zoo.length", .replayable)
    /// Waits until it is cancelled, then makes the file that its payload names.
    static let patient = Symbol<String, String>("Zoo.patient", .replayable)
    /// Puts the text into the region `ZooState` at the end of each flow, whatever the end is.
    static let ends = Symbol<String, String>("Zoo.ends", .replayable)
}

/// Pipes of every connector, and handlers that run some.
@LoopActor
enum Pipes {
    static let all: [String: @LoopActor (Bindings) -> Void] = [
        Zoo.twice.name: { $0.bind(Zoo.twice, pure: { $0 + $0 }) },
        Zoo.length.name: { $0.bind(Zoo.length, pure: { $0.utf8.count }) },
        Zoo.patient.name: { $0.bind(Zoo.patient) { _, path in try await patient(path) } },
        Zoo.fork.name: { $0.bind(Zoo.fork, to: fork) },
        Zoo.forkFail.name: { $0.bind(Zoo.forkFail, to: forkFail) },
        Zoo.loop.name: { $0.bind(Zoo.loop, to: loop) },
        Zoo.ends.name: { $0.bind(Zoo.ends, to: ends) },
        Zoo.compose.name: {
            $0.bind(Zoo.compose) { kernel, text in
                let suffix = "!"
                let pipe = pipeline(String.self)
                    .map { $0 + suffix }
                    .pipe(Zoo.twice)
                    .fork(
                        pipeline(Zoo.length).seal(),
                        pipeline(Zoo.twice).map { "<\($0)>" }.seal()
                    )
                    .map { pair in "\(pair.0) \(pair.1)" }
                    .seal()
                return try await kernel.compose(pipe, text)
            }
        },
        Zoo.command.name: {
            $0.bind(Zoo.command) { kernel, size in try await kernel.dispatch(Zoo.fill, size) }
        },
    ]

    nonisolated private static let fork = pipeline(String.self)
        .fork(
            pipeline(Zoo.twice).seal(),
            pipeline(Zoo.length).map { "\($0)" }.seal()
        )
        .map { pair in "\(pair.0) \(pair.1)" }
        .seal()

    nonisolated private static let forkFail = pipeline(String.self)
        .fork([
            pipeline(Zoo.patient).seal(),
            pipeline(String.self)
                .pipe(to: String.self) { _, text in
                    .fail(KernelError(KernelError.Code(rawValue: "zooFailed"), text))
                }.seal(),
        ])
        .map { $0.joined() }
        .seal()

    nonisolated private static let loop = pipeline(Int.self)
        .pipe(to: String.self, diverts: [Zoo.loop.name]) { _, count in
            count == 0 ? .next("done") : .divert(to: Zoo.loop, count - 1)
        }
        .seal()

    nonisolated private static let ends = pipeline(String.self)
        .pipe(to: String.self) { _, text in
            switch text {
            case "abort": .abort("early")
            case "fail": .fail(KernelError(KernelError.Code(rawValue: "zooFailed"), text))
            case "divert": .divert(to: Zoo.twice, text)
            case "number": .abort(7)
            case "astray": .divert(to: Zoo.length, text)
            default: .next(text)
            }
        }
        .finally { kernel in
            try await kernel.buffer.mutate(ZooState.self) { state in
                state.count += 1
            }
        }
        .seal()

    nonisolated private static func patient(_ path: String) async throws -> String {
        close(open(path + ".begun", O_WRONLY | O_CREAT, 0o600))
        do {
            try await Program.pause(milliseconds: 60_000)
            return "never"
        } catch {
            close(open(path, O_WRONLY | O_CREAT, 0o600))
            throw error
        }
    }
}
