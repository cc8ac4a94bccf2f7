import Contract
import Control
import DeviceKit
import FoundationEssentials
import Glibc

extension Zoo {
    /// A handler that asks for everything a handler can; its payload counts the errands from 1.
    static let errand = Symbol<Int, ErrandReport>(
        "Zoo.errand", .replayable.limits(attempt: 5_000, deadline: 40_000))
    /// Makes a file that is named by the key, unless it is there; what the errand calls.
    static let favour = Symbol<String, String>(
        "Zoo.favour", .keyed.limits(attempt: 5_000, deadline: 40_000))
}

/// What an errand gives, and what it left in the region.
struct ErrandReport: Codable, Sendable {
    var number: Int
    var now: Int64
    var random: Int64
    /// The count of the region before it, and what it made of it.
    var before: Int
    var after: Int
    var favour: String
    var twice: String
    var joined: String
}

/// The errand: two calls at once, a read, the time, chance, a pipe that is built here, a commit and
/// an effect in SQLite. At each position it may end a process.
@LoopActor
enum Errand {
    static let all: [String: @LoopActor (Bindings) -> Void] = [
        Zoo.errand.name: { $0.bind(Zoo.errand) { try await run($0, $1) } },
        Zoo.favour.name: {
            $0.bind(Zoo.favour) { kernel, text in
                Position.pass("the favour begins")
                let done = try Handlers.tally(kernel.key, text)
                Position.pass("the favour is done")
                return done
            }
        },
    ]

    nonisolated private static func run(
        _ kernel: any Handle, _ number: Int
    ) async throws -> ErrandReport {
        Position.pass("begins")
        let before = try await kernel.buffer.read(ZooState.self).count
        Position.pass("has read")
        let now = kernel.now
        let random = Int64(kernel.random() >> 12)
        Position.pass("knows the time")
        let text = "\(number) of \(before)"
        async let favour = call(kernel, "the favour", Zoo.favour, text)
        async let twice = call(kernel, "twice", Zoo.twice, text)
        Position.pass("has started both")
        let (done, doubled) = try await (favour, twice)
        Position.pass("has both")
        let joined = try await kernel.compose(pipe(suffix: " at \(now)"), text)
        Position.pass("has run the pipe")
        let after = try await kernel.buffer.mutate(ZooState.self) { state in
            Position.pass("changes")
            state.count += 1
            state.text = "\(number) \(now) \(random)"
            return state.count
        }
        Position.pass("has changed")
        try await kernel.call(InfrastructurePort.saveSlideshow, show(number))
        Position.pass("has stored")
        return ErrandReport(
            number: number, now: now, random: random, before: before, after: after, favour: done,
            twice: doubled, joined: joined)
    }

    nonisolated private static func call(
        _ kernel: any Handle, _ name: String, _ symbol: Symbol<String, String>, _ text: String
    ) async throws -> String {
        Position.pass("asks for \(name)")
        let answer = try await kernel.call(symbol, text)
        Position.pass("has \(name)")
        return answer
    }

    nonisolated private static func pipe(suffix: String) -> Pipe<String, String> {
        pipeline(String.self)
            .map {
                Position.pass("in the pipe")
                return $0 + suffix
            }
            .fork(
                pipeline(Zoo.length).seal(),
                pipeline(Zoo.twice)
                    .map {
                        Position.pass("in a branch")
                        return "<\($0)>"
                    }.seal()
            )
            .map { pair in
                Position.pass("where the branches meet")
                return "\(pair.0) \(pair.1)"
            }
            .seal()
    }

    /// The slideshow as the n-th errand leaves it; the store counts how often it was stored.
    nonisolated private static func show(_ number: Int) -> Slideshow {
        let id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1))
        return Slideshow(
            id: id, name: "Errand \(number)", slides: [], config: Config(),
            createdAt: Date(timeIntervalSince1970: 1_000_000))
    }
}

/// Places in the code of devices at which a test ends a process.
enum Position {
    /// Adds the label to the trail. If the plan, `LABEL|PID|MS`, names it and nobody was there
    /// before, the process is killed, now or so much later; for the number 0 this one exits.
    static func pass(_ label: String) {
        Diary.write("\(label)\n", to: Place.shared("trail"))
        let path = Place.shared("plan")
        let plan = contents(path).split(separator: "|").map(String.init)
        guard plan.count == 3, plan[0] == label, let pid = Int32(plan[1]),
            let delay = UInt64(plan[2]), unlink(path) == 0
        else { return }
        guard pid > 0 else { exit(9) }
        guard delay > 0 else { return end(pid) }
        Program.spawn {
            try? await Program.pause(milliseconds: delay - 1)
            kill(pid, SIGKILL)
        }
    }

    /// Returns when nothing of the process runs any more.
    private static func end(_ pid: Int32) {
        kill(pid, SIGKILL)
        for _ in 0..<5_000 where kill(pid, 0) == 0 { usleep(200) }
    }

    private static func contents(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
